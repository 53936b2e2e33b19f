import { textIn } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Pages of a table with default columns: they are the columns of the table page and its frame. */

let service: Service
beforeAll(async () => {
  const fields = ['id:integer', 'name:string', 'amount:decimal:10:2', 'day:date', 'code:string'].map(
    (text) => ({
      ...fieldOf(text),
      ...(text.startsWith('amount') && { unit: '$' }),
    }),
  )
  const table = {
    name: 't',
    key: ['id'],
    order: ['id'],
    filters: ['id'],
    fields,
    default_columns: ['amount', 'name'],
  }
  const shop = await workshop(catalogAround([table]), {
    'd/t.csv': 'id,name,amount,day,code\n1,Ana,10.50,2020-02-25,007\n2,Bia,3.00,2020-02-26,008\n',
  })
  await shop.ingest()
  service = await serve(shop)
})
afterAll(async () => service.close())

async function pageAt(path: string): Promise<string> {
  const { status, body } = await rawGet(service.app, path, { Accept: 'text/html' })
  expect(status).toBe(200)
  return body.toString()
}

/** Returns the texts of the cells in each line of the table of rows. */
function linesOf(page: string): string[][] {
  const [, table = ''] = /<div class="scroll grid".*?<tbody>(.*?)<\/tbody>/s.exec(page) ?? []
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, line = '']) =>
    [...line.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => textIn(cell).trim()),
  )
}

test.each([
  [
    'the default columns in their order',
    '',
    [
      ['10.50', 'Ana'],
      ['3.00', 'Bia'],
    ],
  ],
  [
    'the columns of the query',
    '?fields=code,id',
    [
      ['1', '007'],
      ['2', '008'],
    ],
  ],
])('the page and the frame of a table show %s', async (_what, query, due) => {
  expect(linesOf(await pageAt(`/en/dataset/d/t/${query}`))).toEqual(due)
  expect(linesOf(await pageAt(`/en/embed/d/t/${query}`))).toEqual(due)
})

test('a frame says which rows it has', async () => {
  const text = textIn(await pageAt('/en/embed/d/t/?id=2')).replaceAll(/\s+/g, ' ')
  expect(text).toContain('id is 2 amount $ name 3.00Bia 1 row')
  const short = textIn(await pageAt('/en/embed/d/t/?page_size=1')).replaceAll(/\s+/g, ' ')
  expect(short).toContain('1 of 2 rows')
})

test('the page of a row shows every field with its own value', async () => {
  const [, link = ''] = /href="(row\/2\/[^"]*)"/.exec(await pageAt('/en/dataset/d/t/')) ?? []
  const page = await pageAt(`/en/dataset/d/t/${link}`)
  expect(textIn(page)).toContain('$\u00A03.00')
  expect(/<p class="lead">(.*?)<\/p>/.exec(page)?.[1]).toBe('2')
  const values = [...page.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)].map(
    ([, name = '', value = '']) => [textIn(name).trim().split(/\s/)[0], textIn(value).trim()],
  )
  expect(Object.fromEntries(values)).toMatchObject({
    id: '2',
    name: 'Bia',
    amount: '$\u00A03.00',
    day: expect.stringContaining('2020') as unknown,
    code: '008',
  })
})

test('code examples and downloads have all columns, not only the default ones', async () => {
  const api = await pageAt('/en/dataset/d/t/api/')
  const codes = [...api.matchAll(/<pre[^>]*>\s*<code[^>]*>(.*?)<\/code>/gs)].map(([, code = '']) =>
    textIn(code),
  )
  const duckdb = codes.find((code) => code.includes('FROM read_csv(')) ?? ''
  expect(duckdb).toContain(
    "types = {'id': 'BIGINT', 'name': 'VARCHAR', 'amount': 'DECIMAL(10,2)', 'day': 'DATE', 'code': 'VARCHAR'}",
  )
  const page = await pageAt('/en/dataset/d/t/')
  const [, csv = ''] = /href="[^"]*(\/api\/v1[^"]*\/export\/[^"]*format=csv)"/.exec(page) ?? []
  const { body } = await rawGet(service.app, csv.replaceAll('&amp;', '&'))
  expect(body.toString().split('\n')[0]).toBe('id,name,amount,day,code')
})

test('the API tab has code for the snapshot of the page, and is a 410 if that snapshot is no longer kept', async () => {
  const [, tab = ''] =
    /href="([^"]*\/api\/[^"]*)"/.exec(await pageAt('/en/dataset/d/t/?snapshot=current')) ?? []
  const [, id = ''] = /row\/1\/\?snapshot=([\w-]+)/.exec(await pageAt('/en/dataset/d/t/')) ?? []
  const pinned = await pageAt(`/en/dataset/d/t/api/?snapshot=${id}`)
  expect([tab.includes('/api/'), textIn(pinned).includes(`format=csv&snapshot=${id}`)]).toEqual([true, true])
  const gone = await rawGet(service.app, `/en/dataset/d/t/api/?snapshot=20200101T000000Z-000000000000`, {
    Accept: 'text/html',
  })
  expect(gone.status).toBe(410)
})

test('the citation names the search', async () => {
  expect(textIn(await pageAt('/en/dataset/d/t/?search=Ana'))).toMatch(/t \(d[^)]*\), Search[^.]*: Ana/i)
})
