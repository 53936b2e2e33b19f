import { rawGet, serve } from '../../support/service.ts'
import { partsOf, sheetsOf } from './workbook.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Excel workbooks: types of cells, headings, the sheet about the rows, and the most rows. */

const source = [
  'i,d,f,n,b,day,at,w,iso',
  '1,1234.50,1.5e-7,123456789012345,true,2020-02-25,2020-02-25 18:05:00,=1+1,2020-02-25',
  '-2,-0.05,2,1234567890123456,false,1900-02-28,1900-02-28 00:00:00,00123,2020-02-30',
  '3,99999999999999.99,,,,1900-03-01,2020-01-01 00:00:00.123,"a & <b>",1899-01-01',
  '4,,10.25,-999999999999999,true,9999-12-31,2020-01-01 12:00:00.000001,"_x0041_ \u0001\r\nx",',
  `5,0.00,0,0,false,,,${'é'.repeat(20_000)},x`,
  '6,1.00,1,1,true,2020-02-29,2020-02-29 23:59:59.999,,2020-02-29',
  '',
].join('\n')

const rows = [
  [1, 1234.5, 1.5e-7, 123_456_789_012_345, true, 43_886, Number('43886.753472222222'), '=1+1', 43_886],
  [-2, -0.05, 2, '1234567890123456', false, '1900-02-28', '1900-02-28T00:00:00', '00123', '2020-02-30'],
  [3, '99999999999999.99', null, null, null, 61, Number('43831.000001423611'), 'a & <b>', '1899-01-01'],
  [
    4,
    null,
    10.25,
    -999_999_999_999_999,
    true,
    2_958_465,
    '2020-01-01T12:00:00.000001',
    '_x0041_ ␁\r\nx',
    null,
  ],
  [5, 0, 0, 0, false, null, null, `${'é'.repeat(16_000)} [cut: 20000 characters]`, 'x'],
  [6, 1, 1, 1, true, 43_890, Number('43890.999999988426'), null, 43_890],
]

async function shopOf(packed: boolean): Promise<Workshop> {
  const fields = [
    { name: 'i', type: 'integer', title: { pt: 'Número', en: 'Number' } },
    {
      ...fieldOf('d:decimal:18:2'),
      title: { pt: 'Valor', en: 'Amount' },
      unit: 'R$',
      description: 'What was paid.',
    },
    ...['f:float', 'n:integer', 'b:bool', 'day:date', 'at:datetime', 'w:text'].map(fieldOf),
    { name: 'iso', type: 'string', kind: 'date', title: { pt: 'Número', en: 'Number' } },
  ]
  const shop = await workshop(catalogAround([{ name: 't', order: ['i'], packed, fields, excel_rows: 6 }]), {
    'd/t.csv': source,
  })
  await shop.ingest()
  return shop
}

test.each([true, false])('cells have the types of their values (row store: %s)', async (packed) => {
  const { app, close } = await serve(await shopOf(packed))
  for (const address of ['data/?', 'export/?', 'data/?i__lt=7&', 'export/?ordering=i&']) {
    const { status, body } = await rawGet(app, `/api/v1/dataset/d/t/${address}format=xlsx`)
    const { Dados: [, ...rowsBelow] = [] } = await sheetsOf(body)
    // Positive numbers are not in front of the negative one, by which the rows are in order.
    expect([status, rowsBelow.toSorted(([a], [b]) => Math.abs(Number(a)) - Math.abs(Number(b)))]).toEqual([
      200,
      rows,
    ])
  }
  await close()
})

describe('a workbook', () => {
  let service: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    service = await serve(await shopOf(true))
  })
  const get = async (address: string) => rawGet(service.app, address)

  test('has titles with units in the language of the page, and describes its rows', async () => {
    const { body, headers } = await get('/en/dataset/d/t/rows.xlsx?i__gt=4&fields=d,i')
    const { Data: data, About: aboutRows = [] } = await sheetsOf(body)
    expect(data).toEqual([
      ['Amount (R$)', 'Number'],
      [0, 5],
      [1, 6],
    ])
    const facts: Record<string, unknown> = Object.fromEntries(
      aboutRows.map(([label, ...texts]) => [label, texts]),
    )
    const page = 'http://localhost:8000/en/dataset/d/t/?fields=d%2Ci&i__gt=4'
    expect(facts).toMatchObject({
      Query: ['Number is greater than 4'],
      Address: [page],
      Rows: ['2'],
      Version: [headers['acervo-snapshot']],
      'Published on': ['2026-01-02'],
      'Amount (R$)': ['What was paid.', 'R$', 'd'],
      Number: ['', '', 'i'],
    })
    const version = new URLSearchParams({ snapshot: String(headers['acervo-snapshot']) }).toString()
    expect(facts['How to cite']).toEqual([
      `N (2020). t (D), Number is greater than 4, version of Jan 2, 2026. ${page}&${version}. N.`,
    ])
    expect([headers['content-disposition'], headers['acervo-count']]).toEqual([
      expect.stringMatching(/^attachment; filename="d-t-.*\.xlsx"$/),
      '2',
    ])
  })

  test('describes the titles of values, which cells keep', async () => {
    const valueTitles = {
      city: { pt: 'município', en: 'municipality' },
      state: { pt: 'estado', en: 'state' },
    }
    const shop = await workshop(
      catalogAround([
        {
          name: 't',
          order: ['level'],
          fields: [{ name: 'level', type: 'string', value_titles: valueTitles }],
        },
      ]),
      { 'd/t.csv': 'level\ncity\nstate\n' },
    )
    await shop.ingest()
    const { body } = await rawGet((await serve(shop)).app, '/en/dataset/d/t/rows.xlsx')
    const { Data: data, About: aboutRows = [] } = await sheetsOf(body)
    expect([data, aboutRows.at(-1)]).toEqual([
      [['level'], ['city'], ['state']],
      ['level', 'city = municipality; state = state', '', 'level'],
    ])
  })

  test('has Portuguese headings by default, with field names in brackets where titles are equal', async () => {
    const { body } = await get('/api/v1/dataset/d/t/data/?format=xlsx&page_size=1')
    const { Dados: [head] = [] } = await sheetsOf(body)
    expect(head).toEqual(['Número [i]', 'Valor (R$)', 'f', 'n', 'b', 'day', 'at', 'w', 'Número [iso]'])
  })

  test('of groups has the titles of its terms and measures', async () => {
    const { body } = await get(
      '/api/v1/dataset/d/t/aggregate/?format=xlsx&group=day__year&measure=d__sum,d__avg,n__count,rows&ordering=day__year',
    )
    const { Dados: [head, first] = [] } = await sheetsOf(body)
    expect([head, first]).toEqual([
      ['Ano', 'Soma de valor (R$)', 'Média de valor (R$)', 'Número de valores de n', 'Linhas'],
      [1900, '99999999999999.94', '49999999999999.97', 1, 2],
    ])
  })

  test('has frozen headings, filters, and formats of days and amounts', async () => {
    const { body } = await get('/api/v1/dataset/d/t/data/?format=xlsx')
    const parts = await partsOf(body)
    const sheet = parts['xl/worksheets/sheet1.xml'] ?? ''
    expect(sheet).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>')
    expect(sheet).toContain('<autoFilter ref="A1:I7"/>')
    const styles = [...(parts['xl/styles.xml'] ?? '').matchAll(/formatCode="([^"]*)"/g)].map(
      ([, code]) => code,
    )
    const styleOf = (value: string): string | undefined =>
      styles[Number(new RegExp(`s="(\\d+)"><v>${value}<`).exec(sheet)?.[1])]
    expect([styleOf('43886'), styleOf('1234.50'), styleOf('123456789012345')]).toEqual([
      'yyyy-mm-dd',
      '#,##0.00',
      '0',
    ])
    expect(sheet).not.toContain('<f>')
  })

  test('has the same bytes each time, and another ETag in another language', async () => {
    const addresses = ['/en/dataset/d/t/rows.xlsx', '/en/dataset/d/t/rows.xlsx', '/pt/dataset/d/t/rows.xlsx']
    const [first, again, second] = await Promise.all(addresses.map(get))
    expect([first?.body.equals(again?.body ?? Buffer.of()), first?.headers['etag']]).toEqual([
      true,
      again?.headers['etag'],
    ])
    expect(second?.headers['etag']).not.toBe(first?.headers['etag'])
  })
})

test('more rows than a workbook allows are refused, with the addresses of downloads that have all rows', async () => {
  const shop = await workshop(
    catalogAround([{ name: 't', order: ['i'], fields: [fieldOf('i:integer')], excel_rows: 2 }]),
    {
      'd/t.csv': 'i\n1\n2\n3\n',
    },
  )
  await shop.ingest()
  const { app, close } = await serve(shop)
  const { status, body } = await rawGet(app, '/api/v1/dataset/d/t/export/?format=xlsx')
  const { detail } = JSON.parse(body.toString()) as { detail: string }
  expect(status).toBe(422)
  expect(detail).toMatch(
    /^The query has 3 rows, but a workbook may have at most 2: add a condition, or download CSV at \S+\/export\/\?format=csv, or the whole table as Parquet at \S+\.parquet\.$/,
  )
  for (const address of detail.match(/http:\S+(?=[,.](?: |$))/g) ?? []) {
    const { pathname, search } = new URL(address)
    expect((await rawGet(app, pathname + search)).status).toBe(200)
  }
  for (const refused of [
    '/en/dataset/d/t/rows.xlsx',
    '/api/v1/dataset/d/t/data/?format=xlsx',
    '/api/v1/dataset/d/t/aggregate/?format=xlsx&group=i',
  ])
    expect([refused, (await rawGet(app, refused)).status]).toEqual([refused, 422])
  expect((await rawGet(app, '/api/v1/dataset/d/t/export/?format=xlsx&i__lt=3')).status).toBe(200)
  await close()
})
