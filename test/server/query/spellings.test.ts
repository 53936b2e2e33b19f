import request from 'supertest'
import { fold, type Random } from '../../evaluator/rows.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { runsOf, seed } from '../../support/runs.ts'
import { getPage, serve, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop } from '../../support/workshop.ts'

/**
 * However readers spell a date, a list or a text: the answer has all the rows that are meant, or is a 400. What is meant is
 * worked out here from the values alone, one by one.
 */

const rows = '/api/v1/dataset/d/t/data/'
const days = [
  '2019-12-31',
  '2020-01-01',
  '2020-02-29',
  '2020-03-01',
  '2020-03-31',
  '2020-05-03',
  '2020-12-31',
  '2021-01-01',
]
const times = ['00:00:00', '00:00:01', '12:30:00', '18:05:09.5', '23:59:59', '23:59:59.999999']
const cities = [
  'São Paulo',
  'sao paulo',
  'Peru, Lima',
  'C++',
  'A & B',
  '"Q"',
  'x;y',
  '(z)',
  'É',
  'e\u0301te\u0301',
  'a  b',
  '50%',
  ' Ja\u00fa\t ',
]

interface Cells {
  readonly day: string
  readonly textday: string
  readonly moment: string
  readonly city: string
}

/** Every day with every time, and a city to each. */
const spelledRows: readonly Cells[] = days.flatMap((day, index) =>
  times.map((time, at) => ({
    day,
    textday: day,
    moment: `${day} ${time}`,
    city: cities[(index * times.length + at) % cities.length] ?? '',
  })),
)

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

let service: Service
beforeAll(async () => {
  const fields = ['n:integer', 'day:date', 'moment:datetime', 'city:string', 'zoned:datetime'].map(fieldOf)
  const catalog = catalogAround([
    {
      name: 't',
      order: ['n'],
      filters: ['n', 'day', 'textday', 'moment', 'city', 'zoned'],
      search: ['city'],
      fields: [
        ...fields.slice(0, 4),
        { ...fields[4], timezone: 'America/Sao_Paulo' },
        { name: 'textday', type: 'text', kind: 'date' },
      ],
    },
  ])
  const lines = spelledRows.map(({ day, textday, moment, city }, n) =>
    [n, day, moment, quoted(city), moment, textday].join(),
  )
  const shop = await workshop(catalog, {
    'd/t.csv': `n,day,moment,city,zoned,textday\n${lines.join('\n')}\n,,,,,\n`.replace(
      '\n,,,,,\n',
      `\n${spelledRows.length},,,,,\n`,
    ),
  })
  await shop.ingest()
  service = await serve(shop)
}, 60_000)

async function counted(parameters: readonly (readonly [string, string])[]): Promise<number | string> {
  const { status, body } = await request(service.app).get(
    `${rows}?${new URLSearchParams([...parameters].map(([a, b]) => [a, b])).toString()}`,
  )
  const { count, detail } = body as { count: number; detail: string }
  return status === 200 ? count : `${status}: ${detail}`
}

const countOf = (isMeant: (cells: Cells) => boolean): number => spelledRows.filter(isMeant).length
const inCities = (...names: string[]): number => countOf(({ city }) => names.includes(city))

describe('a date', () => {
  test.each<[query: string, isMeant: (cells: Cells) => boolean]>([
    ['DAY__range=01/03/2020,31/03/2020', ({ day }) => day.startsWith('2020-03')],
    ['DAY__gte=01/05/2020', ({ day }) => day >= '2020-05-01'],
    ['DAY__gte=1/5/2020', ({ day }) => day >= '2020-05-01'],
    ['DAY__gte=2020-5-1', ({ day }) => day >= '2020-05-01'],
    ['DAY__lte=2020-05', ({ day }) => day <= '2020-05-31'],
    ['DAY__lt=2020-05', ({ day }) => day < '2020-05-01'],
    ['DAY__gt=2020-02', ({ day }) => day > '2020-02-29'],
    ['DAY__gte=2020-03', ({ day }) => day >= '2020-03-01'],
    ['DAY=2020-03', ({ day }) => day.startsWith('2020-03')],
    ['DAY=03/2020', ({ day }) => day.startsWith('2020-03')],
    ['DAY=2020', ({ day }) => day.startsWith('2020')],
    ['DAY__range=2020-02,2020-03', ({ day }) => day >= '2020-02-01' && day <= '2020-03-31'],
    ['DAY__in=2020-03,2020-05-03', ({ day }) => /^2020-(03|05-03)/.test(day)],
    ['DAY__gte=2020-03-01T00:00:00', ({ day }) => day >= '2020-03-01'],
    ['DAY__gte=2020-03-01T00:00:01', ({ day }) => day > '2020-03-01'],
    ['DAY__gt=2020-03-01T12:00', ({ day }) => day > '2020-03-01'],
    ['DAY__lte=2020-03-31T23:59:59', ({ day }) => day <= '2020-03-31'],
    ['DAY__lt=2020-03-31T12:00', ({ day }) => day <= '2020-03-31'],
    ['DAY__lt=2020-03-31T00:00', ({ day }) => day < '2020-03-31'],
    ['DAY=2020-03-31T00:00:00', ({ day }) => day === '2020-03-31'],
  ])('%s selects the meant rows', async (query, isMeant) => {
    for (const field of ['day', 'textday']) {
      const parameters = [...new URLSearchParams(query.replace('DAY', field))]
      expect([query, await counted(parameters)]).toEqual([query, countOf(isMeant)])
    }
  })

  test('that is excluded keeps the rows without a date', async () => {
    for (const field of ['day', 'textday', 'moment']) {
      expect(await counted([[`${field}__ne`, '2020-03']])).toBe(
        countOf(({ day }) => !day.startsWith('2020-03')) + 1,
      )
      expect(await counted([[`${field}__ne`, '2020']])).toBe(
        countOf(({ day }) => !day.startsWith('2020')) + 1,
      )
    }
  })

  test.each<[query: string, isMeant: (cells: Cells) => boolean]>([
    ['moment__lte=2020-05-03', ({ moment }) => moment < '2020-05-04'],
    ['moment=2020-05-03', ({ day }) => day === '2020-05-03'],
    ['moment=3/5/2020', ({ day }) => day === '2020-05-03'],
    ['moment__gt=2020-03', ({ moment }) => moment >= '2020-04-01'],
    [
      'moment__range=2020-02,2020-03-01T12:30',
      ({ moment }) => moment >= '2020-02' && moment <= '2020-03-01 12:30:00',
    ],
    ['moment=2020-05-03T18:05:09.500', ({ moment }) => moment === '2020-05-03 18:05:09.5'],
    ['moment=3/5/2020 0:00', ({ moment }) => moment === '2020-05-03 00:00:00'],
    ['zoned=2020-05-03T03:00:01Z', ({ moment }) => moment === '2020-05-03 00:00:01'],
    ['zoned__lt=2020-05-03T05:30:00%2B02:30', ({ moment }) => moment < '2020-05-03 00:00:00'],
  ])('%s selects the meant rows', async (query, isMeant) => {
    expect([query, await counted([...new URLSearchParams(query)])]).toEqual([query, countOf(isMeant)])
  })

  test.each([
    'day=2020-03-31T12:00',
    'moment=2020-03-31T12:00Z',
    'textday=last week',
    'textday__gte=31/02/2020',
    'moment__in=2020-03',
  ])('%s is refused with an example', async (query) => {
    expect(await counted([...new URLSearchParams(query)])).toMatch(
      /^400: .*(without a time of day|such as 2020-06-12)/,
    )
  })

  test.each([
    [
      'day__in=2020,2021',
      '400: The parameter "day__in" means more than 500 days: use "day__range" for a period.',
    ],
    [
      'moment__in=2020-03-31',
      '400: Each value of the parameter "moment__in" must be a date with a time, such as 2020-06-12T18:05:00: use "moment__range" for days, months and years.',
    ],
  ])('%s is refused with the operator to use', async (query, message) => {
    expect(await counted([...new URLSearchParams(query)])).toBe(message)
    const ranged = query.replace('__in', '__range').replace(/=([^,]*)$/, '=$1,$1')
    expect(await counted([...new URLSearchParams(ranged)])).toBe(
      countOf(
        ({ moment }) => moment.startsWith('2020-03-31') || (query.startsWith('day') && moment >= '2020'),
      ),
    )
  })

  test('is normalized in links, which give the same answer', async () => {
    for (const query of [
      'day=2020-03',
      'day__lte=2020-03',
      'day__ne=2020-03',
      'moment__ne=2020',
      'moment=2020-05-03',
      'day__in=2020',
      'textday__in=2020-03,2020-05',
    ]) {
      const { body } = await request(service.app).get(`${rows}?${query}&page_size=1`)
      const { count, next } = body as { count: number; next: string | null }
      if (next === null) continue
      const { pathname, search } = new URL(next)
      const { body: following } = await request(service.app).get(pathname + search)
      expect([query, (following as { count: number }).count]).toEqual([query, count])
    }
  })
})

test.each([
  ['SAO PAULO', ['São Paulo', 'sao paulo']],
  [' são paulo ', ['São Paulo', 'sao paulo']],
  ['jau', [' Ja\u00fa\t ']],
  ['\tJAÚ ', [' Ja\u00fa\t ']],
  ['sao', []],
  ['a b', []],
])('the operator iexact ignores case, accents and surrounding blanks: %j', async (text, names) => {
  expect(await counted([['city__iexact', text]])).toBe(inCities(...names))
})

describe('a list', () => {
  test.each<[query: string, names: string[]]>([
    ['city__in=C%2B%2B, É', ['C++', 'É']],
    ['city__in= C%2B%2B ,"Peru, Lima" ', ['C++', 'Peru, Lima']],
    ['city__in=C%2B%2B&city__in=É', ['C++', 'É']],
    ['city__in[]=Peru, Lima&city__in[]="Q"', ['Peru, Lima', '"Q"']],
    ['city__in[]=Peru, Lima', ['Peru, Lima']],
    ['city__in%5B%5D=x;y&city__in%5B%5D=(z)&city__in%5B%5D=A %26 B', ['x;y', '(z)', 'A & B']],
  ])('%s finds each of its values', async (query, names) => {
    expect(await counted([...new URLSearchParams(query)])).toBe(inCities(...names))
  })

  test('with the two ends of a range may have a blank after its comma, or be a repeated parameter', async () => {
    const due = countOf(({ day }) => day >= '2020-01-01' && day <= '2020-03-01')
    expect(await counted([['day__range', '2020-01-01, 2020-03-01']])).toBe(due)
    expect(
      await counted([
        ['day__range[]', '2020-01-01'],
        ['day__range[]', '2020-03-01'],
      ]),
    ).toBe(due)
  })

  test.each(['(SP,RJ)', "['SP']", 'SP;RJ', 'SP|RJ', 'SP\nRJ', 'SP\r\nRJ\r\n'])(
    '%s is refused with the right spelling',
    async (text) => {
      const message = await counted([['city__in', text]])
      expect(message).toMatch(
        /^400: .*must be values separated by commas, such as SP(,RJ)?; put a value with brackets/,
      )
    },
  )
})

const hintOf = async (query: string, form = 'data'): Promise<string | undefined> => {
  const { status, headers } = await request(service.app).get(`/api/v1/dataset/d/t/${form}/?${query}`)
  expect([query, status]).toEqual([query, 200])
  return headers['acervo-hint']
}

describe('an operand that is not a value of its field', () => {
  test.each<[query: string, hint: string | undefined]>([
    ['city=SAO PAULO', 'city: "SAO PAULO" is not a value; nearest "S%C3%A3o Paulo"; try city__iexact'],
    ['city=jau', 'city: "jau" is not a value; nearest " Ja%C3%BA%09 "; try city__iexact'],
    ['city__in=Sao Paolo,C%2B%2B&n=1', 'city: "Sao Paolo" is not a value; nearest "S%C3%A3o Paulo"'],
    [
      'city__in="peru, lima"',
      'city: "peru%2C lima" is not a value; nearest "Peru%2C Lima"; try city__iexact',
    ],
    ['city=nothing like it', 'city: "nothing like it" is not a value'],
    ['city=C%2B%2B&n=0', undefined],
    ['city=São Paulo', undefined],
    ['city__in=São Paulo,C%2B%2B', undefined],
    // Rows match, and an operand is lost all the same.
    ['city__in=São Paulo,Sao', 'city: "Sao" is not a value'],
    [
      'city__in=São Paulo,C%2B%2B&city__in=Peru',
      'city: "Peru" is not a value, city: "S%C3%A3o Paulo%2CC%2B%2B" is not a value; nearest "S%C3%A3o Paulo"',
    ],
    ['city__ne=C%2B%2B', undefined],
    ['city__ne=c%2B%2B', 'city: "c%2B%2B" is not a value; nearest "C%2B%2B"; try city__iexact'],
    [
      `city__in=C%2B%2B,${Array.from({ length: 12 }, (_, n) => `zzzzzzzzz${String.fromCodePoint(97 + n)}`).join()}`,
      Array.from(
        { length: 10 },
        (_, n) => `city: "zzzzzzzzz${String.fromCodePoint(97 + n)}" is not a value`,
      ).join(', '),
    ],
  ])('gets a hint with the nearest values: %s', async (query, hint) => {
    for (const form of ['data', 'export']) expect([form, await hintOf(query, form)]).toEqual([form, hint])
    expect(await hintOf(`${query}&format=csv`)).toBe(hint)
  })

  test('leaves out hints that would make the header too long for proxies', async () => {
    const long = Array.from({ length: 10 }, (_, n) => '漢'.repeat(50) + String(n))
    const hint = await hintOf(`city__in=${encodeURIComponent(long.join())}`)
    expect(hint?.length).toBeLessThanOrEqual(800)
    expect(hint?.split(', ')).toHaveLength(2)
  })

  test('gets a hint even if the name of the field has accents, blanks or dashes', async () => {
    const fields = ['n:integer', { name: 'preço – total', type: 'string' }].map(fieldOf)
    const shop = await workshop(catalogAround([{ name: 't', order: ['n'], fields }]), {
      'd/t.csv': 'n,preço – total\n1,Çédille\n2,other\n',
    })
    await shop.ingest()
    const { app } = await serve(shop)
    const name = encodeURIComponent('preço – total')
    const { status, headers } = await request(app).get(`${rows}?${name}=cedille`)
    expect([status, headers['acervo-hint']]).toEqual([
      200,
      `${name}: "cedille" is not a value; nearest "%C3%87%C3%A9dille"; try ${name}__iexact`,
    ])
  })

  test('appears on a page in a sentence with a link, even if other values of the list have rows', async () => {
    const { text } = await request(service.app)
      .get('/en/dataset/d/t/?city__in=SAO+PAULO,C%2B%2B')
      .set('Accept', 'text/html')
    const [, address = ''] = /“SAO PAULO” in city\. The nearest value:\s*<a href="(.*?)"/s.exec(text) ?? []
    const { searchParams } = new URL(address.replaceAll('&amp;', '&'), 'http://localhost')
    expect([...searchParams]).toEqual([['city__in', '"C++","São Paulo"']])
    expect(text).toContain('>C++<')
  })

  test('appears on a page in a sentence with a link to the nearest value', async () => {
    const { text } = await request(service.app)
      .get('/en/dataset/d/t/?city=SAO+PAULO&n__gte=0')
      .set('Accept', 'text/html')
    const [, sentence = '', address = ''] = /<p class="hint">(.*?)<a href="(.*?)"/s.exec(text) ?? []
    expect(sentence.trim()).toBe('No row has “SAO PAULO” in city. The nearest value:')
    const { searchParams } = new URL(address.replaceAll('&amp;', '&'), 'http://localhost')
    expect([...searchParams]).toEqual([
      ['n__gte', '0'],
      ['city', 'São Paulo'],
    ])
    expect(await counted([...searchParams])).toBe(inCities('São Paulo'))
  })
})

const chartStatus = async (list: string): Promise<number> =>
  (await request(service.app).get(`/en/dataset/d/t/chart/?city__in=${list}`).set('Accept', 'text/html'))
    .status

describe('a list without quotes', () => {
  test.each(['Peru, Lima', ' Peru, Lima '])(
    '%j, which is a single value of the field, is refused, and the message puts it in quotes',
    async (text) => {
      const right = `400: .*put it in quotes, as in city__in="Peru, Lima"`
      // Cached pages of the same values do not answer it either.
      expect(
        await counted([
          ['city__in[]', 'Lima'],
          ['city__in[]', 'Peru'],
        ]),
      ).toBe(0)
      expect(await counted([['city__in', text]])).toMatch(new RegExp(right))
      const { status } = await request(service.app).get(`/api/v1/dataset/d/t/export/?city__in=${text}`)
      expect(status).toBe(400)
    },
  )

  test('is not answered from the cache of the same values in another order', async () => {
    expect([await chartStatus('Lima,Peru'), await chartStatus('Peru, Lima')]).toEqual([200, 400])
  })

  test('becomes a quoted list in links if the request repeated the parameter', async () => {
    const { body } = await request(service.app).get(`${rows}?city__in=São Paulo&city__in=C%2B%2B&page_size=1`)
    const { count, next } = body as { count: number; next: string }
    expect(new URL(next).searchParams.get('city__in')).toBe('"C++","São Paulo"')
    const { pathname, search } = new URL(next)
    const { body: following } = await request(service.app).get(pathname + search)
    expect((following as { count: number }).count).toBe(count)
  })

  test('is a list if all of its items are values', async () => {
    expect(await counted([['city__in', 'São Paulo,C++']])).toBe(inCities('São Paulo', 'C++'))
    // Even if the whole text is a value, too.
    const shop = await workshop(
      catalogAround([{ name: 't', order: ['n'], fields: ['n:integer', 'a:string'].map(fieldOf) }]),
      {
        'd/t.csv': 'n,a\n1,Peru\n2,Lima\n3,"Peru,Lima"\n',
      },
    )
    await shop.ingest()
    const { results } = await getPage((await serve(shop)).app, `${rows}?a__in=Peru,Lima`)
    expect(results.map(({ n }) => n)).toEqual([1, 2])
  })
})

test('random spellings select the rows of their values, or are refused', async () => {
  const random = randomFrom(seed)
  const wrong: unknown[] = []
  for (let ask = 0; ask < runsOf('SPELLINGS'); ask += 1) {
    const { parameters, isMeant } = spelling(random)
    const count = await counted(parameters)
    if (count !== countOf(isMeant)) wrong.push([parameters, count, countOf(isMeant)])
  }
  expect({ seed, wrong: wrong.slice(0, 5) }).toEqual({ seed, wrong: [] })
}, 3_600_000)

function isAnyCase(name: string): (cells: Cells) => boolean {
  return ({ city }) => fold(city).trim() === fold(name).trim()
}

interface Spelling {
  readonly parameters: [string, string][]
  readonly isMeant: (cells: Cells) => boolean
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T

/** A day, month or year in one of its spellings, with its first and last day. */
function spelledDay(random: Random): { text: string; first: string; last: string } {
  const day = pick(random, days)
  const [year = '', month = '', date = ''] = day.split('-')
  const short = (text: string): string => (random() < 0.5 ? String(Number(text)) : text)
  const blank = pick(random, ['', '', ' '])
  const end = new Date(Date.UTC(Number(year), Number(month), 0)).toISOString().slice(0, 10)
  const [text, first, last] = pick(random, [
    [`${year}-${short(month)}-${short(date)}`, day, day],
    [`${short(date)}/${short(month)}/${year}`, day, day],
    [`${year}-${short(month)}`, `${year}-${month}-01`, end],
    [`${short(month)}/${year}`, `${year}-${month}-01`, end],
    [year, `${year}-01-01`, `${year}-12-31`],
  ] as const)
  return { text: `${blank}${text}${blank}`, first, last }
}

function spelling(random: Random): Spelling {
  if (random() < 0.3) {
    const names = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(random, cities))
    const isMeant = ({ city }: Cells): boolean => names.includes(city)
    const spelled = names.map((name) => name.normalize(pick(random, ['NFC', 'NFD'])))
    if (random() < 0.3) {
      const [name = ''] = spelled
      const looser = [(text: string) => text.toUpperCase(), fold, (text: string) => ` ${text.trim()}\n`]
      return { parameters: [['city__iexact', pick(random, looser)(name)]], isMeant: isAnyCase(name) }
    }
    if (random() < 0.3) {
      const [name = ''] = spelled
      return { parameters: [['city__eq', name]], isMeant: ({ city }) => city === names[0] }
    }
    const inQuotes = spelled.map(quoted).join(pick(random, [',', ', ', ' , ']))
    const parameters = pick(random, [
      [['city__in', inQuotes]],
      spelled.map((name) => ['city__in[]', name]),
      [...spelled, spelled[0] ?? ''].map((name) => ['city__in', name]),
    ]) as [string, string][]
    return { parameters, isMeant }
  }
  const field = pick(random, ['day', 'textday', 'moment'] as const)
  const first = spelledDay(random)
  const second = spelledDay(random)
  const operator = pick(random, ['', '__eq', '__gt', '__gte', '__lt', '__lte', '__range', '__in'])
  const meanings: Record<string, (day: string) => boolean> = {
    '': (day) => first.first <= day && day <= first.last,
    __eq: (day) => first.first <= day && day <= first.last,
    __gt: (day) => day > first.last,
    __gte: (day) => day >= first.first,
    __lt: (day) => day < first.first,
    __lte: (day) => day <= first.last,
    __range: (day) => first.first <= day && day <= second.last,
    __in: (day) => (first.first <= day && day <= first.last) || (second.first <= day && day <= second.last),
  }
  const isPair = ['__range', '__in'].includes(operator)
  const text = isPair ? `${first.text},${second.text}` : first.text
  const isMeant = meanings[operator] ?? (() => false)
  // A list of moments holds no days, and a list of days at most 500.
  if (
    operator === '__in' &&
    (field === 'moment' || first.text.trim().length === 4 || second.text.trim().length === 4)
  )
    return {
      parameters: [[`${field}__range`, first.text.trim() + ',' + first.text.trim()]],
      isMeant: ({ day }) => first.first <= day && day <= first.last,
    }
  return { parameters: [[`${field}${operator}`, text]], isMeant: ({ day }) => isMeant(day) }
}

describe('a search', () => {
  test.each<[text: string, names: string[]]>([
    ['paulo sao', ['São Paulo', 'sao paulo']],
    ['"sao paulo"', ['São Paulo', 'sao paulo']],
    ['“SÃO  PAULO”', ['São Paulo', 'sao paulo']],
    ['"paulo sao"', []],
    ['lima, peru', ['Peru, Lima']],
    ['lima;peru', ['Peru, Lima']],
    ['per*', ['Peru, Lima']],
    ['(lima)', ['Peru, Lima']],
    ['"peru, lima"', ['Peru, Lima']],
    ['lima "peru', ['Peru, Lima']],
    ['C++', ['C++']],
    ['lima!', ['Peru, Lima']],
  ])('%s finds its words and phrases', async (text, names) => {
    expect([text, await counted([['search', text]])]).toEqual([text, inCities(...names)])
  })

  test('for a phrase counts the same rows on the next page', async () => {
    const { body } = await request(service.app).get(
      `${rows}?${new URLSearchParams({ search: 'paulo, “sao p”', page_size: '1' }).toString()}`,
    )
    const { count, next } = body as { count: number; next: string }
    const { pathname, searchParams } = new URL(next)
    expect(searchParams.get('search')).toBe('paulo "sao p"')
    const { body: following } = await request(service.app).get(`${pathname}?${searchParams.toString()}`)
    expect([count, (following as { count: number }).count]).toEqual([
      inCities('São Paulo', 'sao paulo'),
      count,
    ])
  })

  test.each(['"', '...', '* , ;', '“”'])('for %s is refused, since it has no words', async (text) => {
    expect(await counted([['search', text]])).toMatch(/^400: .*must be words or "phrases"/)
  })
})
