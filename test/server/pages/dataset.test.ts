import { parseCatalog } from '../../../core/catalog/load.ts'
import { rowCountOn, textIn } from './markup.ts'
import { rawGet, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'

/** Facts about a dataset on its pages: promises, dates, publisher, and numbers. */

const catalogText = `
title: { en: Weather, pt: Tempo }
description: { en: All weather., pt: Todo o tempo. }
notice: { en: Sparingly., pt: Com moderação. }
colours: { light: "#7a1f5c", dark: "#f0a6d8" }
limits: { rows: [{ requests: 30, per: 1m }], catalog: [], files: [] }
families: { v1: { prefix: /api/v1, scheme: http, trailing_slash: true } }
datasets:
  - slug: rain
    name: { en: 'Rain & {snow}', pt: Chuva }
    description: { en: Rain by day., pt: Chuva por dia. }
    author: { name: 'Ana_B & C', url: 'https://example.org/' }
    source: { name: Stations, url: 'https://example.org/s' }
    license: { name: CC0, url: 'https://example.org/l' }
    code_url: https://example.org/c
    listed_in: [v1]
    collected_at: 2026-01-06
    frequency: daily
    links: []
    tables:
      - name: daily
        order: [date]
        max_rejects: 2
        measures: [mm, n]
        filters: [date, uf, place]
        fields:
          - { name: date, type: date, title: { en: Day, pt: Dia } }
          - { name: uf, type: string, kind: uf }
          - { name: place, type: string }
          - { name: mm, type: decimal, precision: 10, scale: 1, unit: mm, description: { en: Rain., pt: Chuva. } }
          - { name: n, type: integer }
`

const csv = (lines: readonly string[]): string => ['date,uf,place,mm,n', ...lines, ''].join('\n')
const rows = [
  '2026-01-01,SP,a,1.5,9223372036854775807',
  '2026-01-01,RJ,b,2.5,9223372036854775807',
  '2026-01-02,SP,a,0.1,1',
  '2026-01-02,SP,,0.2,2',
  '2026-01-03,,c,,3',
]

let shop: Workshop
let service: Service
beforeAll(async () => {
  shop = await workshop(parseCatalog(catalogText, 'c.yaml'), {
    'rain/daily.csv': csv([...rows, '2026-01-04,AC,d,much,4']),
  })
  await shop.ingest({ now: () => new Date('2026-02-01T12:00:00Z') })
  await shop.write('rain/daily.csv', csv([...rows, '2026-01-04,AC,d,<b>much</b>,4', '2026-01-05,AC,d,1.0,5']))
  await shop.ingest({ now: () => new Date('2026-02-02T12:00:00Z') })
  await shop.ingest({ now: () => new Date('2026-02-03T12:00:00Z') })
  service = await serve(shop)
})

async function tableAt({ app }: Service, query: string): Promise<string> {
  return (await rawGet(app, `/en/dataset/d/t/${query}`, { Accept: 'text/html' })).body.toString()
}

async function page(target: string, accept = 'text/html'): Promise<string> {
  const { status, body } = await rawGet(service.app, target, { Accept: accept })
  expect([target, status]).toEqual([target, 200])
  return body.toString()
}

const shownText = (markup: string): string => textIn(markup).replaceAll(/\s+/g, ' ')

test('a dataset shows the promised update frequency beside the actual one, each date with its meaning', async () => {
  const text = shownText(await page('/en/dataset/rain/'))
  expect(text).toContain('Update frequency: daily. Here, the data last changed on Feb 2, 2026.')
  expect(text).toMatch(/Late: no update for \d+ days\./)
  expect(text).toContain('daily Jan 6, 2026 Feb 2, 2026 Feb 3, 2026 unchanged Feb 2, 2026 What changed 1')
  expect(text).toContain('1 row was left out because it does not follow the declared format')
  expect(text).toContain('Line 7, mm: <b>much</b>')
  // The old snapshot stays, and the failed update is reported.
  await shop.write('rain/daily.csv', 'date;uf\n')
  await shop.ingest({ now: () => new Date('2026-02-04T12:00:00Z') })
  expect(shownText(await page('/en/dataset/rain/'))).toContain(
    'daily Jan 6, 2026 Feb 2, 2026 Feb 4, 2026 import failed Feb 2, 2026 What changed 1',
  )
})

test('a table shows the license of its dataset, and the number of rows that are left out', async () => {
  const text = shownText(await page('/en/dataset/rain/daily/'))
  expect(text).toContain('1 row of the source is left out.')
  expect(text).toContain('CC0')
  const table = { name: 't', order: ['a'], refreshed: 'monthly', fields: [fieldOf('a:integer')] }
  const ownShop = await workshop(catalogAround([table]), { 'd/t.csv': 'a\n1\n' })
  await ownShop.ingest()
  const { app } = await serve(ownShop)
  const shown = async (address: string): Promise<string> =>
    shownText((await rawGet(app, address, { Accept: 'text/html' })).body.toString())
  expect(await shown('/en/dataset/d/t/')).not.toContain('left out')
  expect(await shown('/en/dataset/d/')).toContain('Update frequency: monthly.')
})

test('versions are listed with the number of rows that each version adds to the previous one', async () => {
  const text = shownText(await page('/en/files/rain/'))
  expect(text).toMatch(
    /Feb 2, 2026, 12:00 PM UTC: 6 rows \+1 row 20260202T120000Z-\w+ Feb 1, 2026, 12:00 PM UTC: 5 rows/,
  )
  expect(text).toContain('daily.csv.gz')
  const old =
    /\/en\/dataset\/rain\/daily\/\?snapshot=20260201T120000Z-\w+/.exec(await page('/en/files/rain/'))?.[0] ??
    ''
  expect(shownText(await page(old))).toContain('5 rows Columns')
})

test('a dataset is cited as text and as BibTeX, with the commands of TeX escaped', async () => {
  const today = new Date().toISOString().slice(0, 10)
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(today))
  expect(shownText(await page('/en/dataset/rain/'))).toContain(
    `Ana_B & C (2026). Rain & {snow}. http://localhost:8000/en/dataset/rain/ (accessed ${day}).`,
  )
  expect(await page('/en/dataset/rain/cite.bib')).toBe(
    [
      '@misc{rain,',
      String.raw`  title = {{Rain \& \textbraceleft snow\textbraceright }},`,
      String.raw`  author = {{Ana\_B \& C}},`,
      '  year = {2026},',
      String.raw`  howpublished = {\url{http://localhost:8000/en/dataset/rain/}},`,
      '  note = {CC0; Stations},',
      `  urldate = {${today}},`,
      '}',
      '',
    ].join('\n'),
  )
})

test('rows are cited with their filters and version, in words and in three styles', async () => {
  const text = await page('/en/dataset/rain/daily/?uf=SP')
  const menu = shownText(/<summary>Cite<\/summary>.*?<\/div>/s.exec(text)?.[0] ?? '')
  const snapshot = /snapshot=(20\d{6}T\d{6}Z-\w+)/.exec(menu)?.[1] ?? ''
  const address = `http://localhost:8000/en/dataset/rain/daily/?snapshot=${snapshot}&uf=SP`
  const title = 'daily (Rain & {snow}), uf is SP, version of Feb 2, 2026'
  const today = new Date().toISOString().slice(0, 10)
  const dayIn = (locale: string, dateStyle: 'long' | 'medium'): string =>
    new Intl.DateTimeFormat(locale, { dateStyle, timeZone: 'UTC' }).format(new Date(today))
  expect(menu).toContain(`Ana_B & C (2026). ${title}. ${address} (accessed ${dayIn('en', 'medium')}). CC0.`)
  expect(menu).toContain(
    `APA Ana_B & C. (2026). ${title} [Data set]. License: CC0. Retrieved ${dayIn('en', 'long')}, from ${address}`,
  )
  expect(menu).toContain(
    `ABNT ANA_B & C. ${title}. 2026. Base de dados. Licença: CC0. Disponível em: ${address}. Acesso em: ${dayIn('pt-BR', 'medium').replaceAll(' de ', ' ')}.`,
  )
  expect(menu).toContain(String.raw`BibTeX @misc{rain, title = {{daily (Rain \& \textbraceleft snow`)
  expect(
    (await rawGet(service.app, new URL(address).pathname + new URL(address).search, { Accept: 'text/html' }))
      .status,
  ).toBe(200)
})

test('the list of fields can be downloaded as CSV, in the language of its page', async () => {
  const [head, day, , , mm] = (await page('/pt/dataset/rain/daily/fields.csv', '*/*')).split('\n')
  expect([head, day, mm]).toEqual([
    'name,type,precision,scale,title,description,unit,kind,nulls,distinct_estimate,min,max,most_frequent,operators',
    expect.stringMatching(
      /^date,date,,,Dia,,,,0,\d,2026-01-01,2026-01-05,.*,eq ne gt gte lt lte in range isnull$/,
    ),
    expect.stringMatching(/^mm,decimal,10,1,,Chuva\.,mm,,1,\d,0\.1,2\.5,.*,$/),
  ])
})

describe('texts of the catalog', () => {
  test.each([
    ['pt', 'Tempo', 'Todo o tempo.', 'Com moderação.', 'Chuva'],
    ['en', 'Weather', 'All weather.', 'Sparingly.', 'Rain & {snow}'],
  ])('are in %s on its pages', async (language, ...texts) => {
    const text = shownText(await page(`/${language}/`))
    for (const part of texts) expect(text).toContain(part)
    expect(shownText(await page(`/${language}/dataset/rain/daily/`))).toContain(
      language === 'pt' ? 'Dia' : 'Day',
    )
  })

  test('are in the first language for programs', async () => {
    const { body } = await rawGet(service.app, '/api/v1/dataset/rain/', {})
    expect(JSON.parse(body.toString())).toMatchObject({ name: 'Rain & {snow}', description: 'Rain by day.' })
  })

  test('are found by any of their words, in any language, ignoring case and accents', async () => {
    for (const q of ['CHUVA dia', '"chuva"', 'chuva*', 'chuva, dia', 'chuva/dia', 'snow'])
      expect(await page(`/pt/?${new URLSearchParams({ q }).toString()}`)).toContain('/pt/dataset/rain/daily/')
    expect(shownText(await page('/pt/?q=uva*'))).toContain('Nada encontrado.')
  })
})

test('the style sheet has the colours that the catalog declares', async () => {
  const [, sheet = ''] = /<link rel="stylesheet" href="([^"]*)"/.exec(await page('/en/')) ?? []
  const { body, headers } = await rawGet(service.app, sheet, {})
  expect(body.toString()).toContain('--accent: light-dark(#7a1f5c, #f0a6d8);')
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
})

test('the page of limits states the limits that the catalog declares', async () => {
  const { app } = await serve(shop, { rateLimits: true })
  const limits = async (language: string): Promise<string> =>
    shownText((await rawGet(app, `/${language}/limits/`, { Accept: 'text/html' })).body.toString())
  expect(await limits('en')).toContain('Pages of rows 30 requests per minute')
  expect(await limits('pt')).toContain('30 requisições a cada minuto')
  // Without limits, no limit is mentioned.
  expect(shownText(await page('/en/limits/'))).toContain('Pages of rows no limit')
})

/** The table of a chart: its names and numbers. */
function valuesOf(markup: string): string[][] {
  const body = /<tbody>(.*?)<\/tbody>/s.exec(markup)?.[1] ?? ''
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, line = '']) =>
    [...line.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textIn(cell).trim()),
  )
}

/** For each value of a chart, its link and its number of rows. */
function linksOf(markup: string): [link: string, rows: string][] {
  const line = /<tr>(?:(?!<\/tr>).)*?<a\s+href="([^"]*)"(?:(?!<\/tr>).)*?<td class="number">(\d+)</gs
  return [...markup.matchAll(line)].map(([, link = '', count = '']) => [textIn(link), count])
}

describe('a chart', () => {
  const at = '/en/dataset/rain/daily/chart/'
  test.each([
    [
      '?measure=mm__sum,rows',
      [
        ['Jan 1, 2026', '4.0', '2'],
        ['Jan 2, 2026', '0.3', '2'],
        ['Jan 3, 2026', 'no value', '1'],
        ['Jan 5, 2026', '1.0', '1'],
      ],
    ],
    [
      '?group=uf',
      [
        ['SP', '3'],
        ['AC', '1'],
        ['RJ', '1'],
        ['no value', '1'],
      ],
    ],
    [
      '?group=uf&measure=n__sum,rows&date=2026-01-01',
      [
        ['RJ', '9,223,372,036,854,775,807', '1'],
        ['SP', '9,223,372,036,854,775,807', '1'],
      ],
    ],
    ['?group=date&measure=n__sum,rows&date=2026-01-01', [['Jan 1, 2026', '18,446,744,073,709,551,614', '2']]],
    [
      '?group=place&uf=SP',
      [
        ['a', '2'],
        ['no value', '1'],
      ],
    ],
    ['?uf=AM', []],
  ])('%s adds up exactly the matching rows', async (query, values) => {
    expect(valuesOf(await page(at + query))).toEqual(values)
  })

  test('links each of its values to as many rows as it counts for this value', async () => {
    for (const by of ['date', 'uf', 'place']) {
      const links = linksOf(await page(`${at}?group=${by}`))
      expect(links.length).toBeGreaterThan(3)
      for (const [link, count] of links) expect([link, rowCountOn(await page(link))]).toEqual([link, count])
    }
  })

  test.each<[step: string, days: string[], counts: string[]]>([
    ['months', ['2019-12-31', '2020-01-01', '2020-01-31', '2020-02-29', '2022-12-31'], ['1', '2', '1', '1']],
    ['years', ['1890-01-01', '1890-12-31', '1891-01-01', '2020-06-15', '9999-12-31'], ['2', '1', '1', '1']],
  ])('links its %s to the rows of all their days, and to no other rows', async (_step, days, counts) => {
    const fields = [{ name: 'day', type: 'date' }]
    const long = await workshop(catalogAround([{ name: 't', order: ['day'], filters: ['day'], fields }]), {
      'd/t.csv': `day\n${days.join('\n')}\n`,
    })
    await long.ingest()
    const { app } = await serve(long)
    const shown = async (target: string): Promise<string> =>
      (await rawGet(app, target, { Accept: 'text/html' })).body.toString()
    const links = linksOf(await shown('/en/dataset/d/t/chart/'))
    expect(links.map(([, count]) => count)).toEqual(counts)
    for (const [link, count] of links) expect([link, rowCountOn(await shown(link))]).toEqual([link, count])
  })

  describe('of a table with totals beside their parts:', () => {
    let beside: Service
    beforeAll(async () => {
      const table = {
        name: 't',
        order: ['uf'],
        filters: ['uf', 'level'],
        measures: ['deaths'],
        totals: { level: 'state' },
        fields: ['uf:string', 'level:string', 'deaths:integer'].map(fieldOf),
      }
      const both = await workshop(catalogAround([table]), {
        'd/t.csv': 'uf,level,deaths\nSP,state,30\nSP,city,10\nSP,city,20\nRJ,state,5\nRJ,city,5\nBA,city,7\n',
      })
      await both.ingest()
      beside = await serve(both)
    })
    const shown = async (query: string): Promise<string> =>
      (await rawGet(beside.app, `/en/dataset/d/t/chart/${query}`, { Accept: 'text/html' })).body.toString()

    test.each([
      '?group=uf&measure=deaths__sum,rows',
      '?group=uf&measure=deaths__sum,rows&uf=SP',
      '?group=uf&measure=deaths__sum,rows&level__in=state,city',
      '?group=uf&measure=deaths__sum,rows&level__contains=t',
      '?group=uf&measure=deaths__sum,rows&level__ne=town',
    ])('%s shows no sums before the reader chooses totals or parts', async (query) => {
      const markup = await shown(query)
      expect(valuesOf(markup)).toEqual([])
      const { status, headers } = await rawGet(beside.app, `/api/v1/dataset/d/t/aggregate/${query}`)
      expect([status, headers['acervo-hint']]).toEqual([
        200,
        'measures mix rows with their totals; try level__ne=state or level=state',
      ])
      const choices = [
        ...markup.matchAll(/<a class="button" href="([^"]*)">(Only state|All but state)<\/a>/g),
      ]
      const sums = choices.map(async ([, link = '', choice]) => [choice, valuesOf(await shown(textIn(link)))])
      // The third number is that of the rows.
      expect(await Promise.all(sums)).toEqual([
        ['Only state', expect.arrayContaining([['SP', '30', '1']])],
        ['All but state', expect.arrayContaining([['SP', '30', '2']])],
      ])
    })

    test.each(['avg', 'median', 'min', 'max'])(
      'deaths__%s is not drawn of totals and parts together',
      async (functionName) => {
        const query = `?group=uf&measure=deaths__${functionName}`
        expect(valuesOf(await shown(query))).toEqual([])
        expect(valuesOf(await shown(`${query}&level=city`))).not.toEqual([])
        const { headers } = await rawGet(beside.app, `/api/v1/dataset/d/t/aggregate/${query}`)
        expect(headers['acervo-hint']).toContain('level__ne=state')
      },
    )

    test('the page of the table links to the totals and to their parts, until one is chosen', async () => {
      const links = [
        ...(await tableAt(beside, '')).matchAll(/<a href="([^"]*)">(?:Only state|All but state)<\/a>/g),
      ]
      const pages = await Promise.all(links.map(async ([, link = '']) => tableAt(beside, textIn(link))))
      expect(pages.map((markup) => [rowCountOn(markup), /Only state/.test(markup)])).toEqual([
        ['2', false],
        ['4', false],
      ])
      // All rows of Bahia are parts.
      for (const [query, hasChoice] of [
        ['?uf=SP', true],
        ['?uf=BA', false],
        ['?uf=SP&level=state', false],
      ] as const)
        expect([query, /Only state/.test(await tableAt(beside, query))]).toEqual([query, hasChoice])
    })

    test.each<[query: string, hint: string | undefined]>([
      ['group=uf', undefined],
      ['group=level&measure=deaths__sum', undefined],
      ['group=uf&measure=deaths__sum&level=state', undefined],
      ['group=uf&measure=deaths__sum&level__ne=state', undefined],
      ['group=uf&measure=deaths__sum&level__ne=state&uf=XX', 'uf: "XX" is not a value'],
      ['group=uf&measure=deaths__sum&uf=XX', 'uf: "XX" is not a value'],
      ['group=uf&measure=deaths__sum&uf=BA', undefined],
    ])(
      'an aggregate that adds no totals to their parts has no hint about totals: %s',
      async (query, hint) => {
        const { headers } = await rawGet(beside.app, `/api/v1/dataset/d/t/aggregate/?${query}`)
        expect(headers['acervo-hint']).toBe(hint)
      },
    )

    test.each<[query: string, values: string[][]]>([
      [
        '?group=uf',
        [
          ['SP', '3'],
          ['RJ', '2'],
          ['BA', '1'],
        ],
      ],
      [
        '?group=uf&measure=deaths__sum,rows&level=state',
        [
          ['SP', '30', '1'],
          ['RJ', '5', '1'],
        ],
      ],
      [
        '?group=uf&measure=deaths__sum,rows&level=city',
        [
          ['SP', '30', '2'],
          ['BA', '7', '1'],
          ['RJ', '5', '1'],
        ],
      ],
      [
        '?group=uf&measure=deaths__sum,rows&level__ne=state',
        [
          ['SP', '30', '2'],
          ['BA', '7', '1'],
          ['RJ', '5', '1'],
        ],
      ],
      [
        '?group=level&measure=deaths__sum,rows',
        [
          ['city', '42', '4'],
          ['state', '35', '2'],
        ],
      ],
    ])('%s keeps totals and parts apart', async (query, values) => {
      expect(valuesOf(await shown(query))).toEqual(values)
    })
  })

  test('keeps its group and measure when a filter is removed', async () => {
    const markup = await page(`${at}?group=uf&measure=n__sum&place=a`)
    const chips = [...markup.matchAll(/<a\s+href="([^"]*)"[^>]*aria-label="Remove/g)].map(([, link = '']) =>
      textIn(link),
    )
    expect(chips).toEqual(['?group=uf&measure=n__sum'])
  })

  test.each(['?group=nope', '?measure=date__sum', '?measure=nope', '?nope=1', '?page=2', '?rows__gt=x'])(
    '%s is refused',
    async (query) => {
      const { status, body } = await rawGet(service.app, at + query, { Accept: 'application/json' })
      expect([status, JSON.parse(body.toString())]).toMatchObject([
        400,
        { errors: [{ message: expect.any(String) }] },
      ])
    },
  )
})

describe('a chart elsewhere', () => {
  const chart = '/en/dataset/rain/daily/chart/?group=date__month,uf&measure=n__sum'

  test('is a file that stands alone', async () => {
    const { status, headers, body } = await rawGet(service.app, chart.replace('/chart/', '/chart.svg'))
    const text = body.toString()
    expect([status, headers['content-type'], headers['content-security-policy']]).toEqual([
      200,
      'image/svg+xml',
      "default-src 'none'",
    ])
    expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /)
    expect(text).toContain('n by month and uf: ')
    expect(text).toContain('data from Jan 1, 2026 to Jan 5, 2026 · imported Feb 2, 2026')
    expect(text).not.toMatch(/<a |<script|<style| on\w+=/)
  })

  test('has its line in the order of time, with space for missing days', async () => {
    const { body } = await rawGet(service.app, '/en/dataset/rain/daily/chart.svg?group=date&ordering=rows')
    const path = /<path d="([^"]*)"[^>]*class="l0"/.exec(body.toString())?.[1] ?? ''
    // The first, second, third and fifth of January, between the axis at 52 and the end at 956.
    expect([...path.matchAll(/[ML]([\d.]+) /g)].map(([, x]) => Number(x))).toEqual([52, 278, 504, 956])
  })

  test('is shown in a frame of any site, with the data of its version', async () => {
    const markup = await page(chart)
    const line = textIn(/<code[^>]*>(&lt;iframe.*?)<\/code>/s.exec(markup)?.[1] ?? '')
    const address = /src="([^"]*)"/.exec(line)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(address).toMatch(/^http:\/\/localhost:8000\/en\/embed\/rain\/daily\/chart\/\?.*snapshot=\d{8}T/)
    const { pathname, search } = new URL(address)
    const { headers, body } = await rawGet(service.app, pathname + search)
    expect(headers['content-security-policy']).toContain('frame-ancestors *')
    expect([headers['x-frame-options'], headers['set-cookie']]).toEqual([undefined, undefined])
    expect(body.toString()).toContain('<svg')
    expect(body.toString()).not.toContain('newer data')
    const frame = await rawGet(service.app, chart)
    expect(frame.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    // A version that is no longer kept gives way to the current one.
    const old = await rawGet(
      service.app,
      pathname + search.replace(/snapshot=[^&]*/, 'snapshot=20200101T000000Z-000000000000'),
    )
    expect([old.status, old.body.toString()]).toEqual([200, expect.stringContaining('<svg')])
  })

  test('is found by oEmbed', async () => {
    const link = /<link rel="alternate" type="application\/json\+oembed" href="([^"]*)"/.exec(
      await page(chart),
    )?.[1]
    const { pathname, search } = new URL(textIn(link ?? ''))
    const { body } = await rawGet(service.app, `${pathname}${search}&maxwidth=300`)
    expect(JSON.parse(body.toString())).toMatchObject({
      version: '1.0',
      type: 'rich',
      width: 300,
      height: 600,
      html: expect.stringMatching(/^<iframe src="http:\/\/localhost:8000\/en\/embed\/rain\/daily\/chart\//),
    })
    for (const url of ['https://example.org/en/dataset/rain/daily/', 'http://localhost:8000/en/', 'x']) {
      const { status } = await rawGet(service.app, `/oembed?url=${encodeURIComponent(url)}`)
      expect([url, status]).toEqual([url, 404])
    }
  })

  test('is found at the addresses of earlier versions of the software', async () => {
    const { status, headers } = await rawGet(
      service.app,
      '/en/dataset/rain/daily/chart/?chart_by=uf&chart_sum=n&place=a',
    )
    expect([status, headers['location']]).toEqual([
      301,
      '/en/dataset/rain/daily/chart/?group=uf&measure=n__sum&place=a',
    ])
  })
})

test('a frame can also show rows, with a notice if newer rows exist', async () => {
  const frames = await workshop(
    catalogAround([{ name: 't', order: ['n asc'], fields: [fieldOf('n:integer')] }]),
    { 'd/t.csv': 'n\n1\n' },
  )
  await frames.ingest()
  const { app, snapshots } = await serve(frames)
  const first = snapshots.statuses[0]?.snapshot ?? ''
  await frames.write('d/t.csv', Buffer.from('n\n1\n2\n'))
  await frames.ingest()
  await snapshots.refresh()
  const shown = async (query: string): Promise<string> =>
    (await rawGet(app, `/en/embed/d/t/${query}`)).body.toString()
  const old = await shown(`?snapshot=${first}`)
  expect([old.match(/<td class="n">/g)?.length, old.includes('There is newer data')]).toEqual([1, true])
  const link = textIn(/<a href="(\/en\/embed[^"]*)">There is newer/.exec(old)?.[1] ?? '')
  const now = (await rawGet(app, link)).body.toString()
  expect([now.match(/<td class="n">/g)?.length, now.includes('There is newer data')]).toEqual([2, false])
})

test('the title of a table stands on its pages in the language of the reader', async () => {
  const table = {
    name: 't',
    title: { en: 'Daily rain', pt: 'Chuva diária' },
    order: [],
    fields: [fieldOf('a:integer')],
  }
  const ownShop = await workshop(catalogAround([table]), { 'd/t.csv': 'a\n1\n' })
  await ownShop.ingest()
  const { app } = await serve(ownShop)
  for (const [language, title] of Object.entries(table.title)) {
    for (const place of ['', 't/', 't/row/1/', 't/chart/?group=a', 't/fields/', 't/api/']) {
      const { body } = await rawGet(app, `/${language}/dataset/d/${place}`)
      const text = shownText(body.toString())
      expect([place, text.includes(title)]).toEqual([place, true])
    }
  }
  const { body } = await rawGet(app, '/metadata/d/datapackage.json')
  expect(JSON.parse(body.toString())).toMatchObject({ resources: [{ name: 't', title: 'Daily rain' }] })
})
