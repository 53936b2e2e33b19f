/**
 * Repetitions of each test with random input, by level: `make test` is quick, `make test-all` thorough, `make
 * test-long` takes hours. Each can be set by its own name: `LIVES=5000 npm run jest -- test/server/lives`.
 */
const runs = {
  /** SIGKILLs of an ingest, at random moments. */
  KILLS: { quick: 1, all: 4, long: 300 },
  /** Rounds of 48 ingests that start at once. */
  PARALLEL_INGESTS: { quick: 1, all: 1, long: 10 },
  /** Flipped bits in published files. */
  FLIPS: { quick: 12, all: 25, long: 5000 },
  /** Sources, valid and damaged. */
  FUZZ_RUNS: { quick: 80, all: 120, long: 30_000 },
  /** Changes to the files of a partitioned table. */
  PARTITION_CHANGES: { quick: 1, all: 3, long: 300 },
  /** Series of two to four snapshots, compared with the changes between them. */
  CHANGES: { quick: 4, all: 20, long: 400 },
  /** Feeds of queries that clients poll, and refreshes of their table. */
  FEEDS: { quick: 24, all: 100, long: 1000 },
  FEED_REFRESHES: { quick: 3, all: 6, long: 20 },
  /** Sources of a table with expectations. */
  EXPECTATIONS: { quick: 5, all: 25, long: 1000 },
  /** CSV files of every dialect whose catalog entries are suggested. */
  SUGGESTED: { quick: 2, all: 6, long: 2000 },
  /** Files of two columns, as RFC 4180 has them. */
  WRITTEN: { quick: 2, all: 8, long: 1000 },
  /** Files of ten columns with random spellings of numbers. */
  LOSSLESS: { quick: 1, all: 5, long: 200 },
  /** Files in which one line is unlike the others. */
  DEVIATIONS: { quick: 3, all: 8, long: 1000 },
  /** CSV files of any delimiter and quote, whose dialect is suggested. */
  DIALECTS: { quick: 8, all: 20, long: 2000 },
  /** Catalogs and sources made up by a generator. */
  UNSEEN: { quick: 4, all: 12, long: 2000 },
  /** Queries of each real table. */
  QUERIES: { quick: 10, all: 12, long: 10_000 },
  /** Queries of one table with codes, for each way to select rows. */
  CODED_QUERIES: { quick: 6, all: 8, long: 2000 },
  /** Queries of each sample table, for each way to select rows. */
  TABLE_QUERIES: { quick: 3, all: 6, long: 1000 },
  /** Queries of a packed table. */
  ROW_STORE_QUERIES: { quick: 8, all: 12, long: 5000 },
  /** Dates, lists and texts in any of their spellings. */
  SPELLINGS: { quick: 60, all: 300, long: 5000 },
  /** Queries of texts with unusual characters. */
  HOSTILE_QUERIES: { quick: 8, all: 30, long: 20_000 },
  /** Arrow answers of two processes, compared byte by byte. */
  ARROW_QUERIES: { quick: 25, all: 40, long: 10_000 },
  /** Connections that end at any moment. */
  LIVES: { quick: 40, all: 80, long: 10_000 },
  /** Pages whose code examples are run. */
  CODES: { quick: 4, all: 6, long: 100 },
  /** Requests that schemathesis makes from the OpenAPI document. */
  FUZZED: { quick: 40, all: 40, long: 20_000 },
  /** Requests of every kind to the server program. */
  REQUESTS: { quick: 400, all: 2000, long: 1_000_000 },
  /** SIGKILLs of the server, and of one of its workers, under load. */
  SERVER_KILLS: { quick: 1, all: 2, long: 500 },
  /** SIGKILLs of an ingest into an object store, at one of its requests. */
  PUBLISH_KILLS: { quick: 1, all: 2, long: 200 },
  /** Queries compared between ClickHouse and DuckDB. */
  CLICKHOUSE_QUERIES: { quick: 50, all: 100, long: 10_000 },
  /** Files damaged while they are served. */
  DAMAGES: { quick: 2, all: 5, long: 1000 },
  /** Files damaged before they are served. */
  UNREAD_DAMAGES: { quick: 2, all: 5, long: 750 },
} as const

type Level = 'quick' | 'all' | 'long'

function levelOf(text = 'quick'): Level {
  if (text === 'quick' || text === 'all' || text === 'long') return text
  throw new Error(`LEVEL is "${text}", and must be quick, all or long`)
}

const level = levelOf(process.env['LEVEL'])

/** True for `make test`: inputs are small unless size is the subject of a test. */
export const isQuick = level === 'quick'

/** Number of repetitions at the level of this run; `SHARE` scales those of `long`. */
export function runsOf(name: keyof typeof runs): number {
  const counts = runs[name]
  const { [name]: own, SHARE: share = '1' } = process.env
  if (own !== undefined) return Number(own)
  return level === 'long' ? Math.max(counts.all, Math.round(Number(share) * counts.long)) : counts[level]
}

/** True if every case is tried. `make test` tries a part of the cases, chosen by the seed. */
export const isExhaustive = level === 'long'

/** A test that only `make test-all` runs: of a rare case, or of one that takes long. Another test covers its subject briefly. */
export const testAll = skippedWhereQuick(() => test)

/** A group of tests that only `make test-all` runs. */
export const describeAll = skippedWhereQuick(() => describe)

/** Finds `test` or `describe` at each call, because the runner sets new ones for each test file. */
function skippedWhereQuick<Declare extends typeof test | typeof describe>(declare: () => Declare): Declare {
  const current = (): object => (isQuick ? declare().skip : declare())
  return new Proxy(declare(), {
    apply: (_, self, values) => Reflect.apply(current() as () => unknown, self, values) as unknown,
    get: (_, key) => Reflect.get(current(), key) as unknown,
  })
}

/** The first case and every `step`-th case after it in `make test`; all cases in `make test-all`. */
export function sampled<Case>(cases: readonly Case[], step = 6): readonly Case[] {
  return isQuick ? cases.filter((_, index) => index % step === 0) : cases
}

/** `test.each` of the sampled cases. */
export function testSampled<Case extends [unknown, ...unknown[]]>(cases: readonly Case[]) {
  return (title: string, body: (...values: Case) => Promise<void>, timeoutMs?: number): void =>
    test.each<Case>(sampled(cases))(title, body, timeoutMs)
}

/** Makes random input repeatable: jest prints it, and `SEED=` sets it. */
export const seed = jest.getSeed() >>> 0
