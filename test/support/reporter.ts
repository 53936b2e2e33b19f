import path from 'node:path'

/** The parts of jest's result of a test file that are used here. */
interface FileResult {
  readonly testFilePath: string
  readonly numFailingTests: number
  readonly testExecError?: unknown
  /** Milliseconds since the epoch. */
  readonly perfStats: { readonly start: number; readonly end: number }
  readonly testResults: readonly { readonly status: string; readonly ancestorTitles: readonly string[] }[]
}

const slowestShown = 10

/** Ends a run of jest with the skipped tests by what they need, the slowest files, and how to repeat what failed. */
export default class Reporter {
  readonly #seed: number
  /** True if tests are excluded only by their names. */
  readonly #isChosen: boolean

  constructor({ seed, testNamePattern }: { readonly seed: number; readonly testNamePattern?: string }) {
    this.#seed = seed
    this.#isChosen = testNamePattern !== undefined && testNamePattern !== ''
  }

  onRunComplete(_contexts: unknown, { testResults }: { readonly testResults: readonly FileResult[] }): void {
    const lines = [
      ...(this.#isChosen ? [] : skipped(testResults)),
      ...slowest(testResults),
      ...this.#howToRun(testResults),
    ]
    process.stderr.write(`\n${lines.join('\n')}\n`)
  }

  #howToRun(results: readonly FileResult[]): string[] {
    const failed = results.filter(
      ({ numFailingTests, testExecError }) => numFailingTests > 0 || testExecError !== undefined,
    )
    if (failed.length === 0)
      return ["One file: npm run jest -- test/core/catalog   One test: add -t 'part of its name'"]
    const level = process.env['LEVEL']
    const settings = `${level === undefined ? '' : `LEVEL=${level} `}SEED=${this.#seed}`
    return [
      'Repeat with the same random input:',
      ...failed.map((item) => `  ${settings} npm run jest -- ${name(item)}`),
    ]
  }
}

function name({ testFilePath }: FileResult): string {
  return path.relative(process.cwd(), testFilePath)
}

function skipped(results: readonly FileResult[]): string[] {
  const counts = new Map<string, number>()
  for (const { testResults } of results) {
    for (const { status, ancestorTitles } of testResults) {
      if (status !== 'pending') continue
      const [, need] =
        /\[needs (.*)\]$/.exec(ancestorTitles.find((title) => title.includes('[needs ')) ?? '') ?? []
      const reason = need === undefined ? 'tests that only `make test-all` runs' : `tests that need ${need}`
      counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
  }
  return [...counts].map(([reason, count]) => `Skipped ${count} ${reason}`)
}

function slowest(results: readonly FileResult[]): string[] {
  const secondsOf = ({ perfStats }: FileResult): number => (perfStats.end - perfStats.start) / 1000
  const ordered = results.toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, slowestShown)
  return [
    'Slowest files:',
    ...ordered.map((item) => `${secondsOf(item).toFixed(1).padStart(8)} s  ${name(item)}`),
  ]
}
