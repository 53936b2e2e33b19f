import { rawGet, serve, type Service } from '../../support/service.ts'
import { formsIn, unescaped } from './markup.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/** Charts of a second term: stacked columns, compared lines, and a small line for each state. */

const ufs = ['SP', 'RJ', 'BA', 'AM', 'AC', 'RS', 'PE', 'GO']
const days = ['2024-03-01', '2024-03-02', '2024-03-04']

let service: Service
beforeAll(async () => {
  const lines = ufs.flatMap((uf, index) =>
    days.map((day, at) => `${day},${uf},"${index % 2 === 0 ? 'a, b' : 'c'}",${(index + 1) * (at + 1)}`),
  )
  const table = {
    name: 't',
    order: ['day', 'uf'],
    search: ['place'],
    filters: ['day', 'uf', 'place'],
    measures: ['n'],
    fields: [
      { name: 'day', type: 'date' },
      { name: 'uf', type: 'string', kind: 'uf' },
      { name: 'place', type: 'string' },
      { name: 'n', type: 'integer' },
    ],
  }
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': `day,uf,place,n\n${lines.join('\n')}\n` })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('not published')
  service = await serve(shop)
})

async function got(path: string): Promise<{ status: number; text: string; location: unknown }> {
  const { status, headers, body } = await rawGet(service.app, path, { Accept: 'text/html' })
  return { status, text: body.toString(), location: headers['location'] }
}

const svgOf = async ({ app }: Pick<Service, 'app'>, query: string): Promise<string> =>
  (await rawGet(app, `/en/dataset/d/t/chart.svg?${query}`)).body.toString()

const drawing = async (query: string): Promise<string> =>
  (await got(`/en/dataset/d/t/chart.svg?${query}&measure=n__sum`)).text

/** Numbers of the lines and of the areas of a drawing, by class. */
function shapesIn(svg: string): Record<string, number> {
  const classes = [...svg.matchAll(/ class="([ls]\d)"/g)].map(([, name = '']) => name)
  return Object.fromEntries(
    [...new Set(classes)].toSorted().map((name) => [name, classes.filter((item) => item === name).length]),
  )
}

test.each<[query: string, shapes: Record<string, number>]>([
  // One small line for each of eight states.
  ['group=day,uf', { l0: 8 }],
  // Compared values are lines, at most five of them, each with a square in the legend.
  ['group=day,uf&uf__in=SP,RJ', { l0: 1, l1: 1, s0: 1, s1: 1 }],
  [
    'group=day,uf&uf__in=SP,RJ,BA,AM,AC',
    { l0: 1, l1: 1, l2: 1, l3: 1, l4: 1, s0: 1, s1: 1, s2: 1, s3: 1, s4: 1 },
  ],
  // Six are stacked: a column of each day has a part and a legend of each.
  ['group=day,uf&uf__in=SP,RJ,BA,AM,AC,RS', { s0: 4, s1: 4, s2: 4, s3: 4, s4: 4, s5: 4 }],
  ['group=day,place', { s0: 4, s1: 4 }],
  ['group=day,place&place__in=%22a,%20b%22,c', { l0: 1, l1: 1, s0: 1, s1: 1 }],
])('%s is drawn with %j', async (query, shapes) => {
  expect(shapesIn(await drawing(query))).toEqual(shapes)
})

test('each small multiple ends its line at its last period and labels its greatest value', async () => {
  const svg = await drawing('group=day,uf')
  const states = [...svg.matchAll(/<title>([A-Z]{2}): (\d+)<\/title>.*?class="l0"/g)]
  expect(Object.fromEntries(states.map(([, uf, most]) => [uf, most]))).toEqual(
    Object.fromEntries(ufs.map((uf, index) => [uf, String(3 * (index + 1))])),
  )
  // A third of the way to the last day, at a third of its height, and so on.
  const [, line] = /SP: 3<\/title>.*?d="(M[^"]*L[^"]*)"/.exec(svg) ?? []
  expect(line).toBe('M0 55.3L50 38.7L150 22')
})

test('each small multiple of many periods draws its highest and its last value', async () => {
  const periods = Array.from({ length: 400 }, (_, at) => new Date(Date.UTC(2024, 0, 1 + at)))
  const lines = periods.flatMap((period, at) =>
    ufs.map((uf, index) => `${period.toISOString().slice(0, 10)},${uf},${at === 50 * index + 7 ? 999 : 1}`),
  )
  const table = {
    name: 't',
    order: ['day', 'uf'],
    measures: ['n'],
    fields: [fieldOf('day:date'), { name: 'uf', type: 'string', kind: 'uf' }, fieldOf('n:integer')],
  }
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': `day,uf,n\n${lines.join('\n')}\n` })
  await shop.ingest()
  const svg = await svgOf(await serve(shop), 'group=day,uf&measure=n__sum')
  const states = [...svg.matchAll(/<title>([A-Z]{2}): (\d+)<\/title>.*?d="M([\dL .]*)"[^>]*class="l0"/g)]
  const plotWidth = 150
  expect(
    states
      .toSorted(([, a = ''], [, b = '']) => ufs.indexOf(a) - ufs.indexOf(b))
      .map(([, uf, most, line = '']) => {
        const points = line.split('L').map((point) => point.split(' ').map(Number))
        const peaks = points.filter(([, y]) => y === 22).map(([x]) => x)
        return [uf, most, peaks, points.length < 150, points.at(-1)?.[0]]
      }),
  ).toEqual(
    ufs.map((uf, index) => {
      const x = Math.round(((50 * index + 7) / 399) * plotWidth * 10) / 10
      return [uf, '999', [x], true, plotWidth]
    }),
  )
})

test('the citation and the embedded frame of a chart name its conditions', async () => {
  const { text } = await got('/en/dataset/d/t/chart/?group=day&measure=n__sum&uf=RJ&place=c')
  const cited = /n by day: .*?, place is c, uf is RJ, version of /
  expect(text.replaceAll(/\s+/g, ' ')).toMatch(cited)
  expect(unescaped(text)).toMatch(/title="n by day, place is c, uf is RJ"/)
})

test.each([
  ['uf', ['RJ', 'SP'], 'RJ%2CSP'],
  ['place', ['"a, b"', 'c'], '%22a%2C+b%22%2Cc'],
])('people choose in the menu which values of %s the chart compares', async (name, chosen, list) => {
  const { text } = await got(`/en/dataset/d/t/chart/?group=day,${name}&measure=n__sum`)
  const form = formsIn(text).find(({ controls }) =>
    controls.some((control) => control.name === `${name}__in`),
  )
  const offered =
    form?.controls.filter((control) => control.name === `${name}__in`).map(({ value }) => value) ?? []
  expect(offered).toEqual(expect.arrayContaining(chosen))
  const sent = new URLSearchParams([
    ...(form?.controls ?? [])
      .filter(({ kind }) => kind === 'hidden')
      .map((control) => [control.name, control.value]),
    ...chosen.map((value) => [`${name}__in`, value]),
  ])
  const { status, location } = await got(`${form?.action ?? ''}?${sent.toString()}`)
  expect([status, location]).toEqual([
    303,
    `/en/dataset/d/t/chart/?group=day%2C${name}&measure=n__sum&${name}__in=${list}`,
  ])
  const compared = await got(String(location))
  const checked = [...compared.text.matchAll(/<input\s[^>]*value="([^"]*)"\s+checked/g)].map(
    ([, value = '']) => unescaped(value),
  )
  // The menu of filters has the same boxes.
  expect([compared.status, [...new Set(checked)].toSorted()]).toEqual([200, chosen.toSorted()])
})

test('a drawing names the conditions and the search that its rows match', async () => {
  expect(await drawing('group=day&uf=SP&search=b')).toContain('uf is SP and Search: b')
})

const numbersIn = (page: string): string[] =>
  [...page.matchAll(/<td class="number">(.*?)<\/td>/gs)].map(([, text = '']) => text.trim())

test('averages are rounded on pages, and have all digits in the API', async () => {
  const query = 'group=day&measure=n__avg&uf__in=SP,RJ,AC'
  expect(numbersIn((await got(`/en/dataset/d/t/chart/?${query}`)).text)).toEqual(['2.67', '5.33', '8'])
  const { body } = await rawGet(service.app, `/api/v1/dataset/d/t/aggregate/?${query}`)
  const { results } = JSON.parse(body.toString()) as { results: { n__avg: number }[] }
  expect(results[0]?.n__avg).toBeCloseTo(8 / 3, 6)
})

test('two periods are drawn as bars, and their sums and averages are rounded in the same way', async () => {
  const fields = ['year:integer', 'money:decimal:14:2', 'rate:float'].map(fieldOf)
  const table = { name: 't', order: ['year'], time: 'year', measures: ['money'], fields }
  const shop = await workshop(catalogAround([table]), {
    'd/t.csv': 'year,money,rate\n2018,1234567890.50,1\n2019,5.00,1.5\n2019,5.01,1.25\n2019,6.00,1.4\n',
  })
  await shop.ingest()
  const { app } = await serve(shop)
  const textsOf = async (measure: string): Promise<(string | undefined)[]> => {
    const svg = (await rawGet(app, `/en/dataset/d/t/chart.svg?measure=${measure}&group=year`)).body.toString()
    return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text)
  }
  expect(await textsOf('money__sum')).toEqual(expect.arrayContaining(['2018', '1.23B', '2019', '16']))
  expect(await textsOf('rate__avg')).toEqual(expect.arrayContaining(['2018', '1', '2019', '1.38']))
  const page = (await rawGet(app, '/en/dataset/d/t/chart/?measure=rate__avg&group=year')).body.toString()
  expect([...page.matchAll(/<td class="number">([^<]*)</g)].map(([, text]) => text)).toEqual(['1', '1.38'])
  expect(await textsOf('money__avg')).toEqual(expect.arrayContaining(['1.23B', '5.34']))
})

test('only a line that reaches the incomplete last period ends in dashes, and a frame of it is one image', async () => {
  const fields = ['day:date', 'place:string', 'n:integer'].map(fieldOf)
  const table = { name: 't', order: ['day'], measures: ['n'], filters: ['place'], fields }
  const rows = ['2024-01-31,a', '2024-01-31,b', '2024-02-29,a', '2024-02-29,b', '2024-03-05,a']
  const shop = await workshop(catalogAround([table]), {
    'd/t.csv': `day,place,n\n${rows.map((row, n) => `${row},${n}\n`).join('')}`,
  })
  await shop.ingest()
  const ownService = await serve(shop)
  const svg = await svgOf(ownService, 'measure=n__sum&group=day__month,place&place__in=a,b')
  const linesOf = (place: number): string[] =>
    [...svg.matchAll(/<path [^>]*>/g)]
      .map(([path]) => path)
      .filter((path) => path.includes(`class="l${place}"`))
  expect([0, 1].map((place) => linesOf(place).map((path) => path.includes('dasharray')))).toEqual([
    [false, true],
    [false],
  ])
  // A frame has no links, also where a value is missing.
  const frame = await rawGet(ownService.app, '/en/embed/d/t/chart/?group=day__month,place&place__in=a,b')
  expect(new Set(frame.body.toString().match(/(?<=<svg[^>]*role=")\w+/g))).toEqual(new Set(['img']))
})

test('a line breaks at a gap in the data, and a single time is drawn without a line', async () => {
  const table = {
    name: 't',
    order: ['day'],
    measures: ['n'],
    fields: [
      { name: 'day', type: 'date' },
      { name: 'n', type: 'integer' },
    ],
  }
  const shop = await workshop(catalogAround([table]), {
    'd/t.csv': 'day,n\n1970-01-01,1\n2014-03-01,2\n2014-03-02,3\n2014-03-04,4\n',
  })
  await shop.ingest()
  const { app } = await serve(shop)
  const pathOf = async (query: string): Promise<string | undefined> => {
    const svg = (
      await rawGet(app, `/en/dataset/d/t/chart.svg?measure=n__sum&group=day${query}`)
    ).body.toString()
    return /<path d="([^"]*)"[^>]* class="l0"/.exec(svg)?.[1]?.replaceAll(/[\d. ]+/g, ' ')
  }
  expect(await pathOf('')).toBe('M M L L ')
  expect(await pathOf('&day__gte=2014-03-01')).toBe('M L L ')
  expect(await pathOf('&day=2014-03-01')).toBeUndefined()
})

test('a wrong date far from all others is named, not drawn', async () => {
  const table = {
    name: 't',
    order: ['year'],
    measures: ['n'],
    time: 'year',
    fields: [
      { name: 'year', type: 'integer' },
      { name: 'n', type: 'integer' },
    ],
  }
  const near = Array.from({ length: 12 }, (_, index) => `${2010 + index},${index}`)
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': `year,n\n1970,5\n${near.join('\n')}\n` })
  await shop.ingest()
  const drawn = await svgOf(await serve(shop), 'measure=n__sum&group=year')
  expect(drawn).toContain('Not in the chart: 1970: 5.')
  expect(/<path d="([^"]*)"[^>]* class="l0"/.exec(drawn)?.[1]?.match(/[ML]/g)).toHaveLength(near.length)
})

const heights = (path: string): number[] =>
  [...path.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y))

test('years that are numbers are drawn in order, in the chart and in the small chart of the home page', async () => {
  const table = {
    name: 't',
    order: ['year'],
    filters: ['year'],
    measures: ['n'],
    time: 'year',
    chart: { group: ['year'], measure: 'n__sum' },
    fields: [
      { name: 'year', type: 'integer' },
      { name: 'n', type: 'integer' },
    ],
  }
  const shop = await workshop(catalogAround([table]), {
    'd/t.csv': 'year,n\n2020,5\n2021,9\n2022,1\n2024,5\n',
  })
  await shop.ingest()
  const { app } = await serve(shop)
  const [, line = ''] = /<path d="([^"]*)"[^>]* class="l0"/.exec(await svgOf({ app }, '')) ?? []
  const home = (await rawGet(app, '/en/', { Accept: 'text/html' })).body.toString()
  const [, small = ''] = /class="stroke" d="([^"]*)"/.exec(home) ?? []
  for (const [first = 0, second = 0, third = 0, fourth = 0] of [heights(line), heights(small)])
    expect([second < first, third > first, fourth === first]).toEqual([true, true, true])
})

describe('charts of a table of running totals', () => {
  let ownService: Service
  beforeAll(async () => {
    const table = {
      name: 't',
      order: ['day'],
      filters: ['day', 'uf', 'last', 'level'],
      totals: { level: 'state' },
      default_filter: { level: 'state', last: 'true' },
      chart: { group: ['uf'], measure: 'deaths__sum' },
      fields: [
        { name: 'day', type: 'date' },
        { name: 'uf', type: 'string', kind: 'uf' },
        { name: 'level', type: 'string' },
        { name: 'last', type: 'bool' },
        { name: 'deaths', type: 'integer' },
      ],
    }
    const lines = ['SP,30', 'RJ,20', 'BA,10'].flatMap((line) => {
      const [uf, deaths] = line.split(',')
      return [
        `2024-03-01,${uf},state,false,1`,
        `2024-03-01,${uf},city,false,2`,
        `2024-03-02,${uf},state,true,${deaths}`,
        `2024-03-02,${uf},city,true,1`,
      ]
    })
    const shop = await workshop(catalogAround([table]), {
      'd/t.csv': `day,uf,level,last,deaths\n${lines.join('\n')}\n`,
    })
    await shop.ingest()
    ownService = await serve(shop)
  })
  const pageOf = async (query: string): Promise<string> =>
    (await rawGet(ownService.app, `/en/dataset/d/t/chart/${query}`, { Accept: 'text/html' })).body.toString()
  test('the first chart draws the rows of the default filter, which readers can remove', async () => {
    const page = await pageOf('')
    expect(numbersIn(page)).toEqual(['30', '20', '10'])
    expect(page).toMatch(/level is state.*last is yes|last is yes.*level is state/s)
    // A link without one of the conditions stays without it.
    const [, without = ''] = /href="([^"]*)" aria-label="[^"]*last is yes"/.exec(page) ?? []
    expect(numbersIn(await pageOf(unescaped(without)))).toEqual(['31', '21', '11'])
    // Charts that readers choose have no other conditions than theirs.
    expect(numbersIn(await pageOf('?group=uf&measure=rows'))).toEqual(['4', '4', '4'])
  })

  test('a chart opens without the default filter if none of its rows passes this filter', async () => {
    expect(numbersIn(await pageOf('?uf=SP'))).toEqual(['30'])
    // The latest rows are of the next day. Sums without the default filter still leave out totals.
    const page = await pageOf('?uf=SP&day=2024-03-01')
    expect(numbersIn(page)).toEqual(['2'])
    expect(page).toContain('level is not state')
    expect(page).not.toContain('last is yes')
    // Conditions that a reader chose stay, even if no row passes them.
    expect(await pageOf('?uf=SP&day=2024-03-01&last=true')).toMatch(/last is yes.*role="status"/s)
  })

  test('the example of the SQL page has the conditions of the first chart, without those of fields that a reader filters', async () => {
    for (const [query, where] of [
      ['', `WHERE "level" = 'state' AND "last" = 'true'`],
      ['?level=city', `WHERE "last" = 'true'`],
    ] as const) {
      const { body } = await rawGet(ownService.app, `/en/dataset/d/t/sql/${query}`, { Accept: 'text/html' })
      expect(unescaped(body.toString())).toContain(where)
    }
  })

  test('totals and their parts are lines, and never stacked', async () => {
    const sums = 'measure=deaths__sum&group='
    expect(shapesIn(await svgOf(ownService, `${sums}day,level`))).toMatchObject({ l0: 1, l1: 1 })
    expect(shapesIn(await svgOf(ownService, `${sums}uf,level`))).toEqual({})
  })

  test('a chart over time offers to split by state, however many states there are', async () => {
    const page = await pageOf('?group=day&measure=rows')
    const split = formsIn(page)
      .flatMap(({ controls }) => controls)
      .filter(({ name }) => name === 'group')
    expect(JSON.stringify(split)).toContain('uf')
  })
})
