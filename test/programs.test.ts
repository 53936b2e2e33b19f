import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { freePort, heldPort } from './support/ports.ts'
import { run, start } from './support/programs.ts'
import { catalogText, temporaryFolder } from './support/workshop.ts'
import { until } from './support/until.ts'
import { testAll, testSampled } from './support/runs.ts'

/** The built programs as an operator runs them; `npm test` has built them. */

let folder: string
let settings: Record<string, string>
beforeAll(async () => {
  folder = await temporaryFolder()
  settings = { SOURCES: path.join(folder, 'sources'), WAREHOUSE: path.join(folder, 'warehouse') }
})

describe('the command line', () => {
  testSampled<[args: string[], code: number, out: RegExp, err: RegExp]>([
    [[], 2, /^$/, /^Usage: acervo \[options\] \[command\] \[files\.\.\.\]\n/],
    [['ingst'], 2, /^$/, /^error: there is no command and no file ingst \(did you mean "ingest"\?\)\n/],
    [
      ['ingest', '--acept-drift'],
      2,
      /^$/,
      /^error: unknown option '--acept-drift'\n\(Did you mean --accept-drift\?\)\n/,
    ],
    [['suggest', '--member'], 2, /^$/, /^error: option '--member <pattern>' argument missing\n/],
    [['add'], 2, /^$/, /^error: missing required argument 'files'\n/],
    [['rollback', 'a/b', 'c/d'], 2, /^$/, /^error: too many arguments for 'rollback'/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    [['--help'], 0, /^Usage: acervo (?:.|\n)*\nExamples:\n(?:.|\n)*\nExit codes: 0 success/, /^$/],
    [['help', 'ingest'], 0, /^Usage: acervo ingest (?:.|\n)*\nExamples:\n {2}acervo ingest\n/, /^$/],
  ])('with the arguments %j ends with code %i and a message', async (args, code, out, err) => {
    const [verb = '--', ...rest] = args
    const ended = await run(verb, rest, settings)
    expect(ended).toMatchObject({ code, out: expect.stringMatching(out), err: expect.stringMatching(err) })
  })
})

describe('the check program', () => {
  testAll('exits 0 if an ingest would succeed, else 1, in each format', async () => {
    const ownSettings = {
      SOURCES: path.join(folder, 'checked'),
      WAREHOUSE: path.join(folder, 'checked-warehouse'),
    }
    const checkOwn = { ...ownSettings, LOCAL_FOLDER: path.join(folder, 'local') }
    await mkdir(path.join(ownSettings.SOURCES, 'socios-brasil'), { recursive: true })
    const file = path.join(ownSettings.SOURCES, 'socios-brasil', 'empresas.csv')
    await writeFile(file, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF\n')
    const table = 'socios-brasil/empresas'
    expect(await run('check', [table], checkOwn)).toMatchObject({
      code: 0,
      out: `${table}: new, 1 row\nan ingest would succeed: 1 new\n`,
    })
    await writeFile(file, 'cnpj,razao_social\n00000000000191,BANCO DO BRASIL SA\n')
    const [text, markdown, json] = await Promise.all(
      [[], ['--format=markdown'], ['--format=json']].map((args) => run('check', [table, ...args], checkOwn)),
    )
    expect([text?.code, markdown?.code, json?.code]).toEqual([1, 1, 1])
    expect(text?.out).toMatch(
      /^socios-brasil\/empresas: FAILED\n {2}\S+: the header in line 1 does not match the catalog: the column "uf" is missing\. .*\nan ingest would fail: 1 failed\n$/,
    )
    expect(markdown?.out).toMatch(/^### ❌ acervo check\n\nAn ingest would fail: 1 failed\.\n/)
    expect(JSON.parse(json?.out ?? '')).toMatchObject({ ok: false, tables: [{ table, result: 'failed' }] })
    expect(await run('check', ['socios-brasil/socios'], checkOwn)).toMatchObject({ code: 1 })
  })

  test('reports faults of the catalog with their places', async () => {
    const CATALOG = path.join(folder, 'faulty.yaml')
    await writeFile(CATALOG, 'titel: x\n')
    const { code, out } = await run('check', [], { ...settings, CATALOG })
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(
        /faulty\.yaml:1:1: unknown key "titel" .*\n(?:.*\n)*the catalog has \d+ errors\n$/,
      ),
    ])
  })
})

describe('the ingest program', () => {
  testAll('exits with 1 and a remedy if there is no source at all', async () => {
    const none = { SOURCES: path.join(folder, 'none'), WAREHOUSE: path.join(folder, 'empty') }
    const { code, err } = await run('ingest', [], none)
    expect([code, err]).toEqual([
      1,
      `there is nothing to ingest: put sources into ${none.SOURCES}, set SOURCES, or copy samples with \`acervo sample\`\n`,
    ])
  })

  testAll(
    'publishes, reports unchanged tables the next time, and exits with 1 if one table fails',
    async () => {
      const ownSettings = { SOURCES: path.join(folder, 'own'), WAREHOUSE: path.join(folder, 'own-warehouse') }
      await mkdir(path.join(ownSettings.SOURCES, 'socios-brasil'), { recursive: true })
      const file = path.join(ownSettings.SOURCES, 'socios-brasil', 'empresas.csv')
      await writeFile(file, 'cnpj,razao_social,uf\n00000000000191,BANCO DO BRASIL SA,DF\n')
      const tables = ['socios-brasil/empresas']
      const first = await run('ingest', tables, ownSettings)
      expect([first.code, first.out]).toEqual([
        0,
        expect.stringMatching(
          /^socios-brasil\/empresas: published 1 row .*\n1 published, 0 unchanged, 0 failed\n$/,
        ),
      ])
      const second = await run('ingest', tables, ownSettings)
      expect([second.code, second.out]).toEqual([
        0,
        expect.stringMatching(
          /^socios-brasil\/empresas: unchanged, 1 row since .*\n0 published, 1 unchanged, 0 failed\n$/,
        ),
      ])
      await writeFile(file, 'cnpj,razao_social\n1,x\n')
      const failed = await run('ingest', ['--quiet', ...tables], ownSettings)
      expect([failed.code, failed.out]).toEqual([
        1,
        expect.stringMatching(/^socios-brasil\/empresas: FAILED/),
      ])
    },
  )

  testSampled<[title: string, args: string[], extra: Record<string, string>, err: RegExp]>([
    [
      'an unknown table',
      ['covid19/casos'],
      {},
      /^there is no table or dataset covid19\/casos in the catalog \(did you mean "covid19\/caso"\?\)\n$/,
    ],
    [
      'a bad setting',
      [],
      { INGEST_MEMORY: 'lots' },
      /^INGEST_MEMORY is "lots", and must be a size such as 512MB or 1GB\n$/,
    ],
    [
      'a catalog that is not there',
      [],
      { CATALOG: 'no.yaml' },
      /^the catalog no\.yaml cannot be read; set CATALOG/,
    ],
  ])('refuses %s in a sentence', async (_what, args, extra, err) => {
    const ended = await run('ingest', args, { ...settings, ...extra })
    expect([ended.code, ended.out, ended.err]).toEqual([1, '', expect.stringMatching(err)])
  })
})

describe('the sample program', () => {
  testAll('names the existing samples if the catalog has no table with one', async () => {
    const CATALOG = path.join(await temporaryFolder(), 'catalog.yaml')
    await writeFile(
      CATALOG,
      catalogText([{ name: 't', order: ['n'], fields: [{ name: 'n', type: 'integer' }] }]),
    )
    const environment = { ...settings, CATALOG }
    expect(await run('sample', [], environment)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^no sample for d\/t; samples: balneabilidade-bahia\/balneabilidade, .*\n$/),
    })
    expect(await run('sample', ['--if-none'], environment)).toMatchObject({ code: 0, out: '', err: '' })
    expect(await run('ingest', [], environment)).toMatchObject({
      code: 1,
      err: `there is nothing to ingest: put sources into ${settings['SOURCES'] ?? ''}, or set SOURCES\n`,
    })
  })
})

describe('the server program', () => {
  test('serves tables that were ingested before and during its life, logs JSON lines, and stops in order', async () => {
    const table = 'covid19/boletim'
    await run('sample', [table], settings)
    const port = String(await freePort())
    const server = start('server/process/main', [], { ...settings, PORT: port })
    const get = async (address: string): Promise<[number, unknown]> => {
      const response = await fetch(`http://127.0.0.1:${port}${address}`)
      return [response.status, await response.json()]
    }
    await until(() => server.out().includes('"msg":"serving"'))
    const rows = '/api/v1/dataset/covid19/boletim/data/'
    expect((await get(rows))[0]).toBe(503)
    const published = await run('ingest', [table], settings)
    expect(published.code).toBe(0)
    // This address counts against no limit.
    await until(async () => /"published":1\b/.test(JSON.stringify((await get('/health'))[1])))
    expect((await get(rows))[1]).toMatchObject({ count: 405, next: null, previous: null })

    server.child.kill('SIGTERM')
    const { code, out, err } = await server.ended
    expect([code, err]).toEqual([0, ''])
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; status?: number; url?: string })
    expect(lines.map((line) => line.msg)).toEqual(
      expect.arrayContaining(['serving', 'snapshot taken', 'answered', 'stopping', 'stopped']),
    )
    expect(lines.find((line) => line.status === 200 && line.url === rows)).toMatchObject({
      method: 'GET',
      ms: expect.any(Number),
    })
  })

  testSampled<[title: string, extra: Record<string, string>, err: RegExp]>([
    ['a malformed setting', { PORT: 'http' }, /^PORT is "http", and must be a port number from 1 to 65535$/],
    ['a file that is no catalog', { CATALOG: 'Makefile' }, /^Makefile has .* errors?:\nMakefile:\d+:\d+: /],
  ])('does not start with %s', async (_what, extra, err) => {
    const ended = await run('server/process/main', [], { ...settings, ...extra })
    const line = JSON.parse(ended.err) as object
    expect([ended.code, ended.out, line]).toEqual([
      1,
      '',
      { level: 60, time: expect.any(String), msg: expect.stringMatching(err) },
    ])
  })

  testAll('logs warnings and bugs as lines of JSON', async () => {
    const preloaded = path.join(await temporaryFolder(), 'preloaded.cjs')
    await writeFile(
      preloaded,
      `setTimeout(() => process.emitWarning('odd'), 1500)
       setTimeout(() => { throw new TypeError('a bug') }, 2000)`,
    )
    const environment = {
      ...settings,
      PORT: String(await freePort()),
      NODE_OPTIONS: `--require=${preloaded}`,
    }
    const { code, out, err } = await start('server/process/main', [], environment).ended
    const lines = `${out}${err}`.trim().split('\n')
    expect(code).toBe(1)
    expect(lines.map((line) => JSON.parse(line) as { level: number; msg: string })).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 40, msg: 'odd' }),
        expect.objectContaining({
          level: 60,
          msg: 'a bug',
          err: expect.objectContaining({ type: 'TypeError' }),
        }),
      ]),
    )
  })

  test('reports that its port is occupied', async () => {
    const { port, release } = await heldPort()
    const ended = await run('server/process/main', [], { ...settings, PORT: String(port) })
    await release()
    expect([ended.code, (JSON.parse(ended.err) as { msg: string }).msg]).toEqual([
      1,
      `cannot listen on 127.0.0.1:${port}: the port is in use; set PORT to another`,
    ])
  })
})
