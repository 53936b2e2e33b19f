import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import request from 'supertest'
import { catalogJsonSchema, type Catalog, type Table } from '../core/catalog/catalog.ts'
import { catalogKeys, type DescribedSchema } from '../core/catalog/catalog-keys.ts'
import { loadCatalog, parseCatalog } from '../core/catalog/load.ts'
import { fieldTypeNames } from '../core/catalog/field-types.ts'
import { settingRows } from '../core/settings/rows.ts'
import { copySamples } from '../ingest/sample/copy.ts'
import { packings } from '../ingest/source/packings.ts'
import { datasetDocuments, tableDocuments, serviceDocuments } from '../server/documents/registry.ts'
import { rowFormats } from '../server/formats/registry.ts'
import { problemRows } from '../server/http/problems.ts'
import { operators } from '../server/query/operators.ts'
import { parameterRows } from '../server/query/query.ts'
import { serve } from './support/service.ts'
import { workshop } from './support/workshop.ts'
import { testAll } from './support/runs.ts'

/** All papers, one after the other. */
let papers: string
let names: string[]
beforeAll(async () => {
  const docs = (await readdir('docs', { recursive: true })).filter((name) => name.endsWith('.md')).toSorted()
  names = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs.map((name) => `docs/${name}`)]
  papers = (await Promise.all(names.map((name) => readFile(name, 'utf8')))).join('\n')
})

function tableOf({ datasets }: Catalog, dataset: string, name: string): Table {
  const table = datasets.get(dataset)?.tables.get(name)
  if (table === undefined) throw new Error(`no table ${name}`)
  return table
}

/** Cells of the table under a header, without back ticks. */
function tableUnder(header: string): string[][] {
  const start = papers.search(new RegExp(`^\\| ${header} `, 'm'))
  if (start === -1) throw new Error(`no paper has a table "${header}"`)
  const [block = ''] = papers.slice(start).split('\n\n')
  return block
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

const words = (line: string): string => line.replaceAll('`', '').replaceAll(/ +/g, ' ')

test('the documented settings are those of the code, with their defaults and meanings', () => {
  const rows = Object.values(settingRows).map(({ name, default: value, meaning }) => [
    name,
    value,
    words(meaning),
  ])
  expect(tableUnder('setting')).toEqual(rows)
})

test('the documented error codes are those of the code, with their statuses', () => {
  const rows = Object.entries(problemRows).map(([code, { status }]) => [code, String(status)])
  expect(tableUnder('code').map(([code, status]) => [code, status])).toEqual(rows)
})

testAll('the documented addresses of the API are those that answer', async () => {
  const catalog = await loadCatalog('catalog.yaml')
  const { app } = await serve(await workshop(catalog))
  const addresses = tableUnder('address').map(([address = '']) => address)
  expect(addresses).toHaveLength(16)
  for (const address of addresses) {
    const filled = address.replace('<dataset>', 'covid19').replace('<table>', 'caso')
    const { status } = await request(app).get(filled)
    // Nothing is published, and a history needs a row.
    const due = /\/history\/?$/.test(filled)
      ? 400
      : /\/(data|export|aggregate|changes)\/?$/.test(filled)
        ? 503
        : 200
    expect([filled, status]).toEqual([filled, due])
  }
})

/** Form of a route in the docs: `/dataset/:dataset/:table/fields` as `/en/dataset/<dataset>/<table>/fields/`. */
const documented = (route: string): string => {
  const filled = route.replaceAll(/:(dataset|table)/g, '<$1>').replace(':number', '1')
  return /\.\w+$/.test(filled) ? `/en${filled}` : `/en${filled}/`
}

test('the documented pages are those that answer', async () => {
  const catalog = await loadCatalog('catalog.yaml')
  const shop = await workshop(catalog)
  await copySamples(shop.sources, [tableOf(catalog, 'covid19', 'caso')])
  await shop.ingest({ tables: ['caso'] })
  const { app } = await serve(shop)
  const pages = tableUnder('address of a page').map(([address = '']) => address)
  const routes: string[] = []
  for (const file of await readdir('server/pages', { recursive: true })) {
    const text = file.endsWith('.ts') ? await readFile(path.join('server/pages', file), 'utf8') : ''
    for (const [, route = ''] of text.matchAll(/(?:pageAt\(service, |kind === null \? )'(\/[^']*|)'/g))
      routes.push(route)
  }
  expect(pages.toSorted()).toEqual([...routes, '/embed/:dataset/:table/chart'].map(documented).toSorted())
  for (const address of pages) {
    const filled = address.replace('<dataset>', 'covid19').replace('<table>', 'caso')
    for (const target of [filled, filled.replace('/en/', '/pt/')]) {
      const { status } = await request(app).get(target)
      expect([target, status]).toEqual([target, 200])
    }
  }
})

testAll('the documented machine documents are those that answer', async () => {
  const catalog = await loadCatalog('catalog.yaml')
  const { app } = await serve(await workshop(catalog))
  const addresses = tableUnder('address of a document').map(([address = '']) => address)
  const [whole, ofDatasets, ofTables] = [serviceDocuments, datasetDocuments, tableDocuments].map(
    (documents) => documents.map(({ file }) => file),
  )
  expect(addresses).toEqual(expect.arrayContaining((whole ?? []).map((file) => `/${file}`)))
  expect(addresses).toEqual(
    expect.arrayContaining((ofDatasets ?? []).map((file) => `/metadata/<dataset>/${file}`)),
  )
  const below = (ofTables ?? []).map((file) => `/metadata/<dataset>/<table>/${file}`)
  expect(addresses).toEqual(expect.arrayContaining(below))
  for (const address of addresses) {
    const filled = address.replace('<dataset>', 'covid19').replace('<table>', 'caso')
    const { status } = await request(app).get(filled)
    expect([filled, status]).toEqual([filled, 200])
  }
})

test('the documented parameters and operators are those of the code', () => {
  const named = tableUnder('parameter').flatMap(([cell = '']) => cell.split(/[ ,]+/))
  const ofFields = named.filter((name) => name.includes('__')).map((name) => name.split('__')[1])
  expect(new Set(ofFields)).toEqual(new Set(Object.keys(operators)))
  const others = named.filter((name) => !name.startsWith('<field>') && !name.startsWith('__'))
  expect(new Set(others)).toEqual(new Set(Object.keys(parameterRows)))
})

test('the documented formats are those of the code, with their media types', () => {
  const rows = rowFormats.map(({ name, mediaTypes: [mediaType] }) => [name, mediaType])
  expect(tableUnder('format').map(([name, type]) => [name, type])).toEqual(rows)
  const [, choice = ''] = tableUnder('parameter').find(([name]) => name === 'format') ?? []
  expect(choice.split(';')[0]?.split(', ')).toEqual(rows.map(([name]) => name))
})

test('the documented keys of the catalog are those of its schema (`npm run schema` writes them)', () => {
  const keys = catalogKeys(catalogJsonSchema() as DescribedSchema)
  for (const [header, described] of Object.entries(keys)) {
    expect(described.length).toBeGreaterThan(30)
    expect(tableUnder(header)).toEqual(described.map(([key, text]) => [key, words(text)]))
  }
})

test('the documented compressions are those of the code', async () => {
  for (const name of ['docs/reference/catalog.md', 'docs/reference/ingest.md']) {
    const paper = await readFile(name, 'utf8')
    const [list = ''] = /Put [^\n]*/.exec(paper) ?? []
    expect([name, [...list.matchAll(/\.csv(\.\w+)/g)].map((match) => match[1])]).toEqual([
      name,
      packings.map(({ ending }) => ending),
    ])
  }
  const definition = await readFile('core/catalog/source.ts', 'utf8')
  for (const { ending } of packings) expect(definition).toContain(`.csv${ending}`)
  expect(settingRows.sources.meaning).toContain(packings.map(({ ending }) => `\`${ending}\``).at(-1))
})

test('the documented types are those of the code', () => {
  expect(tableUnder('field type').map(([name]) => name)).toEqual(fieldTypeNames)
})

test('the example of a dataset in the docs is valid', async () => {
  const page = await readFile('docs/reference/catalog.md', 'utf8')
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []
  const head = (await readFile('catalog.yaml', 'utf8')).split('\n# A file for each dataset')[0] ?? ''
  const catalog = parseCatalog(`${head}\ndatasets:\n${example.replaceAll(/^/gm, '  ')}`, 'readme.yaml')
  expect([...catalog.datasets.keys()]).toEqual(['rainfall'])
})

test('each documented decision names an identifier that exists in the code', async () => {
  const texts: string[] = []
  for (const folder of ['catalog', 'core', 'server', 'ingest']) {
    for (const name of await readdir(folder, { recursive: true })) {
      if (/\.(ts|yaml)$/.test(name)) texts.push(await readFile(path.join(folder, name), 'utf8'))
    }
  }
  const everything = texts.join('\n')
  const choices = await readFile('docs/explanation/decisions.md', 'utf8')
  const holders = [...choices.matchAll(/\| ([^|]*) \|$/gm)]
    .slice(2)
    .flatMap((match) => [...(match[1] ?? '').matchAll(/`([\w]+)`/g)])
  expect(holders.length).toBeGreaterThan(15)
  expect(
    holders.map((match) => match[1] ?? '').filter((name) => !new RegExp(`\\b${name}\\b`).test(everything)),
  ).toEqual([])
})

test('files that the docs name exist, and so do the targets of their links', async () => {
  const named = [...papers.matchAll(/`((?:core|server|ingest|test|docs)\/[\w./-]+\.(?:ts|md))`/g)].map(
    (match) => match[1] ?? '',
  )
  const links: string[] = []
  for (const name of names) {
    const text = await readFile(name, 'utf8')
    for (const [, link = ''] of text.matchAll(/\]\((?!https?:|mailto:)([^)#]+)(?:#[^)]*)?\)/g)) {
      links.push(path.join(path.dirname(name), link))
    }
  }
  expect([named.length > 10, links.length > 8]).toEqual([true, true])
  for (const file of [...named, ...links]) await expect(readFile(file, 'utf8')).resolves.toBeTruthy()
})

test('the documented make targets are those of the Makefile', async () => {
  const makefile = await readFile('Makefile', 'utf8')
  const verbs = new Set([...papers.matchAll(/(?:`|^)make ([\w-]+)/gm)].map((match) => match[1] ?? ''))
  expect([...verbs].filter((verb) => !new RegExp(`^${verb}:`, 'm').test(makefile))).toEqual([])
})
