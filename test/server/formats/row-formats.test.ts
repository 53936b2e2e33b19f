import { tableFromIPC } from 'apache-arrow'
import { parse } from 'csv-parse/sync'
import { rowFormats } from '../../../server/formats/registry.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { sheetsOf } from './workbook.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'

/** Contract of every row format: a new one is tested here after adding a reader for it. */

const table = '/api/v1/dataset/d/t/'
const rowCount = 500

/** The numbers of the rows, as a client finds them in a page or an export. */
const readers: Readonly<Record<string, (body: Buffer) => number[] | Promise<number[]>>> = {
  json: (body) => {
    const content = JSON.parse(body.toString()) as { n: number }[] | { results: { n: number }[] }
    return (Array.isArray(content) ? content : content.results).map(({ n }) => n)
  },
  csv: (body) => parse<{ n: string }>(body, { columns: true }).map(({ n }) => Number(n)),
  'csv-excel': (body) =>
    parse<{ n: string }>(body, { columns: true, delimiter: ';', bom: true }).map(({ n }) => Number(n)),
  ndjson: (body) => {
    const lines = body.toString().split('\n').slice(0, -1)
    return lines.map((line) => (JSON.parse(line) as { n: number }).n)
  },
  arrow: (body) => Array.from(tableFromIPC(body).getChild('n') ?? [], Number),
  xlsx: async (body) => {
    const [head = [], ...rows] = (await sheetsOf(body))['Dados'] ?? []
    return rows.map((row) => Number(row[head.indexOf('n')]))
  },
}

let service: Service
beforeAll(async () => {
  const lines = Array.from(
    { length: rowCount },
    (_, n) => `${n},${n % 3 === 0 ? '' : `"t,${n}"`},${n % 2 === 0}\n`,
  )
  const catalog = tinyCatalog({
    fields: ['n:integer', 's:string', 'b:bool'],
    order: ['n'],
    filters: ['b', 's'],
  })
  const shop = await workshop(catalog, { 'd/t.csv': `n,s,b\n${lines.join('')}` })
  await shop.ingest({ partRows: 128 })
  service = await serve(shop)
})

const numbers = Array.from({ length: rowCount }, (_, n) => n)
const even = numbers.filter((n) => n % 2 === 0)

const get = (target: string, headers: Record<string, string> = {}) =>
  rawGet(service.app, `${table}${target}`, headers)

describe.each(rowFormats.map((format) => [format.name, format] as const))('rows as %s', (name, format) => {
  const read = async (body: Buffer): Promise<number[]> => {
    const reader = readers[name]
    if (reader === undefined) throw new Error(`say in this file how a client reads ${name}`)
    return reader(body)
  }
  test.each([
    ['all rows in stored order', '', numbers.slice(0, 300)],
    ['rows that end in the middle of a part', 'page=2&', numbers.slice(300)],
    ['some rows', 'b=true&', even],
    ['another order', 'b=true&ordering=-b&', even],
    ['no row', 's=nothing&', []],
    ['some fields', 'fields=n&b=true&', even],
  ])('are read back unchanged from a page of %s', async (_what, query, due) => {
    const { status, body, headers } = await get(`data/?${query}page_size=300&format=${name}`)
    expect([status, headers['content-type'], await read(body)]).toEqual([200, format.contentType, due])
  })

  test.each(format.mediaTypes.map((type) => [type]))('are sent to a client that accepts %s', async (type) => {
    const { headers, body } = await get('data/?page_size=10', { Accept: type })
    expect([headers['content-type'], await read(body)]).toEqual([format.contentType, numbers.slice(0, 10)])
    expect(headers['vary']).toContain('Accept')
  })

  test('have a file name if a browser saves them', async () => {
    const { headers } = await get(`data/?page=2&page_size=10&format=${name}`)
    const { savedAs, ending } = format
    const due =
      savedAs === null ? undefined : `${savedAs}; filename="d-t-page_size-10-page-2-2026-01-02.${ending}"`
    expect(headers['content-disposition']).toBe(due)
  })

  test.each([
    ['of some rows', 'b=true&', even],
    ['of some fields', 'fields=n&', numbers],
    ['of no row', 's=nothing&', []],
  ])('have a file name in an export %s', async (_what, query, due) => {
    const { status, body, headers } = await get(`export/?${query}format=${name}`, {
      'Accept-Encoding': 'identity',
    })
    expect([status, headers['content-type'], await read(body)]).toEqual([200, format.contentType, due])
    expect(headers['content-disposition']).toMatch(
      new RegExp(`^attachment; filename="[\\w.-]+\\.${format.ending}"$`),
    )
  })

  test.each(['data/?page_size=10&', 'data/?b=true&', 'export/?b=true&'])(
    'have the same ETag for the same bytes, and are not sent again: %s',
    async (target) => {
      const [first, second] = [await get(`${target}format=${name}`), await get(`${target}format=${name}`)]
      expect(second.body.equals(first.body)).toBe(true)
      const tag = first.headers['etag'] ?? ''
      expect([tag !== '', second.headers['etag']]).toEqual([true, tag])
      expect((await get(`${target}format=${name}`, { 'If-None-Match': tag })).status).toBe(304)
    },
  )

  test('are among the formats in the description of a table', async () => {
    const { body } = await get('')
    const { formats } = JSON.parse(body.toString()) as { formats?: unknown[] }
    expect(formats).toContainEqual({
      name,
      media_type: format.contentType,
    })
  })
})
