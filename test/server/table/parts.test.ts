import { gzipSync } from 'node:zlib'
import path from 'node:path'
import { allTables } from '../../../core/catalog/catalog.ts'
import { readRows, type Row } from '../../evaluator/rows.ts'
import { compareOne, randomFrom } from '../../evaluator/random-queries.ts'
import { isQuick, sampled, seed } from '../../support/runs.ts'
import { getPage, rawGet, serve, type ServiceOptions } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Fields with structured values: conditions on their parts, and their form in documents and formats. */

const items = [
  'água',
  'solo, ar',
  'say "ah"',
  ',"água"',
  '["x',
  'a\\',
  'a',
  'A',
  '',
  ']',
  '\\"a"',
  'a\nb',
  ',',
  'a,',
  ',,',
  'a,b,',
]
const lats = ['-90', '-23.55', '0', '12.5', '89.999']
const lons = ['-180', '-46.63', '0', '0.001', '179.5', '180']
const data = '/api/v1/dataset/d/t/data/'

const cell = (text: string): string => `"${text.replaceAll('"', '""')}"`

let shops: { readonly name: string; readonly shop: Workshop; readonly rows: readonly Row[] }[]

beforeAll(async () => {
  const random = randomFrom(seed)
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? ''
  const lines = Array.from({ length: 800 }, (_, n) => {
    const tags = Array.from({ length: Math.floor(random() * 4) }, () => pick(items))
    const doc = random() < 0.2 ? null : `{"n": ${n % 40}, "rate": 0.1234567890123456789${n % 7}, "s": "x y"}`
    const texts = [doc, JSON.stringify(tags), `${pick(lats)},${pick(lons)}`]
    return [n, ...texts.map((text) => (text === null || random() < 0.1 ? '' : cell(text)))].join()
  })
  const csv = `n,doc,tags,place\n${lines.join('\n')}\n`
  shops = []
  for (const [name, tableKeys] of Object.entries({ packed: { packed: true }, plain: {} })) {
    const fields = ['n:integer', 'doc:json', 'tags:list', 'place:point'].map(fieldOf)
    const table = { name: 't', order: ['n asc'], filters: ['doc', 'tags', 'place'], fields, ...tableKeys }
    const shop = await workshop(catalogAround([table]))
    await shop.write('d/t.csv.gz', gzipSync(csv))
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
    const [only] = allTables(shop.catalog)
    if (only === undefined) throw new Error('no table')
    shops.push({ name, shop, rows: await readRows(path.join(shop.sources, 'd/t.csv.gz'), only) })
  }
}, 60_000)

test.each<[number, string, ServiceOptions]>([
  [0, 'packed', {}],
  [1, 'by DuckDB', { codesBytesMax: 0 }],
])(
  'random queries select the rows that an independent evaluator computes: %i, %s',
  async (at, _name, options) => {
    const { shop, rows } = shops[at] ?? { shop: null, rows: [] }
    if (shop === null) throw new Error('no shop')
    const [only] = allTables(shop.catalog)
    if (only === undefined) throw new Error('no table')
    const service = await serve(shop, options)
    const random = randomFrom(seed)
    const differences: string[] = []
    for (let ask = 0; ask < (isQuick ? 40 : 200); ask += 1) {
      const difference = await compareOne(service, only, rows, random)
      if (difference !== null) differences.push(difference)
    }
    expect({ seed, differences: differences.slice(0, 3) }).toEqual({ seed, differences: [] })
    await service.close()
  },
  60_000,
)

describe('in every format', () => {
  test.each(sampled([0, 1]))(
    'digits and texts are those of the source (0: a packed table, 1: an unpacked table): %i',
    async (at) => {
      const shop = await workshop(
        catalogAround([
          {
            name: 't',
            order: ['n asc'],
            ...(at === 0 && { packed: true }),
            fields: ['n:integer', 'doc:json', 'tags:list', 'place:point'].map(fieldOf),
          },
        ]),
        {
          'd/t.csv':
            'n,doc,tags,place\n' +
            '1,"{""b"": 0.12345678901234567890, ""a"": 1e400,\n ""z"": ""\\u00e3\\/""}","[""x"",  ""\\u00e3""]","-01.50, +2"\n2,,,\n',
        },
      )
      const [outcome] = await shop.ingest()
      expect(outcome?.status).toBe('published')
      const { app, close } = await serve(shop)
      const doc = '{"b": 0.12345678901234567890, "a": 1e400,  "z": "\\u00e3\\/"}'
      const row = `{"doc":${doc},"n":1,"place":{"lat":-1.5,"lon":2},"tags":["x","ã"]}`
      const nothing = '{"doc":null,"n":2,"place":null,"tags":null}'
      const csvRow = `1,"${doc.replaceAll('"', '""')}","[""x"",""ã""]","-1.5,2"`
      const answers = new Map<string, string>()
      for (const format of ['json', 'ndjson', 'csv']) {
        const { body } = await rawGet(app, `/api/v1/dataset/d/t/export/?format=${format}`, {
          'Accept-Encoding': 'identity',
        })
        answers.set(format, body.toString())
        const page = await rawGet(app, `${data}?format=${format}`)
        expect(page.body.toString()).toContain(format === 'csv' ? csvRow : row)
      }
      expect(Object.fromEntries(answers)).toEqual({
        json: `[${row},${nothing}]`,
        ndjson: `${row}\n${nothing}\n`,
        csv: `n,doc,tags,place\n1,"${doc.replaceAll('"', '""')}","[""x"",""ã""]","-1.5,2"\n2,,,\n`,
      })
      await close()
    },
  )
})

test.each([
  [
    'tags__has=' + 'x'.repeat(1001),
    'The parameter "tags__has" must be a text of at most 1000 characters, none of them NUL.',
  ],
  ['tags=a', 'The parameter "tags__eq" must be a list of texts as JSON, such as ["water", "soil, air"].'],
  [
    'doc=%7Ba%7D',
    'The parameter "doc__eq" must be JSON (RFC 8259), such as {"name": "Ana", "scores": [1, 2.50]}, written exactly as in the rows.',
  ],
  ...['1,2,3', 'a,b,c,d', '-181,0,0,0', '0,10,0,-10', '0,0,0,91', '0;0;0;0', '1e1,0,0,0'].map((box) => [
    `place__within=${box}`,
    'The parameter "place__within" must be four degrees separated by commas: west, south, east, north, such as -47,-24,-46,-23.',
  ]),
])('the condition %s is refused', async (query, message) => {
  const shop = shops[0]?.shop
  if (shop === undefined) throw new Error('no shop')
  const { app, close } = await serve(shop)
  const { body, status } = await rawGet(app, `${data}?${query}`)
  const { errors } = JSON.parse(body.toString()) as { errors: { message: string }[] }
  expect([status, errors.map((error) => error.message)]).toEqual([400, [message]])
  await close()
})

test.each<[string, ServiceOptions]>(
  sampled<[string, ServiceOptions]>([
    ['by codes', {}],
    ['by DuckDB', { codesBytesMax: 0 }],
  ]),
)('conditions on boxes and lists select the expected rows: %s', async (_how, options) => {
  const shop = await workshop(
    catalogAround([
      {
        name: 't',
        order: ['n asc'],
        filters: ['tags', 'place'],
        fields: ['n:integer', 'tags:list', 'place:point'].map(fieldOf),
      },
    ]),
    {
      'd/t.csv':
        'n,tags,place\n1,"[""a"",""b""]","0,179"\n2,"[""ab""]","0,-179"\n3,[],"10,0"\n4,,\n5,"[""x,"",""y""]",\n6,"[""y"","",""]",\n',
    },
  )
  await shop.ingest()
  const { app, close } = await serve(shop, options)
  const numbersOf = async (query: string): Promise<unknown[]> =>
    (await getPage(app, `${data}?${query}`)).results.map(({ n }) => n)
  expect(await numbersOf('tags__has=a')).toEqual([1])
  expect(await numbersOf('tags__has=b')).toEqual([1])
  expect(await numbersOf('tags__has=A')).toEqual([])
  expect(await numbersOf('tags__has=,')).toEqual([6])
  expect(await numbersOf('tags__has=y')).toEqual([5, 6])
  expect(await numbersOf('tags=%5B%5D')).toEqual([3])
  expect(await numbersOf('place__within=178,-1,-178,1')).toEqual([1, 2])
  expect(await numbersOf('place__within=-1,9.99,1,10')).toEqual([3])
  expect(await numbersOf('place=10.0,0')).toEqual([3])
  await close()
})
