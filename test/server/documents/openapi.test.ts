import request from 'supertest'
import { allTables, tableId } from '../../../core/catalog/catalog.ts'
import { serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'
import { publishSamples } from '../../support/samples.ts'
import { testAll } from '../../support/runs.ts'

/** Compares the OpenAPI document with the service. Every answer of every other test is checked against it too. */

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly example?: unknown
}
interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly responses: Readonly<Record<string, unknown>>
}
type Item = { readonly $ref?: string } & Readonly<Record<'get', Operation>>
interface Document {
  readonly paths: Readonly<Record<string, Item>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

let service: Service
beforeAll(async () => {
  service = await serve(await publishSamples())
}, 120_000)

async function documentAt(address: string, { app } = service): Promise<Document> {
  const { body } = await request(app).get(address).expect(200)
  return body as Document
}

function parametersOf({ components }: Document, operation: Operation | undefined): Parameter[] {
  return (operation?.parameters ?? []).map((parameter) =>
    parameter.$ref === undefined
      ? parameter
      : (components['parameters']?.[parameter.$ref.split('/').at(-1) ?? ''] as Parameter),
  )
}

const asked = (parameters: readonly Parameter[]): string[] =>
  parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)

test.each(['/api/v1/', '/api/'])(
  '%s describes every table, with operation names of its own',
  async (prefix) => {
    const document = await documentAt(`${prefix}openapi.json`)
    const { paths } = document
    const rows = Object.keys(paths).filter((path) => /\/data\/?$/.test(path))
    expect(rows).toHaveLength(allTables(service.catalog).length)
    const ids = Object.values(paths).map(({ get }) => get.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const wrong: unknown[] = []
    for (const [path, { get }] of Object.entries(paths)) {
      const parameters = parametersOf(document, get).filter(({ required }) => required === true)
      const of = (place: string): Parameter[] => parameters.filter((parameter) => parameter.in === place)
      // Only a catalog of very many tables has parts of a sitemap.
      if (path.includes('sitemap-')) continue
      for (const { name, example } of parameters) if (typeof example !== 'string') wrong.push([path, name])
      const target = of('path').reduce(
        (text, { name, example }) => text.replace(`{${name}}`, String(example)),
        path,
      )
      const query = of('query').map(({ name, example }): [string, string] => [name, String(example)])
      const { status } = await request(service.app).get(`${target}?${new URLSearchParams(query).toString()}`)
      if (![200, 302].includes(status)) wrong.push([target, status])
    }
    expect(wrong).toEqual([])
  },
)

test('a table is described with exactly its parameters', async () => {
  for (const table of allTables(service.catalog)) {
    const at = `/api/v1/dataset/${tableId(table)}/`
    const document = await documentAt(`${at}openapi.json`)
    const { body } = (await request(service.app).get(at)) as unknown as {
      body: {
        fields: { name: string; operators: string[]; parts: string[] }[]
        parameters: Record<string, string>
      }
    }
    const conditions = body.fields.flatMap(({ name, operators, parts }) =>
      operators.length === 0
        ? []
        : [
            name,
            ...operators.map(
              (operator) => `${name}__${operator}${/^(in|range)$/.test(operator) ? '[]' : ''}`,
            ),
            ...parts.flatMap((part) =>
              ['', '__in[]', '__gte', '__lte'].map((end) => `${name}__${part}${end}`),
            ),
          ],
    )
    const due = new Set([...conditions, ...Object.keys(body.parameters)])
    expect(new Set(asked(parametersOf(document, document.paths[`${at}data/`]?.get)))).toEqual(due)
    const exported = [...due].filter((name) => !name.startsWith('page'))
    expect(new Set(asked(parametersOf(document, document.paths[`${at}export/`]?.get)))).toEqual(
      new Set(exported),
    )
  }
})

test('every example link finds rows, and all example parameters together are a valid query', async () => {
  let links = 0
  for (const table of allTables(service.catalog)) {
    const at = `/api/v1/dataset/${tableId(table)}/`
    const document = await documentAt(`${at}openapi.json`)
    for (const verb of ['data', 'export']) {
      const item = document.paths[`${at}${verb}/`]
      for (const [, address = ''] of (item?.get.description ?? '').matchAll(/\]\((http\S+)\)$/gm)) {
        const { pathname, search } = new URL(address)
        const { status, headers } = await request(service.app).get(pathname + search)
        expect([address, status]).toEqual([address, 200])
        expect(Number(headers['acervo-count'])).toBeGreaterThan(0)
        links += 1
      }
      const query = new URLSearchParams(
        parametersOf(document, item?.get).flatMap(({ name, example }) =>
          example === undefined
            ? []
            : name.endsWith('[]')
              ? (example as string[]).map((value) => [name, value])
              : [[name, [example as string].flat().join()]],
        ),
      )
      const { status } = await request(service.app).get(`${at}${verb}/?${query.toString()}`)
      expect([query.toString(), status]).toEqual([query.toString(), 200])
    }
  }
  expect(links).toBeGreaterThan(2 * allTables(service.catalog).length)
})

test.each(
  ['a', 'são paulo', '東京', 'c++', '(lima)', 'a :', '-', '\u0001', '%'].concat([
    ':',
    '...',
    '* , ;',
    '/',
    '_ | \\',
    '– + & =',
    '#@’‘',
    'd’oeste',
    '“”',
    '"',
    ' ',
    '\u00a0',
    '\u3000',
    '\u0301',
    'a\0',
  ]),
)('the schema of a search accepts %j if the service does', async (text) => {
  const { components } = await documentAt('/api/v1/openapi.json')
  const words = components['schemas']?.['search-text'] as { pattern: string }
  const query = new URLSearchParams({ search: text }).toString()
  const { status } = await request(service.app).get(`/api/v1/dataset/covid19/caso/data/?${query}`)
  expect(status).toBe(new RegExp(words.pattern, 'u').test(text) ? 200 : 400)
})

describe('names of fields that are no plain words', () => {
  const names = ['page', 'a b', 'ção', 'x,y', 'p__q', 'page_size', 'ordering']

  test('have documented parameters that the service accepts', async () => {
    const catalog = tinyCatalog({ fields: names.map((name) => `${name}:integer`) })
    const shop = await workshop(catalog, {
      'd/t.csv': `${names.map((name) => `"${name}"`).join()}\n1,2,3,4,5,6,7\n`,
    })
    await shop.ingest()
    const odd = await serve(shop)
    const document = await documentAt('/api/v1/dataset/d/t/openapi.json', odd)
    const path = '/api/v1/dataset/d/t/data/'
    for (const name of asked(parametersOf(document, document.paths[path]?.get)).filter((parameter) =>
      parameter.includes('__eq'),
    )) {
      const { status } = await request(odd.app).get(`${path}?${encodeURIComponent(name)}=1`)
      expect([name, status]).toEqual([name, 200])
    }
    const components = Object.keys(document.components['parameters'] ?? {})
    expect(components.filter((name) => !/^[\w.-]+$/.test(name))).toEqual([])
  })
})

testAll(
  'if there are many tables, the main document refers to further documents that describe them',
  async () => {
    const tables = Array.from({ length: 40 }, (_, n) => ({
      name: `t${n}`,
      fields: Array.from({ length: 40 }, (_unused, field) => `f${field}:integer`),
    }))
    const many = await serve(await workshop(tinyCatalog(...tables)))
    const { paths } = await documentAt('/api/v1/openapi.json', many)
    const reference = paths['/api/v1/dataset/d/t7/data/']?.$ref ?? ''
    const [address = '', pointer = ''] = reference.split('#')
    const document = await documentAt(new URL(address).pathname, many)
    const path = pointer.replace('/paths/', '').replaceAll('~1', '/')
    expect(document.paths[path]?.get.operationId).toBe('rows')
  },
)

test('nulls are described if an available snapshot has some', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer', 'b:string'] }), { 'd/t.csv': 'a,b\n1,x\n' })
  await shop.ingest()
  const ownService = await serve(shop)
  const typesIn = async (): Promise<unknown[]> => {
    const { components } = await documentAt('/api/v1/dataset/d/t/openapi.json', ownService)
    const row = components['schemas']?.['Row'] as { properties: Record<string, { type: unknown }> }
    return Object.values(row.properties).map(({ type }) => type)
  }
  expect(await typesIn()).toEqual(['integer', 'string'])
  for (const [source, due] of [
    ['a,b\n1,\n', ['integer', ['string', 'null']]],
    // The one before it is still there.
    ['a,b\n2,y\n', ['integer', ['string', 'null']]],
  ] as const) {
    await shop.write('d/t.csv', source)
    await shop.ingest({ now: () => new Date(Date.now() + source.length), acceptsDrift: true })
    await ownService.snapshots.refresh()
    expect(await typesIn()).toEqual(due)
  }
})
