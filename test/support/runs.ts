/**
 * How often the tests of random input run. Every change needs the short runs; `make test-long` takes the long ones, or
 * the share of them that SHARE says. One alone is set by its own name: `LIVES=5000 npm run jest test/server/lives`.
 */
const runs = {
  /** Of the ingest, in the middle of its work. */
  KILLS: { short: 12, long: 300 },
  /** Of bits in published files. */
  FLIPS: { short: 100, long: 5000 },
  /** Sources, valid and damaged. */
  FUZZ_RUNS: { short: 400, long: 30_000 },
  /** Of the files of a table that has partitions. */
  PARTITION_CHANGES: { short: 8, long: 300 },
  /** Files of every dialect, whose entries are suggested. */
  SUGGESTED: { short: 30, long: 2000 },
  /** Queries of real tables. */
  QUERIES: { short: 150, long: 10_000 },
  /** The same of one table, in each way in which its rows are chosen. */
  CODED_QUERIES: { short: 25, long: 2000 },
  /** The same of each table of the samples, in each of these ways. */
  TABLE_QUERIES: { short: 25, long: 1000 },
  /** The same of rows that are kept one by one. */
  PACKED_QUERIES: { short: 40, long: 5000 },
  /** The same of texts that readers have stumbled over. */
  HOSTILE_QUERIES: { short: 300, long: 20_000 },
  /** Answers of two processes in Arrow, compared to the byte. */
  ARROW_QUERIES: { short: 150, long: 10_000 },
  /** Of sockets, in whatever way they end. */
  LIVES: { short: 400, long: 10_000 },
  /** Asks whose lines of code are run. */
  CODES: { short: 12, long: 100 },
  /** Requests that schemathesis makes up from OpenAPI. */
  FUZZED: { short: 300, long: 20_000 },
  /** Of every kind, to the program itself; `make fuzz` takes the long ones. */
  REQUESTS: { short: 50_000, long: 1_000_000 },
  /** Of the server, and of one of its workers, while readers ask. */
  SERVER_KILLS: { short: 5, long: 500 },
  /** Of a job that publishes into an object store, at one of its requests. */
  PUBLISH_KILLS: { short: 6, long: 200 },
  /** Asked of ClickHouse and of DuckDB. */
  CLICKHOUSE_QUERIES: { short: 300, long: 10_000 },
  /** Of files while they are served. */
  DAMAGES: { short: 30, long: 1000 },
  /** Of files before they are served. */
  UNREAD_DAMAGES: { short: 15, long: 750 },
} as const

export function runsOf(name: keyof typeof runs): number {
  const { short, long } = runs[name]
  const { [name]: own, SHARE: share } = process.env
  if (own !== undefined) return Number(own)
  return share === undefined ? short : Math.max(short, Math.round(Number(share) * long))
}

/** Whether all that there is to try is tried, not a part of it by the seed. */
export const isWhole = Number(process.env['SHARE'] ?? 0) >= 0.5

/** What random input is made from; another seed makes other input. */
export const seed = Number(process.env['SEED'] ?? Math.floor(Date.now() / 1000))
