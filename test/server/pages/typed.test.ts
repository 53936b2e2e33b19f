import { textIn, unescaped } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** People type into filters the values that the page in their language shows. */

const fields = [
  'id:integer',
  'whole:integer',
  'price:decimal:12:2',
  'ratio:float',
  'ok:bool',
  'day:date',
  'moment:datetime',
  'hour:time',
  'name:string',
  'share:decimal:20:16',
  'level:string',
]
/** Titles of the values of the field `level`. */
const levels = { s: { en: 'State', pt: 'Estado' }, c: { en: 'City', pt: 'Município' } }
const rows = [
  [
    1,
    -1234567,
    '20.90',
    1.5,
    true,
    '2024-03-01',
    '2024-03-01 10:00:00.5',
    '10:00:00',
    'São Paulo',
    '100',
    's',
  ],
  [2, 0, '-0.05', -2500000.25, false, '0020-12-31', '1999-12-31 23:59:59', '23:59:59', '', '0.5', 'c'],
  [3, 7, '1234567.00', 1e-7, true, '2020-02-29', '2020-02-29 00:00:00', '00:00:00', 'a, "b"', '20.0625', 's'],
]
/** With so many values a field has no list to choose from, but inputs. */
const others = Array.from({ length: 120 }, (_, n) => [
  n + 4,
  n,
  `-${n + 1}.50`,
  n / 8,
  '-',
  '-',
  '-',
  '-',
  `n${n}`,
  n / 4,
  '-',
])

let service: Service
beforeAll(async () => {
  const declared = fields.map((field) =>
    field.startsWith('level') ? { ...fieldOf(field), value_titles: levels } : fieldOf(field),
  )
  const table = { name: 't', order: ['id'], fields: declared, source: { nulls: ['-'] } }
  const lines = [...rows, ...others].map((row) =>
    row.map((cell) => `"${String(cell).replaceAll('"', '""')}"`).join(),
  )
  const few = {
    name: 'few',
    order: ['id'],
    filters: ['id', 'day'],
    fields: [
      fieldOf('id:integer'),
      { ...fieldOf('day:date'), title: { en: 'Day', pt: 'Dia' } },
      { ...fieldOf('price:decimal:12:2'), title: { en: 'Price', pt: 'Preço' } },
    ],
  }
  const shop = await workshop(catalogAround([table, few, { ...few, name: 'none' }]), {
    'd/few.csv': 'id,day,price\n1,2024-03-01,20.90\n',
    'd/t.csv': `${fields.map((field) => field.split(':')[0]).join()}\n${lines.join('\n')}\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('it was not published')
  service = await serve(shop)
})

async function page(target: string): Promise<{ status: number; markup: string }> {
  const { status, body } = await rawGet(service.app, target, { Accept: 'text/html' })
  return { status, markup: body.toString() }
}

/** The cells of each row of a page. */
function cellsOf(markup: string): string[][] {
  return [...markup.matchAll(/<tr>\s*<th scope="row">(.*?)<\/tr>/gs)].map(([, line = '']) =>
    [...line.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(
      // A picker of days takes a date, and not the words of the page.
      ([, cell = '']) => /<time datetime="([^"]*)"/.exec(cell)?.[1] ?? textIn(cell),
    ),
  )
}

describe.each(['en', 'pt'] as const)('on pages in %s,', (language) => {
  const at = `/${language}/dataset/d/t/`

  test('a value finds its row if a reader types it as the page shows it', async () => {
    const { markup } = await page(at)
    const shown = cellsOf(markup).slice(0, rows.length)
    expect(shown).toHaveLength(rows.length)
    for (const [index, cells] of shown.entries()) {
      for (const [place, cell] of cells.entries()) {
        const [name = '', type] = fields[place]?.split(':') ?? []
        // An empty text is typed as "".
        const text = cell === '' ? '""' : cell
        const range: [string, string][] = [
          [`${name}__gte`, cell],
          [`${name}__lte`, cell],
        ]
        const isRange = type !== 'bool' && cell !== ''
        for (const query of [[[name, text]], ...(isRange ? [range] : [])] as [string, string][][]) {
          const content = await page(`${at}?${new URLSearchParams(query).toString()}`)
          expect([query, content.status, cellsOf(content.markup).map(([id]) => id)]).toEqual([
            query,
            200,
            expect.arrayContaining([String(rows[index]?.[0])]),
          ])
        }
      }
    }
  })

  test('a float without a fraction is shown without zeros', async () => {
    const { markup } = await page(`${at}?id=12`)
    expect(cellsOf(markup)[0]?.[3]).toBe('1')
  })

  test('values with titles are shown as their titles, while programs get the values', async () => {
    const [state, city] = language === 'pt' ? ['Estado', 'Município'] : ['State', 'City']
    const { markup } = await page(at)
    expect(cellsOf(markup).map((cells) => cells.at(-1))).toEqual(expect.arrayContaining([state, city]))
    const filtered = (await page(`${at}?level=s`)).markup
    expect(textIn(filtered).replaceAll(/\s+/g, ' ')).toMatch(new RegExp(`level (is|é) ${state}`))
    const chart = (await page(`${at}chart/?group=level&measure=rows`)).markup
    expect(textIn(chart)).toContain(city)
    const { body } = await rawGet(service.app, '/api/v1/dataset/d/t/data/?level=s&fields=level')
    expect(JSON.parse(body.toString())).toMatchObject({ count: 2, results: [{ level: 's' }, { level: 's' }] })
  })

  test('a filter shows its value as the reader typed it, so that the form can be sent again', async () => {
    const price = language === 'pt' ? '20,90' : '20.90'
    const { markup } = await page(`${at}?price__gte=${price}`)
    const [, value] = /name="price__gte"[^>]*value="([^"]*)"/.exec(markup.replaceAll(/\s+/g, ' ')) ?? []
    expect(value).toBe(price)
    expect(cellsOf(markup).map(([id]) => id)).toEqual(['1', '3'])
  })

  test('an error page keeps the typed values, and explains the right values in the language of the page', async () => {
    const { status, markup } = await page(`${at}?price__gte=20x&name=S%C3%A3o+Paulo&nope=1`)
    expect(status).toBe(400)
    const inputs = [
      ...markup.replaceAll(/\s+/g, ' ').matchAll(/<input id="asked-\d+" name="([^"]*)" value="([^"]*)"/g),
    ]
    expect(inputs.map(([, name, value]) => [name, value])).toEqual([
      ['price__gte', '20x'],
      ['name', 'São Paulo'],
    ])
    const text = textIn(markup).replaceAll(/\s+/g, ' ')
    const [said, unknown] =
      language === 'pt'
        ? [
            'price deve ser um número, como 20,90.',
            'O endereço tem o filtro “nope”, que esta tabela não tem.',
          ]
        : [
            'price must be a number, such as 20.90.',
            'The address has the filter “nope”, which this table does not have.',
          ]
    expect(text).toContain(said)
    expect(text).toContain(language === 'pt' ? 'price a partir de …' : 'price is … or greater')
    expect(text).toContain(unknown)
    expect([language, text.includes('The parameter')]).toEqual([language, false])
  })

  test.each<[target: string, said: { readonly en: string; readonly pt: string }]>([
    [
      '?price__gte=20',
      {
        en: 'This table has no filter by Price. Its filters: id, Day.',
        pt: 'Esta tabela não filtra por Preço. Ela filtra por: id, Dia.',
      },
    ],
    ['?ordering=nope', { en: 'Order: this table has no “nope”.', pt: 'Ordem: esta tabela não tem “nope”.' }],
    [
      'chart/?group=nope',
      { en: 'Group by: this table has no “nope”.', pt: 'Agrupar por: esta tabela não tem “nope”.' },
    ],
    [
      'chart/?group=id&measure=nope',
      { en: 'Measure: this table has no “nope”.', pt: 'Medida: esta tabela não tem “nope”.' },
    ],
  ])(
    '%s names what the table lacks, with links to the table and no input that repeats the error',
    async (target, said) => {
      const { status, markup } = await page(`/${language}/dataset/d/few/${target}`)
      expect([status, textIn(markup).replaceAll(/\s+/g, ' ')]).toEqual([
        400,
        expect.stringContaining(said[language]),
      ])
      expect(markup).toContain(`<a href="/${language}/dataset/d/few/">few</a>`)
      expect(markup).not.toMatch(/value="(nope|20)"/)
    },
  )

  test('a page without matching rows says so, and links to all rows', async () => {
    const { status, markup } = await page(`/${language}/dataset/d/few/?id=2`)
    const [notice = ''] = /<div class="notice".*?<\/div>/s.exec(markup) ?? []
    expect([status, /href="([^"]*)"/.exec(notice)?.[1], markup.includes('<table')]).toEqual([200, '?', false])
    expect(textIn(notice)).toContain(language === 'pt' ? 'Nenhuma linha encontrada.' : 'No row matches.')
  })

  test.each([
    ['row/99/', 404],
    ['row/0/', 404],
    ['row/abc/', 404],
    ['row/99/?snapshot=current', 404],
  ])('the address of no row leads to its table: %s', async (target, expected) => {
    const { status, markup } = await page(`/${language}/dataset/d/few/${target}`)
    expect([status, textIn(/<h1>.*?<\/h1>/s.exec(markup)?.[0] ?? '')]).toEqual([
      expected,
      language === 'pt' ? 'A tabela não tem essa linha' : 'The table has no such row',
    ])
    expect(markup).toContain(`<p><a href="/${language}/dataset/d/few/">few</a></p>`)
    expect(markup).not.toMatch(/href="\?"/)
  })

  test('the page of an unpublished table leads to its dataset, where readers subscribe', async () => {
    const { status, markup } = await page(`/${language}/dataset/d/none/`)
    expect([status, textIn(markup)]).toEqual([
      503,
      expect.stringContaining(
        language === 'pt' ? 'Assine na página do conjunto' : 'subscribe to know when they are',
      ),
    ])
    expect(markup).toMatch(new RegExp(`<p><a href="/${language}/dataset/d/">`))
    expect(textIn(markup)).not.toMatch(/60 s/)
  })

  test('an error page has the same address in the other language', async () => {
    const target = '/dataset/d/few/?page=99&id__gt=0'
    const { markup } = await page(`/${language}${target}`)
    const otherLanguage = language === 'pt' ? 'en' : 'pt'
    expect(unescaped(markup)).toContain(`href="/${otherLanguage}${target}"`)
  })

  test('no page for people has sentences in another language, or commands for operators', async () => {
    for (const target of [
      '/dataset/nope/',
      '/dataset/d/nope/',
      '/dataset/d/t/?page=99',
      '/dataset/d/t/?snapshot=x',
    ]) {
      const { status, markup } = await page(`/${language}${target}`)
      expect(status).toBeGreaterThanOrEqual(400)
      expect([target, /make ingest/.test(markup)]).toEqual([target, false])
      expect([target, language === 'pt' && /<p lang="en">/.test(markup)]).toEqual([target, false])
    }
  })
})

test.each([
  ['en', '1,234,567.00', ['3']],
  ['en', '1234567', ['3']],
  ['pt', '1.234.567,00', ['3']],
  ['pt', '1234567.00', ['3']],
  ['pt', ' 20,90 ', ['1']],
  // A fraction as the API writes it.
  ['pt', '20.90', ['1']],
])('a number is read as people write it in the language %s: %s', async (language, text, ids) => {
  const query = new URLSearchParams({ price: text })
  const { status, markup } = await page(`/${language}/dataset/d/t/?${query.toString()}`)
  expect([status, cellsOf(markup).map(([id]) => id)]).toEqual([200, ids])
})

test('a decimal is shown without final zeros after the point, and 100 keeps its zeros, also in a condition', async () => {
  const { markup } = await page('/en/dataset/d/t/?share__gte=100')
  expect(cellsOf(markup).map((cells) => cells.at(-2))).toEqual(['100'])
  expect(textIn(markup)).toContain('share is 100 or greater')
})

test('the form of a text has the value that the filter is equal to, so that another one replaces it', async () => {
  const { markup } = await page('/en/dataset/d/t/?name=n7&whole__in=10,9')
  expect(markup).toMatch(/<input\s+id="f-name"\s+name="name"\s+value="n7"/)
  const form = markup.slice(markup.indexOf('class="filters"'))
  expect(form.slice(0, form.indexOf('</form>'))).not.toContain('type="hidden" name="name"')
  // Numbers are in the order of numbers, and the nulls of all rows are not counted for a filter.
  const text = textIn(markup)
  expect(text).toContain('whole is one of 9 or 10')
  expect([
    /ok has no value(?! \()/.test(text),
    /ok has no value \(120\)/.test(textIn((await page('/en/dataset/d/t/')).markup)),
  ]).toEqual([true, true])
  // A filter that the input cannot show stays.
  const { markup: empty } = await page('/en/dataset/d/t/?name=%22%22')
  const emptyForm = empty.slice(empty.indexOf('class="filters"'))
  expect(emptyForm.slice(0, emptyForm.indexOf('</form>'))).toContain('type="hidden" name="name"')
  const { markup: contains } = await page('/en/dataset/d/t/?name__contains=n7')
  expect(contains).toMatch(/<input\s+id="f-name"\s+name="name__contains"\s+value="n7"/)
})

test('a chart can be grouped by a text with many values', async () => {
  const names = Array.from({ length: 300 }, (_, n) => `${n % 2},city ${n % 250}`)
  const table = {
    name: 't',
    order: ['kind'],
    filters: ['kind', 'city'],
    fields: ['kind:string', 'city:string'].map(fieldOf),
  }
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': `kind,city\n${names.join('\n')}\n` })
  await shop.ingest()
  const { app } = await serve(shop)
  const { body } = await rawGet(app, '/en/dataset/d/t/chart/', { Accept: 'text/html' })
  expect(body.toString()).toContain('<option>city</option>')
})
