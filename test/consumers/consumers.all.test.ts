import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { allTables, type Catalog } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { copySamples } from '../../ingest/sample/copy.ts'
import { datasetDocuments, tableDocuments } from '../../server/documents/registry.ts'
import { listen, type Listening } from '../../server/http/listen.ts'
import { freePort } from '../support/ports.ts'
import { isExhaustive, runsOf, seed } from '../support/runs.ts'
import { serve } from '../support/service.ts'
import { temporaryFolder, workshop } from '../support/workshop.ts'
import { describeWith, pythonClients } from '../support/needs.ts'

/**
 * Documents in the hands of those who read them: each is loaded by the code of its consumers. ACERVO_CLIENTS names the bin
 * folder of a Python environment with them; those of npm and Go are in `node_modules` and `go` beside it.
 */
const clients = process.env['ACERVO_CLIENTS'] ?? ''
const hasConsumers =
  clients !== '' && ['schemathesis', '../go/ogen'].every((name) => existsSync(path.join(clients, name)))
const shapes = process.env['ACERVO_SHAPES'] ?? ''
const hasShapes = existsSync(shapes)

const folder = path.resolve('test/consumers')
const run = promisify(execFile)
/** Returns the output of a failing program; empty if it succeeds. */
async function faultOf(command: string, args: readonly string[], cwd = '.'): Promise<string> {
  const failed = await run(command, args, { ...options, cwd }).then(
    () => null,
    (error: unknown) => error as { readonly stdout: string; readonly stderr: string },
  )
  return failed === null ? '' : `${failed.stdout}\n${failed.stderr}`.slice(-6000)
}

const inPath = (name: string): string => path.join(clients, name)
const ofNpm = (name: string): string => path.join(clients, '..', 'node_modules', '.bin', name)
const options = { maxBuffer: 64_000_000 }

async function python<T>(script: string, ...args: readonly string[]): Promise<T> {
  const { stdout } = await run(inPath('python'), [path.join(folder, script), base, ...args], {
    ...options,
    // Nothing is left among the sources.
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  })
  return JSON.parse(stdout) as T
}

/** Compiles `walk.ts` in a folder, strictly, into its folder `dist`. */
async function compileTypeScript(there: string): Promise<void> {
  const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', '']
  const library = ['--skipLibCheck', '--lib', 'es2022,dom,dom.iterable', '--outDir', path.join(there, 'dist')]
  const tsc = path.resolve('node_modules/.bin/tsc')
  expect(await faultOf(tsc, [...strict, ...library, path.join(there, 'walk.ts')], there)).toBe('')
}

let base: string
let listening: Listening
let catalog: Catalog
/** By `dataset/table`. */
const rows = new Map<string, number>()

const tablesOf = (slug: string): Record<string, number> =>
  Object.fromEntries(
    [...(catalog.datasets.get(slug)?.tables.keys() ?? [])].map((name) => [
      name,
      rows.get(`${slug}/${name}`) ?? 0,
    ]),
  )
const status = async (address: string): Promise<number> => {
  const answer = await fetch(address)
  await answer.arrayBuffer()
  return answer.status
}

const broken = async (addresses: readonly string[]): Promise<string[]> => {
  const bad: string[] = []
  for (const address of new Set(addresses)) if ((await status(address)) !== 200) bad.push(address)
  return bad
}

/** Saves a document with a constant address: Go compiles its client again only if the document changes. */
async function saveDocument(target: string, there: string): Promise<void> {
  const document = await (await fetch(base + target)).text()
  await writeFile(path.join(there, 'openapi.json'), document.replaceAll(base, 'https://dados.example.org'))
}

const describeWithConsumers = describeWith(hasConsumers, pythonClients)

describeWithConsumers('machine-readable documents:', () => {
  beforeAll(async () => {
    catalog = await loadCatalog('catalog.yaml')
    const shop = await workshop(catalog)
    await copySamples(shop.sources, allTables(catalog))
    // Several parts, all of which have to be read.
    for (const outcome of await shop.ingest({ partRows: 256 })) {
      if (outcome.status !== 'published') throw new Error(`${outcome.table.name} is ${outcome.status}`)
      rows.set(`${outcome.table.dataset}/${outcome.table.name}`, outcome.manifest.rows)
    }
    const port = await freePort()
    base = `http://127.0.0.1:${port}`
    const { app, log } = await serve(shop, { publicUrl: new URL(base) })
    // As the program listens: Node alone would refuse a long address without a word of ours.
    const host = '127.0.0.1'
    const times = { headersTimeoutMs: 10_000, longestAnswerMs: 60_000 }
    listening = await listen(app, { host, port, log, ...times, connectionsMax: 1000 })
  }, 120_000)
  afterAll(() => listening.stop())

  test('metadata is valid, loads every row, and describes every file correctly', async () => {
    interface Found {
      readonly errors: readonly string[]
      readonly rows: Readonly<Record<string, number>>
    }
    interface Dcat {
      readonly slugs: readonly string[]
      readonly datasets: readonly number[]
      readonly wrong: readonly string[]
      readonly files: number
      readonly violations: readonly string[] | null
    }
    type OfDataset = Readonly<Record<'package' | 'croissant' | 'schema_org', Found>> & {
      csvw: readonly Found[]
    }
    const { dcat, ...datasets } = await python<{ dcat: Dcat } & Readonly<Record<string, OfDataset>>>(
      'metadata.py',
      ...(hasShapes ? [shapes] : []),
    )
    const slugs = [...catalog.datasets.keys()].toSorted()
    expect(dcat).toMatchObject({ slugs, wrong: [], unlike: [], datasets: [slugs.length, slugs.length] })
    expect(dcat.violations).toEqual(hasShapes ? [] : null)
    expect(dcat.files).toBeGreaterThan(2 * rows.size)
    for (const slug of slugs) {
      const metadata = datasets[slug] as OfDataset
      const due = tablesOf(slug)
      expect([slug, metadata.package]).toEqual([slug, { errors: [], rows: due }])
      expect([slug, metadata.croissant.errors, summed(metadata.croissant.rows)]).toEqual([slug, [], due])
      expect([slug, ...metadata.csvw]).toEqual([
        slug,
        ...Object.entries(due).map(([name, count]) => ({ errors: [], rows: { [name]: count } })),
      ])
      expect([slug, metadata.schema_org.errors]).toEqual([
        slug,
        Object.keys(due).length === 0 ? ['distribution'] : [],
      ])
    }
  }, 300_000)

  test('every link of a document to this service answers', async () => {
    const documents = [
      '/catalog.jsonld',
      '/catalog.ttl',
      '/feeds/covid19/atom.xml',
      ...[...catalog.datasets.keys()].flatMap((slug) =>
        datasetDocuments.map(({ file }) => `/metadata/${slug}/${file}`),
      ),
      ...[...rows.keys()].flatMap((table) => tableDocuments.map(({ file }) => `/metadata/${table}/${file}`)),
    ]
    const types = new Set<string>()
    for (const target of documents) {
      const text = await (await fetch(base + target)).text()
      for (const [address] of text.matchAll(/https?:\/\/127\.0\.0\.1:\d+[^\s"'<>)}\\]*/g)) {
        types.add(address.replaceAll('&amp;', '&').replace(/#.*$/, ''))
      }
    }
    expect(types.size).toBeGreaterThan(200)
    expect(await broken([...types])).toEqual([])
  }, 300_000)

  test('crawlers, feed readers and agents can follow robots.txt, the sitemap, feeds, OpenSearch and llms.txt', async () => {
    const site = await python<Site>('site.py')
    expect(site.robots).toEqual({
      allowed: [
        '/pt/dataset/covid19/',
        '/en/dataset/covid19/caso/',
        '/files/covid19/caso.csv.gz',
        '/metadata/covid19/croissant.json',
        '/api/v1/openapi.json',
        '/sitemap.xml',
      ],
      delay: 1,
      sitemaps: [`${base}/sitemap.xml`],
    })
    const { addresses, most } = site.sitemap
    expect(new Set(addresses).size).toBe(addresses.length)
    expect(most).toBeLessThanOrEqual(50_000)
    for (const table of rows.keys()) {
      for (const language of ['pt', 'en'])
        expect(addresses).toContain(`${base}/${language}/dataset/${table}/`)
    }
    expect(await broken(addresses)).toEqual([])
    for (const [target, feed] of Object.entries(site.feeds)) {
      const due = target === '/feeds/atom.xml' ? rows.size : target.includes('caso') ? 1 : 4
      expect([target, feed.fault, feed.version, new Set(feed.ids).size]).toEqual([target, '', 'atom10', due])
      expect(await broken(feed.links)).toEqual([])
    }
    expect(site.opensearch.short).toBe('Acervo')
    const searches = site.opensearch.templates.map((template) => template.replace('{searchTerms}', 'covid'))
    expect([searches.length, await broken(searches)]).toEqual([2, []])
    expect(site.llms).toMatchObject({
      title: '# Acervo',
      sections: ['## Datasets', '## Tables', '## Reference', '## Optional'],
    })
    expect(site.llms.links.length).toBeGreaterThan(3 * rows.size)
    expect(await broken(site.llms.links)).toEqual([])
    expect(site.api_catalog.type).toBe(
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    )
    expect(site.api_catalog.described).toEqual([`${base}/api/v1/openapi.json`, `${base}/api/openapi.json`])
    expect(await broken(site.api_catalog.links)).toEqual([])
  }, 300_000)

  test('the client and the harvester of CKAN find every dataset', async () => {
    const answers = await python<Ckan>('ckan_clients.py')
    const names = [...catalog.datasets.keys()].toSorted()
    const shown = {
      names,
      page: names.slice(1, 3),
      shown: names,
      by_id: names[0],
      searches: {
        covid: 1,
        'title:COVID-19': 1,
        'groups:heal': 2,
        'res_format:Parquet': 10,
        'name:socios*': 1,
        'praias OR empresas': 3,
        '-praias': 10,
        '+type:dataset +covid': 1,
        '*:*': 11,
        'tags:saude': 0,
      },
      refused: ['NotFound', 'ValidationError', 'SearchQueryError'],
    }
    expect(answers.get).toMatchObject(shown)
    expect(answers.post).toMatchObject(shown)
    expect([answers.harvested, answers.ids]).toEqual([names, names.length])
    expect(answers.since['the start']).toBe(names.length)
    expect(answers.since.after).toBe(0)
    expect(answers.since['the last'].length).toBeGreaterThan(0)
    expect(await broken(answers.resources)).toEqual([])
  }, 120_000)

  describe('the OpenAPI document', () => {
    test('has no fault according to its validators', async () => {
      const there = await temporaryFolder()
      const config = path.join(there, 'redocly.yaml')
      await writeFile(config, await readFile(path.join(folder, 'redocly.yaml')))
      const files: string[] = []
      for (const target of [
        '/api/v1/openapi.json',
        '/api/openapi.json',
        '/api/v1/dataset/covid19/caso/openapi.json',
      ]) {
        const file = path.join(there, target.replaceAll('/', '_'))
        await writeFile(file, Buffer.from(await (await fetch(base + target)).arrayBuffer()))
        files.push(file)
      }
      const lint = ['lint', '--config', config, '--max-problems', '5', ...files]
      expect(await faultOf(ofNpm('redocly'), lint)).toBe('')
      expect(await faultOf(inPath('python'), ['-m', 'openapi_spec_validator', ...files])).toBe('')
    }, 120_000)

    test('gives TypeScript types, and a client that pages through a table and filters it', async () => {
      const there = await temporaryFolder()
      const target = `${base}/api/v1/dataset/covid19/caso/openapi.json`
      await mkdir(path.join(there, 'dist'))
      await run(ofNpm('openapi-typescript'), [target, '-o', path.join(there, 'api.ts')], options)
      await writeFile(path.join(there, 'walk.ts'), await readFile(path.join(folder, 'walk.txt')))
      await writeFile(
        path.join(there, 'types.ts'),
        await (await fetch(`${base}/metadata/covid19/caso/types.ts`)).text(),
      )
      await writeFile(path.join(there, 'package.json'), '{"type": "module"}')
      const modules = path.join(clients, '..', 'node_modules')
      await run('ln', ['-s', modules, path.join(there, 'node_modules')])
      await compileTypeScript(there)
      const { stdout } = await run(process.execPath, [path.join(there, 'dist', 'walk.js'), base], options)
      expect(JSON.parse(stdout)).toEqual({
        walked: rows.get('covid19/caso'),
        wrong: 0,
        filtered: true,
        badRequest: 400,
      })
    }, 120_000)

    test('lets orval generate a client that pages through a table and filters it', async () => {
      const there = await temporaryFolder()
      const target = `${base}/api/v1/dataset/covid19/caso/openapi.json`
      const api = path.join(there, 'api.ts')
      const made = ['--input', target, '--output', api, '--client', 'fetch']
      const { stderr } = await run(ofNpm('orval'), made, { ...options, cwd: there })
      expect(stderr).toBe('')
      // The command has no option for the base address.
      const relative = '`/api/v1/'
      const generated = await readFile(api, 'utf8')
      await writeFile(api, generated.replaceAll(relative, `\`${base}/api/v1/`))
      await writeFile(path.join(there, 'walk.ts'), await readFile(path.join(folder, 'orval.txt')))
      await writeFile(path.join(there, 'package.json'), '{"type": "module"}')
      await compileTypeScript(there)
      const { stdout } = await run(process.execPath, [path.join(there, 'dist', 'walk.js')], options)
      expect(JSON.parse(stdout)).toEqual({
        walked: rows.get('covid19/caso'),
        wrong: 0,
        filtered: true,
        status: 400,
      })
    }, 120_000)

    test.each([
      ['oapi-codegen', ['-package', 'api', '-generate', 'types,client', '-o', 'api/api.go', 'openapi.json']],
      ['ogen', ['--package', 'api', '--target', 'api', 'openapi.json']],
    ])(
      'lets %s generate a client that pages through a table and filters it',
      async (generator, made) => {
        const there = await temporaryFolder()
        const inFolder = { ...options, cwd: there, env: { ...process.env, GOFLAGS: '-mod=mod' } }
        await mkdir(path.join(there, 'api'))
        await saveDocument('/api/v1/dataset/covid19/caso/openapi.json', there)
        await run(path.join(clients, '..', 'go', generator), made, inFolder)
        await writeFile(path.join(there, 'main.go'), await readFile(path.join(folder, `${generator}.go.txt`)))
        await run('go', ['mod', 'init', 'acervo.test/walk'], inFolder)
        await run('go', ['mod', 'tidy'], inFolder)
        const { stdout } = await run('go', ['run', '-trimpath', '.', base], inFolder)
        expect(JSON.parse(stdout)).toEqual({
          walked: rows.get('covid19/caso'),
          wrong: 0,
          filtered: true,
          status: 400,
          parameter: 'page_size',
        })
      },
      240_000,
    )

    // All tables at once: names of components must differ in every language.
    test('lets each generator make a client for all tables that compiles', async () => {
      const there = await temporaryFolder()
      const inFolder = { ...options, cwd: there, env: { ...process.env, GOFLAGS: '-mod=mod' } }
      await saveDocument('/api/v1/openapi.json', there)
      const oapi = path.join(clients, '..', 'go', 'oapi-codegen')
      await run(
        oapi,
        ['-package', 'api', '-generate', 'types,client', '-o', 'api.go', 'openapi.json'],
        inFolder,
      )
      await run('go', ['mod', 'init', 'acervo.test/api'], inFolder)
      await run('go', ['mod', 'tidy'], inFolder)
      expect(await faultOf('go', ['build', '-trimpath', '.'], there)).toBe('')
      await run(
        path.join(clients, '..', 'go', 'ogen'),
        ['--package', 'api', '--target', 'ogen', 'openapi.json'],
        inFolder,
      )
      await run(
        ofNpm('orval'),
        ['--input', 'openapi.json', '--output', 'api.ts', '--client', 'fetch'],
        inFolder,
      )
      await writeFile(path.join(there, 'walk.ts'), "export * from './api.js'\n")
      await writeFile(path.join(there, 'package.json'), '{"type": "module"}')
      await compileTypeScript(there)
    }, 300_000)

    test('gives a Python client that pages through a table and filters it', async () => {
      const there = await temporaryFolder()
      const target = `${base}/api/v1/dataset/covid19/caso/openapi.json`
      const made = [
        'generate',
        '--url',
        target,
        '--output-path',
        path.join(there, 'client'),
        '--meta',
        'none',
      ]
      const { stderr } = await run(inPath('openapi-python-client'), made, options)
      expect(stderr).not.toMatch(/WARNING|ERROR/)
      const { stdout } = await run(inPath('python'), [path.join(folder, 'walk.py'), base], {
        ...options,
        cwd: there,
      })
      expect(JSON.parse(stdout)).toEqual({ walked: rows.get('covid19/caso'), wrong: 0, filtered: true })
    }, 120_000)

    test('describes every response to the requests of schemathesis', async () => {
      const cases = runsOf('FUZZED')
      const documents = [
        '/api/v1/openapi.json',
        ...['covid19/caso', 'eleicoes-brasil/filiados'].map(
          (table) => `/api/v1/dataset/${table}/openapi.json`,
        ),
      ]
      const there = await temporaryFolder()
      let generated = 0
      for (const [index, target] of documents.entries()) {
        // Parameters of tables are tested on two of them, whose fields have most types.
        const exclusions = index === 0 ? ['--exclude-path-regex', '/(data|export)/$'] : []
        const { stdout } = await run(
          inPath('schemathesis'),
          [
            '--config-file',
            path.join(folder, 'schemathesis.toml'),
            'run',
            base + target,
            `--url=${base}`,
            `--phases=examples,${index === 1 || isExhaustive ? 'coverage,' : ''}fuzzing`,
            '--checks=all',
            `--seed=${Math.abs(seed)}`,
            `--max-examples=${Math.max(1, Math.round(cases / (index === 0 ? 200 : 10)))}`,
            '--warnings=off',
            ...exclusions,
          ],
          {
            ...options,
            cwd: there,
            env: {
              ...process.env,
              SCHEMATHESIS_HOOKS: 'schemathesis_hooks',
              PYTHONPATH: folder,
              PYTHONDONTWRITEBYTECODE: '1',
            },
          },
        ).catch((error: unknown) => {
          const { stdout: output } = error as { stdout: string }
          throw new Error(`SEED=${seed} ${target}: ${output.slice(-6000)}`)
        })
        generated += Number(/([\d,]+) generated/.exec(stdout)?.[1]?.replaceAll(',', '') ?? 0)
      }
      process.stderr.write(`schemathesis: ${generated} cases of seed ${seed}\n`)
      expect(generated).toBeGreaterThan(cases)
    }, 3_600_000)
  })
})

interface Site {
  readonly robots: unknown
  readonly sitemap: { readonly addresses: readonly string[]; readonly most: number }
  readonly feeds: Readonly<
    Record<string, { fault: string; version: string; ids: readonly string[]; links: readonly string[] }>
  >
  readonly opensearch: { readonly short: string; readonly templates: readonly string[] }
  readonly llms: { readonly links: readonly string[] }
  readonly api_catalog: {
    readonly type: string
    readonly links: readonly string[]
    readonly described: readonly string[]
  }
}

interface Ckan {
  readonly get: unknown
  readonly post: unknown
  readonly harvested: readonly string[]
  readonly ids: number
  readonly since: {
    readonly 'the start': number
    readonly 'the last': readonly string[]
    readonly after: number
  }
  readonly resources: readonly string[]
}

/** Sets of records by the table whose parts they are. */
function summed(sets: Readonly<Record<string, number>>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [id, count] of Object.entries(sets)) {
    const name = id.replace(/-\d+$/, '')
    sums[name] = (sums[name] ?? 0) + count
  }
  return sums
}
