import { rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** CSV to the byte, from every source of rows. */

const address = '/api/v1/dataset/d/t/data/'
const exported = '/api/v1/dataset/d/t/export/'

/** A value of CSV, as RFC 4180 has it. */
const quoted = (text: string, delimiter: string): string =>
  text === '' || [delimiter, '"', '\r', '\n'].some((sign) => text.includes(sign))
    ? `"${text.replaceAll('"', '""')}"`
    : text

const csvOf = (lines: readonly string[], head = 'n,"s,""t""",v', end = '\n'): string =>
  [head, ...lines, ''].join(end)

const values = [
  'plain',
  'a,b',
  'a;b',
  'a"b',
  '"',
  'a\nb',
  'a\rb',
  '\r',
  'a\r\nb',
  ' a ',
  '漢字'.repeat(9000),
  "'",
  'None',
  '',
  null,
]
const written = (delimiter: string, point: string): string[] =>
  values.map((text, n) => {
    const cells = [String(n), text === null ? null : quoted(text, delimiter), `${n}${point}50`]
    return cells.map((cell) => cell ?? '').join(delimiter)
  })

test.each<[readFrom: string, packed: boolean, codedDistinctMax: number]>([
  ['parts', false, 1],
  ['the row store', true, 1],
  ['the row store and codes', true, 100],
])(
  'rows that are read from %s are written as in RFC 4180, except for LF',
  async (_from, packed, codedDistinctMax) => {
    const source = values.map((text, n) => `${n},${text === null ? 'NULL' : quoted(text, ',')},${n}.5\n`)
    const fields = ['n:integer', 's,"t":string', 'v:decimal:10:2'].map(fieldOf)
    const table = { name: 't', order: ['n asc'], filters: ['n'], packed, fields, source: { nulls: ['NULL'] } }
    const shop = await workshop(catalogAround([table]), { 'd/t.csv': `n,"s,""t""",v\n${source.join('')}` })
    expect(await shop.ingest({ codedDistinctMax })).toMatchObject([{ status: 'published' }])
    const { app } = await serve(shop)
    const textOf = async (ask: string): Promise<string> => (await rawGet(app, ask)).body.toString()
    const [comma, semicolon] = [written(',', '.'), written(';', ',')]
    expect({
      page: await textOf(`${address}?format=csv`),
      excel: await textOf(`${address}?format=csv-excel`),
      chosen: await textOf(`${address}?format=csv&n__gte=3&ordering=-n`),
      export: await textOf(`${exported}?format=csv&n__gte=3`),
      table: await textOf(exported),
    }).toEqual({
      page: csvOf(comma),
      excel: csvOf(semicolon, '\ufeffn;"s,""t""";v', '\r\n'),
      chosen: csvOf(comma.slice(3).toReversed()),
      export: csvOf(comma.slice(3)),
      table: csvOf(comma),
    })
  },
)
