import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseDocument } from 'yaml'
import { endWithFile } from './support/each-file.ts'
import { programPath } from './support/installed.ts'
import { describeWith } from './support/needs.ts'
import { freePort } from './support/ports.ts'
import { temporaryFolder } from './support/workshop.ts'
import { zipOf } from './support/zip.ts'

/** A project in a folder of its own, made and served by the program alone. */

const program = path.resolve('dist/ingest/main.js')

function runIn(folder: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: 'utf8',
    // A named pipe could be read for ever.
    timeout: 20_000,
  })
  return { code: status, out: stdout, err: stderr }
}

/** Publishes files and serves them until the function ends; returns what it returns. */
async function serving<T>(
  folder: string,
  inputs: readonly string[],
  work: (rowsOf: (table: string) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const child = spawn(process.execPath, [program, ...inputs], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  })
  endWithFile(() => child.kill('SIGKILL'))
  const rowsOf = async (table: string): Promise<unknown> => {
    for (;;) {
      const response = await fetch(`http://localhost:${port}/api/v1/dataset/${table}/data/`).catch(() => null)
      if (response?.ok === true) return ((await response.json()) as { results: unknown }).results
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const result = await work(rowsOf)
  child.kill('SIGTERM')
  return result
}

test('one command publishes and serves a file, and again after the file has changed', async () => {
  const folder = await temporaryFolder()
  const file = path.join(folder, 'rain.csv')
  await writeFile(file, 'day,mm\n2026-01-01,3.5\n')
  const first = await serving(folder, ['rain.csv'], (rowsOf) => rowsOf('rain/rain'))
  expect(first).toEqual([{ day: '2026-01-01', mm: 3.5 }])
  expect((await readdir(folder)).toSorted()).toEqual(['catalog.yaml', 'rain.csv', 'sources', 'warehouse'])
  await writeFile(file, 'day,mm\n2026-01-01,3.5\n2026-01-02,0\n')
  const second = await serving(folder, ['rain.csv'], (rowsOf) => rowsOf('rain/rain'))
  expect(second).toEqual([
    { day: '2026-01-01', mm: 3.5 },
    { day: '2026-01-02', mm: 0 },
  ])
}, 60_000)

test('the CSV files of a folder become the tables of a dataset, except for those that cannot be published', async () => {
  const folder = await temporaryFolder()
  await mkdir(path.join(folder, 'shop'))
  await writeFile(path.join(folder, 'shop', 'a.csv'), 'x;y\n1;2\n')
  await writeFile(path.join(folder, 'shop', 'b.csv'), 'x,y\n3,4\n')
  await writeFile(path.join(folder, 'shop', 'empty.csv'), '')
  const rows = await serving(folder, ['shop'], (rowsOf) => Promise.all([rowsOf('shop/a'), rowsOf('shop/b')]))
  expect(rows).toEqual([[{ x: 1, y: 2 }], [{ x: 3, y: 4 }]])
  expect(await readFile(path.join(folder, 'catalog.yaml'), 'utf8')).not.toContain('empty')
}, 60_000)

const secret = 'root;x;0\n'

test.each<[title: string, args: string[], make: (folder: string) => Promise<unknown>, err: string]>([
  [
    'a link out of a folder',
    ['in'],
    (folder) => symlink('../secret', path.join(folder, 'in/t.csv')),
    'in/t.csv is not published: in/t.csv leads outside in through a link: copy the file into in',
  ],
  [
    'a link out of a folder, in place of a file that was added',
    ['in'],
    async (folder) => {
      await writeFile(path.join(folder, 'in/t.csv'), 'a,b\n1,2\n')
      expect(runIn(folder, 'add', 'in/t.csv').code).toBe(0)
      await rm(path.join(folder, 'in/t.csv'))
      await symlink('../secret', path.join(folder, 'in/t.csv'))
    },
    'in/t.csv is not published: in/t.csv leads outside in through a link: copy the file into in',
  ],
  [
    'a link that a pattern matches',
    ['add', 'in/*.csv', '--dataset=d', '--table=t'],
    (folder) => symlink('../secret', path.join(folder, 'in/t.csv')),
    'HOME/in/t.csv leads outside HOME/in through a link: copy the file into HOME/in',
  ],
  [
    'a linked folder that a pattern matches',
    ['suggest', 'in/*/t.csv'],
    async (folder) => {
      await mkdir(path.join(folder, 'other'))
      await writeFile(path.join(folder, 'other/t.csv'), secret)
      await symlink('../other', path.join(folder, 'in/x'))
    },
    'HOME/in/x/t.csv leads outside HOME/in through a link: copy the file into HOME/in',
  ],
  [
    'a link in a zip',
    ['in/t.zip'],
    (folder) =>
      writeFile(
        path.join(folder, 'in/t.zip'),
        zipOf({ name: 't.csv', content: '../secret', mode: 0o120777 }),
      ),
    't.zip/t.csv is a link: add the file itself to the zip',
  ],
  [
    'a named pipe in a folder',
    ['in'],
    async (folder) => execFileSync('mkfifo', [path.join(folder, 'in/t.csv')]),
    'in/t.csv is not published: in/t.csv is a named pipe: name a file, or send its text to `acervo add -`',
  ],
  [
    'a named pipe',
    ['suggest', 'in/t.csv'],
    async (folder) => execFileSync('mkfifo', [path.join(folder, 'in/t.csv')]),
    'in/t.csv is a named pipe: name a file, or send its text to `acervo add -`',
  ],
  [
    'a device',
    ['suggest', '/dev/zero'],
    async () => undefined,
    '/dev/zero is a device: name a file, or send its text to `acervo add -`',
  ],
])(
  '%s is refused, and nothing of its target is shown',
  async (_what, args, make, due) => {
    const folder = await temporaryFolder()
    await mkdir(path.join(folder, 'in'))
    await writeFile(path.join(folder, 'secret'), secret)
    expect(runIn(folder, 'init').code).toBe(0)
    await make(folder)
    const { code, out, err } = runIn(folder, ...args)
    const shown = (out + err).replaceAll(folder, 'HOME')
    expect([code, shown.split('\n')]).toEqual([1, expect.arrayContaining([due])])
    expect(shown).not.toContain('root')
    await expect(readFile(path.join(folder, 'catalog.yaml'), 'utf8')).resolves.not.toMatch(/zero|root/)
  },
  60_000,
)

test.each<[args: string[], code: number, err: RegExp]>([
  [['serv'], 2, /^error: there is no command and no file serv \(did you mean "serve"\?\)\n/],
  [['nothing.csv'], 2, /^error: there is no command and no file nothing\.csv\n/],
  [['.'], 1, /^there is no CSV file in \.: name a file, or a folder with \.csv, \.csv\.gz/],
  [['bad.csv'], 1, /the file is empty: it needs at least a header\n$/],
])('a command with the arguments %j is refused', async (args, code, err) => {
  const folder = await temporaryFolder()
  if (args[0] === 'bad.csv') await writeFile(path.join(folder, 'bad.csv'), '')
  expect(runIn(folder, ...args)).toMatchObject({ code, err: expect.stringMatching(err) })
})

test('init creates a project that accepts tables, and never overwrites a file', async () => {
  const folder = await temporaryFolder()
  expect(runIn(folder, 'init', 'portal')).toMatchObject({ code: 0, err: '' })
  const home = path.join(folder, 'portal')
  const workflow = await readFile(path.join(home, '.github/workflows/refresh.yaml'), 'utf8')
  expect(parseDocument(workflow).errors).toEqual([])
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string }
  expect(workflow).toContain(`vars.ACERVO_PACKAGE || './acervo-${version}.tgz' }}"\n`)
  await writeFile(path.join(folder, 'rain.csv'), 'day,mm\n2026-01-01,3.5\n')
  expect(runIn(home, 'add', '../rain.csv', '--dataset=weather').code).toBe(0)
  expect(await readdir(path.join(home, 'sources/weather'))).toEqual(['rain.csv'])
  expect(runIn(folder, 'init', 'portal')).toMatchObject({
    code: 1,
    err: 'portal/catalog.yaml already exists: name a new folder\n',
  })
})

const linter = programPath('actionlint') ?? process.env['ACERVO_ACTIONLINT'] ?? null

describeWith(linter !== null, 'actionlint (ACERVO_ACTIONLINT or the path)')('workflows', () => {
  test('of the repository and of a new project have no fault', async () => {
    const folder = await temporaryFolder()
    runIn(folder, 'init', 'portal')
    const workflows = await readdir('.github/workflows')
    const files = [
      ...workflows.map((name) => `.github/workflows/${name}`),
      path.join(folder, 'portal/.github/workflows/refresh.yaml'),
    ]
    const { status, stdout } = spawnSync(linter ?? '', files, { encoding: 'utf8' })
    expect([files.length, status, stdout]).toEqual([3, 0, ''])
  })
})
