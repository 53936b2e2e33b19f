import path from 'node:path'
import Reporter from './reporter.ts'

const file = (name: string, seconds: number, settings: object = {}) => ({
  testFilePath: path.resolve('test', name),
  numFailingTests: 0,
  perfStats: { start: 1000, end: 1000 + 1000 * seconds },
  testResults: [],
  ...settings,
})
const pending = (...ancestorTitles: string[]) => ({ status: 'pending', ancestorTitles })

/** The text that the reporter prints after a run of these files. */
function printed(files: readonly ReturnType<typeof file>[], chosen: object = {}): string {
  const write = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
  new Reporter({ seed: 42, ...chosen }).onRunComplete(new Set(), { testResults: files })
  return String(write.mock.calls.at(-1)?.[0])
}

test('a run ends with the skipped tests and their reasons, the slowest files, and the command for one test', () => {
  const files = Array.from({ length: 11 }, (_, index) => file(`${index}.test.ts`, index))
  const skipped = [pending(), pending('a cache [needs redis]'), pending('a cache [needs redis]')]
  const lines = printed([file('skipped.all.test.ts', 0.25, { testResults: skipped }), ...files]).split('\n')
  expect(lines).toEqual([
    '',
    'Skipped 1 tests that only `make test-all` runs',
    'Skipped 2 tests that need redis',
    'Slowest files:',
    ...[10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(
      (seconds) => `${`${seconds}.0`.padStart(8)} s  test/${seconds}.test.ts`,
    ),
    "One file: npm run jest -- test/core/catalog   One test: add -t 'part of its name'",
    '',
  ])
})

test('tests that were excluded by name are not reported as skipped', () => {
  const files = [file('one.test.ts', 1, { testResults: [pending()] })]
  expect(printed(files)).toContain('Skipped 1 tests')
  expect(printed(files, { testNamePattern: '' })).toContain('Skipped 1 tests')
  expect(printed(files, { testNamePattern: 'page=last' })).not.toContain('Skipped')
})

test.each([
  ['a test', { numFailingTests: 1 }],
  ['the file itself', { testExecError: new Error('syntax') }],
])('a run in which %s fails ends with the command that repeats it', (_what, fault) => {
  const level = process.env['LEVEL']
  const settings = `${level === undefined ? '' : `LEVEL=${level} `}SEED=42`
  expect(printed([file('fine.test.ts', 1), file('broken.test.ts', 2, fault)])).toContain(
    `Repeat with the same random input:\n  ${settings} npm run jest -- test/broken.test.ts\n`,
  )
})
