import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'

/** The runner of the tests itself. */

interface Result {
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

test('the runner reports passes and failures with their places, and leaks nothing between files', async () => {
  const jest = ['node_modules/jest/bin/jest.js', '--runInBand', '--json', '--reporters=default']
  const args = ['--enable-source-maps', ...jest, '--testMatch=**/test/support/runner-cases/*.case.ts']
  const { stdout, code } = await promisify(execFile)(process.execPath, args).then(
    (output) => ({ ...output, code: 0 }),
    (error: unknown) => error as { stdout: string; code: number },
  )
  const { success, testResults } = JSON.parse(stdout) as Result
  const results = testResults.map(({ name, status, assertionResults }): [string, unknown] => [
    path.basename(name, '.case.ts'),
    [status, ...assertionResults.map((assertion) => `${assertion.title}: ${assertion.status}`).toSorted()],
  ])
  const passed = [
    'the hooks for each file have run once in each file before: passed',
    'there is no spy: passed',
    'what began last ended first in each file before: passed',
  ]
  expect([code, success, Object.fromEntries(results)]).toEqual([
    1,
    false,
    {
      failing: ['failed', 'this fails: failed'],
      first: ['passed', ...passed],
      second: ['passed', ...passed],
      unloadable: ['failed'],
    },
  ])
  const messages = testResults.map(({ message }) => message).join('\n')
  expect(messages).toMatch(/test\/support\/runner-cases\/failing\.case\.ts:2:\d+/)
  expect(messages).toContain('this file cannot be loaded')
}, 60_000)
