import { formsIn, rowCountOn, textIn, unescaped } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Names and values that addresses and forms could take for others. */

const rows = [
  ['None', 'A  B', '1.0', '2024-01-01 10:00:00.75', '0020-05-05', 'x'],
  ['None', ' A B', '1.0', '2024-01-01 10:00:00', '0020-05-06', 'y'],
  ['last', 'A B', '2.5', '2024-01-02 23:59:59.999999', '1920-01-01', ''],
  ['2', 'A B ', '', '', '', 'true'],
  ['2', 'a,"b"', '2.5', '2024-03-01 00:00:00', '9999-12-31', 'x'],
  // The first moments of a day and of a year, next to others of those before.
  ['last', 'A B', '3.5', '2024-01-02 00:00:00', '1921-01-01', 'y'],
]
const names = ['search', 'white', 'page', 'time', 'day', 'fields']

/** A line of CSV with each cell in quotes. */
function quoted(cells: readonly string[]): string {
  return cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')
}

let service: Service
beforeAll(async () => {
  const types = ['string', 'string', 'float', 'datetime', 'date', 'string']
  const fields = names.map((name, index) => fieldOf(`${name}:${types[index] ?? ''}`))
  const catalog = catalogAround([
    { name: 't', order: ['time'], fields, source: { nulls: [''] } },
    { name: 'empty', order: [], fields: [fieldOf('a:string')], filters: [], search: [], may_be_empty: true },
  ])
  const shop = await workshop(catalog, {
    'd/t.csv': [names.join(','), ...rows.map(quoted), ''].join('\n'),
    'd/empty.csv': 'a\n',
  })
  await shop.ingest()
  service = await serve(shop)
})

async function page(target: string): Promise<string> {
  let { status, headers, body } = await rawGet(service.app, target, { Accept: 'text/html' })
  if (status === 303) {
    const { pathname, search } = new URL(String(headers['location']), `http://localhost${target}`)
    ;({ status, headers, body } = await rawGet(service.app, pathname + search, { Accept: 'text/html' }))
  }
  expect([target, status]).toEqual([target, 200])
  return body.toString()
}

const shownOn = (markup: string): number => Number(rowCountOn(markup) ?? 0)

/** Returns the chips of a page. */
function chipsOf(text: string): string[] {
  return [...text.matchAll(/<span>([^<]*)<\/span>\s*<a[^>]*aria-label="Remove/g)].map(([, said = '']) => said)
}

test.each<[query: string, exchanged: string]>([
  ['day__gte=2000-01-01&day__lte=1920-01-01', 'day__gte=1920-01-01&day__lte=2000-01-01'],
  ['page__gt=3&page__lt=1.5&white=A+B', 'page__gt=1.5&page__lt=3&white=A+B'],
  // As texts, 10 would be before 2.
  ['page__gte=2&page__lte=10', ''],
  ['day__gte=1920-01-01&day__lte=1920-01-01', ''],
])(
  'the page of the range %s offers to exchange its ends only if it ends before it begins',
  async (query, exchanged) => {
    const markup = await page(`/en/dataset/d/t/?${query}`)
    const [, link = ''] = /<a href="([^"]*)">Exchange its ends/.exec(markup) ?? []
    const address = unescaped(link)
    expect(new URLSearchParams(address.slice(1)).toString()).toBe(exchanged)
    // A range has rows either as it is or with its ends exchanged.
    expect([shownOn(markup) > 0, shownOn(await page(`/en/dataset/d/t/${address}`)) > 0]).toEqual([
      exchanged === '',
      true,
    ])
  },
)

describe('pages of odd names and values', () => {
  const at = '/en/dataset/d/t/'

  test('every frequent value and every bar leads to the stated number of rows', async () => {
    const markup = await page(at)
    const values = [...markup.matchAll(/<a href="([^"]*)" title="[^"]*: (\d+) rows?"/g)]
    const bars = [...markup.matchAll(/<a href="([^"]*)"><title>[^<]*: (\d+) rows?<\/title/g)]
    expect(values.length).toBeGreaterThan(10)
    for (const [, link = '', count] of [...values, ...bars]) {
      const { pathname, search } = new URL(unescaped(link), `http://localhost${at}`)
      expect([search, shownOn(await page(pathname + search))]).toEqual([search, Number(count)])
    }
  })

  test('every choice of every field shows its rows, and stays chosen', async () => {
    const [form] = formsIn(await page(at))
    const boxes = form?.controls.filter(({ name }) => name.endsWith('__in')) ?? []
    expect([...new Set(boxes.map(({ name }) => name))]).toEqual([
      'search__in',
      'white__in',
      'page__in',
      'fields__in',
    ])
    for (const { name, value: text } of boxes) {
      const place = names.indexOf(name.replace('__in', ''))
      const value = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text
      const due = rows.filter(
        (row) => row[place] === value || Number(row[place] || 'none') === Number(value),
      ).length
      const markup = await page(`${at}?${new URLSearchParams([[name, text]]).toString()}`)
      const [again] = formsIn(markup)
      const chosen = again?.controls
        .filter((control) => control.isChecked)
        .map((control) => [control.name, control.value])
      expect([name, text, shownOn(markup), chosen]).toEqual([name, text, due, [[name, text]]])
    }
  })

  test.each([
    'time__gte=2024-01-01T10:00:00.5',
    'time__lte=2024-01-02T23:59:59',
    'day__gte=0020-05-06&day__lte=1950-01-01',
    'search__eq=None',
    'search__eq=nobody',
    'page__eq=2.5&white__in=A B,last',
    'fields__isnull=true',
    'search=true',
    'snapshot=current&ordering=-day&fields=day',
  ])('a form that is sent unchanged shows the same rows: %s', async (query) => {
    const markup = await page(`${at}?${new URLSearchParams(query).toString()}`)
    const [form] = formsIn(markup)
    const sent = (form?.controls ?? [])
      .filter(({ kind, isChecked }) => kind !== 'checkbox' || isChecked)
      .map(({ name, kind, value, chosen }): [string, string] => [name, kind === 'choice' ? chosen : value])
    const again = await page(`${at}?${new URLSearchParams(sent).toString()}`)
    expect([shownOn(again), chipsOf(again)]).toEqual([shownOn(markup), chipsOf(markup)])
  })

  test.each(['day', 'time', 'search', 'white', 'page'])(
    'every value of a chart by %s leads to its rows',
    async (by) => {
      const markup = await page(`${at}chart/?group=${by}`)
      const lines = [
        ...markup.matchAll(
          /<tr>(?:(?!<\/tr>).)*?<a\s+href="([^"]*)"(?:(?!<\/tr>).)*?<td class="number">(\d+)</gs,
        ),
      ]
      expect(lines.length).toBeGreaterThan(1)
      for (const [, link = '', count] of lines)
        expect([link, shownOn(await page(textIn(link)))]).toEqual([link, Number(count)])
    },
  )
})

test.each(['', 'chart/', 'fields/', 'api/', 'sql/'])(
  'a table without rows, filters or search has its page %s',
  async (end) => {
    expect(await page(`/en/dataset/d/empty/${end}`)).toContain('empty')
  },
)

test('in a table without rows, the page of the first row is a 404', async () => {
  const { status } = await rawGet(service.app, '/en/dataset/d/empty/row/1/', { Accept: 'text/html' })
  expect(status).toBe(404)
})
