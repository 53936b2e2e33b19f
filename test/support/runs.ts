/**
 * Repetitions of each test with random input, at the levels quick, all and long: `make test` is quick, `make test-all` thorough, `make
 * test-long` takes hours. Each can be set by its own name: `LIVES=5000 npm run jest -- test/server/lives`.
 */
const runs = {
  /** SIGKILLs of an ingest, at random moments. */
  KILLS: [1, 2, 300],
  /** Rounds of ingests that start at once. */
  PARALLEL_INGESTS: [1, 1, 10],
  /** Flipped bits in published files. */
  FLIPS: [12, 25, 5000],
  /** Sources, valid and damaged. */
  FUZZ_RUNS: [80, 120, 30_000],
  /** Changes to the files of a partitioned table. */
  PARTITION_CHANGES: [1, 3, 300],
  /** Series of two to four snapshots, compared with the changes between them. */
  CHANGES: [4, 10, 400],
  /** Feeds of queries that clients poll, and refreshes of their table. */
  FEEDS: [24, 50, 1000],
  FEED_REFRESHES: [3, 6, 20],
  /** Sources of a table with expectations. */
  EXPECTATIONS: [5, 25, 1000],
  /** CSV files of every dialect whose catalog entries are suggested. */
  SUGGESTED: [2, 6, 2000],
  /** Files of two columns, as RFC 4180 has them. */
  WRITTEN: [2, 8, 1000],
  /** Files of ten columns with random spellings of numbers. */
  LOSSLESS: [1, 3, 200],
  /** Files in which one line is unlike the others. */
  DEVIATIONS: [2, 8, 1000],
  /** CSV files of any delimiter and quote, whose dialect is suggested. */
  DIALECTS: [8, 20, 2000],
  /** Catalogs and sources made up by a generator. */
  UNSEEN: [4, 8, 2000],
  /** Queries of each real table. */
  QUERIES: [10, 12, 10_000],
  /** Queries of one table with codes, for each way to select rows. */
  CODED_QUERIES: [4, 8, 2000],
  /** Queries of each sample table, for each way to select rows. */
  TABLE_QUERIES: [3, 6, 1000],
  /** Queries of a packed table. */
  ROW_STORE_QUERIES: [8, 12, 5000],
  /** Dates, lists and texts in any of their spellings. */
  SPELLINGS: [60, 300, 5000],
  /** Queries of texts with unusual characters. */
  HOSTILE_QUERIES: [4, 30, 20_000],
  /** Arrow answers of two processes, compared byte by byte. */
  ARROW_QUERIES: [25, 40, 10_000],
  /** Connections that end at any moment. */
  LIVES: [40, 80, 10_000],
  /** Pages whose code examples are run. */
  CODES: [4, 6, 100],
  /** Requests that schemathesis makes from the OpenAPI document. */
  FUZZED: [40, 40, 20_000],
  /** Requests of every kind to the server program. */
  REQUESTS: [400, 2000, 1_000_000],
  /** SIGKILLs of the server, and of one of its workers, under load. */
  SERVER_KILLS: [1, 2, 500],
  /** SIGKILLs of an ingest into an object store, at one of its requests. */
  PUBLISH_KILLS: [1, 2, 200],
  /** Queries compared between ClickHouse and DuckDB. */
  CLICKHOUSE_QUERIES: [50, 100, 10_000],
  /** Files damaged while they are served. */
  DAMAGES: [2, 5, 1000],
  /** Files damaged before they are served. */
  UNREAD_DAMAGES: [2, 5, 750],
} as const

const levels = ['quick', 'all', 'long'] as const

function levelOf(text = 'quick'): (typeof levels)[number] {
  const level = levels.find((name) => name === text)
  if (level === undefined) throw new Error(`LEVEL is "${text}", and must be ${levels.join(' or ')}`)
  return level
}

const level = levelOf(process.env['LEVEL'])

/** True for `make test`: inputs are small unless size is the subject of a test. */
export const isQuick = level === 'quick'

/** Number of repetitions at the level of this run; `SHARE` scales those of `long`. */
export function runsOf(name: keyof typeof runs): number {
  const [quick, thorough, long] = runs[name]
  const { [name]: setting, SHARE: share = '1' } = process.env
  if (setting !== undefined) return Number(setting)
  if (level !== 'long') return isQuick ? quick : thorough
  return Math.max(thorough, Math.round(Number(share) * long))
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
export function testSampled<Case extends readonly [unknown, ...unknown[]]>(cases: readonly Case[]) {
  return (title: string, body: (...values: Case) => Promise<void>, timeoutMs?: number): void =>
    test.each<Case>(sampled(cases))(title, body, timeoutMs)
}

/** Makes random input repeatable: jest prints it, and `SEED=` sets it. */
export const seed = jest.getSeed() >>> 0
