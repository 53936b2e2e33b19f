import { mkdir, readFile, utimes, writeFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import os from 'node:os'
import { stripVTControlCharacters } from 'node:util'
import { gzipSync } from 'node:zlib'
import { endWithFile } from './support/each-file.ts'
import { programPath } from './support/installed.ts'
import { freePort } from './support/ports.ts'
import { run, start, startServer } from './support/programs.ts'
import { catalogText, fieldOf, temporaryFolder } from './support/workshop.ts'
import { until } from './support/until.ts'
import { zipOf } from './support/zip.ts'
import { describeWith } from './support/needs.ts'

/** The built programs as an operator runs them; `npm test` has built them. */

let folder: string
let settings: Record<string, string>
beforeAll(async () => {
  folder = await temporaryFolder()
  settings = { SOURCES: path.join(folder, 'sources'), WAREHOUSE: path.join(folder, 'warehouse') }
})

const keyOfAllRows = '  # key: [a] # all 4 rows differ in it; if it identifies a row, remove the first #\n'
const suggested = (name: string, source: string): string =>
  `- name: ${name}\n  order: [] # such as [date desc, state]; without it the rows keep the order of the source\n` +
  `${source}  fields:\n    - { name: a, type: integer } # all 4 values are whole numbers of at most 1 digit\n` +
  `    - { name: b, type: string } # 4 texts of at most 1 character, such as "x"\n`
const fourths = 'a,b\n1,x\n2,y\n'
const suggest = async (args: readonly string[], input: Uint8Array | null = null) => {
  const { code, out, err } = await start('suggest', args, settings, input).ended
  return { code, err: code === 0 ? '' : err, entry: out.replaceAll(/^#.*\n/gm, '') }
}

describe('the suggest program', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'leaves no temporary files after %s, and removes those of killed processes',
    async (signal) => {
      const temporary = path.join(folder, `temporary-${signal}`)
      const [old, young] = ['old', 'young'].map((name) => path.join(temporary, `acervo-suggest-${name}`))
      for (const name of [old ?? '', young ?? '']) await mkdir(name, { recursive: true })
      await utimes(old ?? '', new Date(0), new Date(0))
      const child = spawn(process.execPath, ['dist/ingest/main.js', 'suggest', '-'], {
        env: { PATH: process.env['PATH'], TMPDIR: temporary, ...settings },
        stdio: ['pipe', 'ignore', 'ignore'],
      })
      child.stdin.write('a,b\n')
      const folders = async (): Promise<string[]> =>
        (await readdir(temporary)).filter((name) => name !== 'acervo-suggest-young')
      await until(async () => {
        const [name, second] = await folders()
        return name !== undefined && name !== 'acervo-suggest-old' && second === undefined
      })
      child.kill(signal)
      const [code] = (await once(child, 'exit')) as [number]
      expect([code, await readdir(temporary)]).toEqual([
        signal === 'SIGINT' ? 130 : 143,
        ['acervo-suggest-young'],
      ])
    },
    20_000,
  )

  test('accepts patterns, several files, standard input and members of a zip', async () => {
    const sources = settings['SOURCES'] ?? ''
    await mkdir(path.join(sources, 'two'), { recursive: true })
    await writeFile(path.join(sources, 'two', 'p1.csv'), fourths)
    await writeFile(path.join(sources, 'two', 'p2.csv'), fourths)
    const ownFolder = path.join(sources, 'two')
    expect(await suggest([path.join(ownFolder, 'p*.csv')])).toEqual({
      code: 0,
      err: '',
      entry: suggested('p1', '  source:\n    files: "two/p*.csv"\n'),
    })
    expect(await suggest([path.join(ownFolder, 'p2.csv'), path.join(ownFolder, 'p1.csv')])).toMatchObject({
      entry: suggested('p2', '  source:\n    files: ["two/p2.csv","two/p1.csv"]\n'),
    })
    const twice = gzipSync(`${fourths}3,x\n4,y\n`)
    expect(await suggest(['-'], twice)).toMatchObject({ entry: suggested('standard-input', keyOfAllRows) })
    const secondFolder = await temporaryFolder()
    const zip = zipOf(
      { name: 'in/u.csv', content: `${fourths}3,x\n4,y\n` },
      { name: 't.csv', content: 'c\n' },
    )
    await writeFile(path.join(secondFolder, 'z.csv.zip'), zip)
    expect(await suggest([path.join(secondFolder, 'z.csv.zip'), '--member=u*'])).toMatchObject({
      entry: suggested('z', `${keyOfAllRows}  source:\n    member: "u*"\n`),
    })
    expect(await suggest([path.join(secondFolder, 'z.csv.zip')])).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        'contains several files (in/u.csv, t.csv): declare the one to read, such as source.member: "in/u.csv", or name it for `acervo add` by --member',
      ),
    })
  })

  test.each<[title: string, args: string[], err: RegExp]>([
    ['a file that is not there', ['none.csv'], /^there is no file none\.csv\n/],
    ['a pattern that matches no file', ['no*.csv'], /^there is no file no\*\.csv\n/],
    ['a folder', ['/tmp'], /^\/tmp is a folder: name a file, or those in it as '\/tmp\/\*\.csv'\n/],
  ])('refuses %s', async (_what, args, err) => {
    const said = await suggest(args)
    expect(said.code).toBe(1)
    expect(said.err.replace(/^reading .*\n/, '')).toMatch(err)
  })
})

describe('the ingest program', () => {
  test('with --quiet reports only faults, and continues with the other tables', async () => {
    const ownSettings = { SOURCES: path.join(folder, 'own'), WAREHOUSE: path.join(folder, 'own-warehouse') }
    await mkdir(path.join(ownSettings.SOURCES, 'socios-brasil'), { recursive: true })
    const file = path.join(ownSettings.SOURCES, 'socios-brasil', 'empresas.csv')
    const tables = ['socios-brasil/empresas']
    const quiet = { code: 0, signal: null, out: '', err: '' }
    await writeFile(file, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF\n')
    expect(await run('ingest', ['--quiet', ...tables], ownSettings)).toEqual(quiet)
    await writeFile(file, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,SP\n')
    expect(await run('ingest', ['--quiet', ...tables], ownSettings)).toEqual(quiet)
    // A possibly truncated end is reported.
    await writeFile(file, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF')
    const warned = await run('ingest', ['--quiet', ...tables], ownSettings)
    expect([warned.code, warned.out.split('\n')[1]]).toEqual([
      0,
      '  warning: the last line of empresas.csv has no line ending: check that the file is complete',
    ])
    await writeFile(file, 'cnpj,razao_social\n1,x\n')
    const third = await run('ingest', [], ownSettings)
    expect([third.code, third.out]).toEqual([
      1,
      expect.stringContaining('0 published, 0 unchanged, 1 failed'),
    ])
  })

  test('ingests all tables of a dataset that is given, and names those without a source', async () => {
    const ownSettings = { SOURCES: path.join(folder, 'one'), WAREHOUSE: path.join(folder, 'one-warehouse') }
    await mkdir(path.join(ownSettings.SOURCES, 'genero-nomes'), { recursive: true })
    const header = 'name,classification,frequency_female,frequency_male,frequency_total,ratio,names'
    await writeFile(
      path.join(ownSettings.SOURCES, 'genero-nomes', 'grupos.csv'),
      `${header}\nANA,F,10,0,10,1.00,ANA\n`,
    )
    const { code, out } = await run('ingest', ['genero-nomes'], ownSettings)
    expect(code).toBe(1)
    expect(out).toContain(
      `no source in ${ownSettings.SOURCES} for genero-nomes/nomes\n1 published, 0 unchanged, 0 failed\n`,
    )
    const again = await run('ingest', ['--unpublished'], ownSettings)
    expect(again.code).toBe(0)
    expect(again.out).toMatch(
      /^already published and not checked: 1; `acervo ingest` checks their sources for changes\nno source in /,
    )
  })
})

describe('acervo serve', () => {
  test('is one process, whose end frees the port', async () => {
    const port = await freePort()
    const serve = () =>
      spawn(path.resolve('dist/ingest/main.js'), ['serve'], {
        env: { PATH: process.env['PATH'], HOME: os.tmpdir(), ...settings, PORT: String(port) },
        stdio: 'ignore',
      })
    for (let times = 0; times < 2; times += 1) {
      const child = serve()
      endWithFile(() => void child.kill('SIGKILL'))
      await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true)
      const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      const [program, ...args] = (await readFile(`/proc/${child.pid}/cmdline`, 'utf8')).split('\0')
      expect([children, path.basename(program ?? ''), args.slice(0, 3)]).toEqual([
        '',
        'node',
        ['--max-semi-space-size=2', '--initial-old-space-size=32', '--enable-source-maps'],
      ])
      const environment = await readFile(`/proc/${child.pid}/environ`, 'utf8')
      expect(environment.split('\0')).toEqual(
        expect.arrayContaining(['UV_THREADPOOL_SIZE=16', 'MALLOC_ARENA_MAX=2']),
      )
      child.kill('SIGKILL')
      await once(child, 'exit')
      expect(await isFree(port)).toBe(true)
    }
  }, 60_000)
})

// The one of util-linux; others have different options.
const script = process.platform === 'linux' ? programPath('script') : null
const describeOnTerminal = describeWith(script !== null, 'script(1) of util-linux')

describe('a command', () => {
  test('whose reader closes the pipe early still runs to its end, with its own exit code', async () => {
    const closed = path.join(folder, 'closed')
    await mkdir(path.join(closed, 'sources', 'socios-brasil'), { recursive: true })
    const source = path.join(closed, 'sources', 'socios-brasil', 'empresas.csv')
    await writeFile(source, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF\n')
    const commands = `acervo() { "$NODE" "$PROGRAM" "$@"; }
      acervo ingest socios-brasil/empresas | true; acervo verify; acervo check | true; echo "\${PIPESTATUS[*]}"`
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: closed,
      CATALOG: path.resolve('catalog.yaml'),
      NODE: process.execPath,
      PROGRAM: path.resolve('dist/ingest/main.js'),
    }
    const { stdout, stderr } = spawnSync('bash', ['-c', commands], { cwd: closed, env, encoding: 'utf8' })
    expect([stdout, stderr]).toEqual([
      expect.stringMatching(/^1 snapshots read \(.* MB in total\), 0 damaged\n0 0\n$/),
      '',
    ])
  })

  describeOnTerminal('on a terminal', () => {
    test.each<[environment: Record<string, string>, isColoured: boolean]>([
      [{ TERM: 'xterm-256color' }, true],
      [{ TERM: 'xterm-256color', NO_COLOR: '1' }, false],
      [{ TERM: 'dumb' }, false],
    ])('colours results in the environment %j: %j', (environment, isColoured) => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: os.tmpdir(), ...settings, ...environment }
      const command = `exec ${process.execPath} dist/ingest/main.js check covid19/caso covid19/casoo; true`
      const { stdout } = spawnSync(script ?? '', ['-qec', command, '/dev/null'], { env, encoding: 'utf8' })
      const message =
        'there is no table or dataset covid19/casoo in the catalog (did you mean "covid19/caso"?)'
      expect(stdout.trimEnd()).toBe(isColoured ? `\u001B[31m${message}\u001B[39m` : message)
    })
  })
})

describe('the server program', () => {
  test('answers clients that connected as soon as its port was open', async () => {
    const port = await freePort()
    const server = start('server/process/main', [], { ...settings, PORT: String(port) })
    const early = ['/api/datasets', '/livez', '/api/v1/datasets/'].map(async (target) => {
      await until(async () => !(await isFree(port)))
      // Nothing of what it serves is there yet.
      const wasServing = server.out().includes('"msg":"serving"')
      return { wasServing, status: (await fetch(`http://127.0.0.1:${port}${target}`)).status }
    })
    // One that has gone again keeps nobody.
    await until(async () => !(await isFree(port)))
    const gone = net.connect(port, '127.0.0.1', () => {
      gone.write('GET /api/datasets HTTP/1.1\r\nHost: x\r\n\r\n', () => gone.resetAndDestroy())
    })
    expect(await Promise.all(early)).toEqual(early.map(() => ({ wasServing: false, status: 200 })))
    server.child.kill('SIGTERM')
    expect((await server.ended).code).toBe(0)
  })

  test('that is stopped while it starts answers waiting clients, and ends in order', async () => {
    const port = await freePort()
    const server = start('server/process/main', [], { ...settings, PORT: String(port) })
    await until(async () => !(await isFree(port)))
    const asked = fetch(`http://127.0.0.1:${port}/livez`)
    await setTimeout(50)
    server.child.kill('SIGTERM')
    expect((await asked).status).toBe(200)
    const { code, out, err } = await server.ended
    expect([code, err]).toEqual([0, ''])
    const lines = out.trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      expect.arrayContaining(['stopping', 'stopped']),
    )
    expect(out).not.toContain('"serving"')
  })

  describeOnTerminal('on a terminal', () => {
    test('ends its output with the address, below readable lines', async () => {
      const port = String(await freePort())
      const environment = { PATH: process.env['PATH'] ?? '', HOME: os.tmpdir(), ...settings, PORT: port }
      const command = `exec ${process.execPath} dist/server/process/main.js`
      const child = spawn(script ?? '', ['-qec', command, '/dev/null'], {
        env: environment,
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text))
      await until(() => shown.trimEnd().endsWith(`http://localhost:${port}/`))
      const lines = shown.trimEnd().split('\r\n')
      expect(lines.at(-1)).toBe(`http://localhost:${port}/`)
      expect(stripVTControlCharacters(lines.at(-2) ?? '')).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: serving /)
      child.stdin.write('\u0003')
      await once(child, 'close')
      expect(shown).toContain('stopped')
    }, 60_000)
  })

  test('logs only the network of a client', async () => {
    const { port, log } = await startServer({ ...settings, TRUST_PROXY: '1' })
    const clients = { '192.0.2.77': '192.0.2.0/24', '2001:db8:1234:5678::9': '2001:db8:1234::/48' }
    for (const client of Object.keys(clients)) {
      const address = `http://127.0.0.1:${port}/api/datasets`
      await (await fetch(address, { headers: { 'X-Forwarded-For': client } })).arrayBuffer()
    }
    await until(() => Object.values(clients).every((network) => log().includes(`"client":"${network}"`)))
    for (const client of ['192.0.2.77', ':5678']) expect(log()).not.toContain(client)
  })
})

async function isFree(port: number): Promise<boolean> {
  const socket = net.connect(port, '127.0.0.1')
  const isRefused = await Promise.race([
    once(socket, 'connect').then(() => false),
    once(socket, 'error').then(() => true),
  ]).catch(() => true)
  socket.destroy()
  return isRefused
}

test.each<[command: string, args: readonly string[]]>([
  ['npm', ['run', '-s', 'start']],
  ['make', ['-s', 'serve']],
])(
  'a kill of %s %j ends the server too, and frees its port',
  async (command, args) => {
    const [home, port] = [await temporaryFolder(), await freePort()]
    const catalog = path.join(home, 'catalog.json')
    await writeFile(catalog, catalogText([{ name: 't', order: [], fields: [fieldOf('n:integer')] }]))
    await mkdir(path.join(home, 'sources', 'd'), { recursive: true })
    await writeFile(path.join(home, 'sources', 'd', 't.csv'), 'n\n1\n')
    const ownSettings = {
      CATALOG: catalog,
      SOURCES: path.join(home, 'sources'),
      WAREHOUSE: path.join(home, 'warehouse'),
    }
    const child = spawn(command, args, {
      env: { ...process.env, ...ownSettings, PORT: String(port) },
      stdio: 'ignore',
    })
    const ended = once(child, 'close')
    await until(async () => !(await isFree(port)), 60_000)
    child.kill()
    await ended
    await until(() => isFree(port)).catch(() => undefined)
    expect(await isFree(port)).toBe(true)
  },
  90_000,
)

test('a server removes the temporary files of a killed server, but not of a running one', async () => {
  const home = await temporaryFolder()
  const catalog = path.join(home, 'catalog.json')
  await writeFile(catalog, catalogText([]))
  const ownSettings = { CATALOG: catalog, WAREHOUSE: path.join(home, 'warehouse'), TMPDIR: home }
  const left = async (): Promise<string[]> =>
    (await readdir(home)).filter((name) => /^acervo-\w{6}$/.test(name)).toSorted()
  const first = await startServer(ownSettings)
  const [killed] = await left()
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  expect(await left()).toEqual([killed])
  await startServer(ownSettings)
  const [running] = await left()
  expect(running).not.toBe(killed)
  await startServer(ownSettings)
  expect(await left()).toHaveLength(2)
  expect(await left()).toContain(running)
  expect(os.tmpdir()).not.toBe(home)
}, 60_000)

test('a server warns at its start if PUBLIC_URL is https but a family of API addresses is declared as http', async () => {
  const home = await temporaryFolder()
  const warned = async (scheme: string, publicUrl: string): Promise<boolean> => {
    const catalog = path.join(home, `${scheme}.json`)
    await writeFile(catalog, catalogText([]).replaceAll('"scheme":"http"', `"scheme":"${scheme}"`))
    const { log } = await startServer({ CATALOG: catalog, WAREHOUSE: home, PUBLIC_URL: publicUrl })
    await until(() => log().includes('"serving"'))
    return log().includes('"family":"v1"') && log().includes('declare scheme: public')
  }
  expect(await warned('http', 'https://data.example.org')).toBe(true)
  expect(await warned('public', 'https://data.example.org')).toBe(false)
  expect(await warned('http', 'http://data.example.org')).toBe(false)
}, 60_000)
