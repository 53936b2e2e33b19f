import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { testSampled } from './support/runs.ts'
import { temporaryFolder } from './support/workshop.ts'

/** Values given to make reach the programs as they are: neither make nor a shell runs any part of them. */

const hostile = (folder: string): string =>
  [
    '$(shell touch X)',
    '`touch X`',
    '"; touch X; "',
    "'; touch X; '",
    '$(touch X)',
    '$$(touch X)',
    '$HOME # \\',
  ]
    .join(' ')
    .replaceAll('X', `${folder}/ran`)

testSampled<[verb: string, name: string]>([
  ['suggest', 'FILE'],
  ['add', 'FILE'],
  ['rollback', 'TABLE'],
  ['verify', 'CATALOG'],
])(
  'make %s passes any value of %s to its program, and no shell runs a part of the value',
  async (verb, name) => {
    const folder = await temporaryFolder()
    const value = hostile(folder)
    // Without building what runs already.
    const args = ['-s', '-o', 'build', verb]
    for (const [given, environment] of [
      [[`${name}=${value}`], {}],
      [[], { [name]: value }],
    ] as const) {
      const { status, stdout, stderr } = spawnSync('make', [...args, ...given], {
        encoding: 'utf8',
        env: { ...process.env, ...environment },
      })
      expect([status, stdout + stderr]).toEqual([2, expect.stringContaining(value)])
    }
    expect(readdirSync(folder)).toEqual([])
  },
  60_000,
)
