import { randomFrom } from '../../../bench/random.ts'
import { rawGet, serve, walk, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, importDate, temporaryFolder, workshop } from '../../support/workshop.ts'

/** Rows that changed between two snapshots, over HTTP. */

/** Rows of `day,city,deaths` in three snapshots; the third has the first one's value of Belém again. */
const versions = [
  ['2024-03-01,Belém,1', '2024-03-01,Jaú,2', '2024-03-02,Jaú,7'],
  ['2024-03-01,Belém,5', '2024-03-01,Jaú,3', '2024-03-03,Jaú,8'],
  ['2024-03-01,Belém,1', '2024-03-01,Jaú,4', '2024-03-03,Jaú,8'],
]

let service: Service
const ids: string[] = []
beforeAll(async () => {
  const table = {
    name: 't',
    order: ['day'],
    key: ['day', 'city'],
    filters: ['day', 'city'],
    fields: ['day:date', 'city:string', 'deaths:integer'].map(fieldOf),
  }
  const home = await temporaryFolder()
  const first = { ...table, name: 'first', key: undefined }
  const shop = await workshop(catalogAround([table, first]), {}, home)
  await shop.write('d/first.csv', 'day,city,deaths\n2024-03-01,Jaú,1\n')
  await shop.ingest({ tables: ['first'] })
  for (const [index, lines] of versions.entries()) {
    await shop.write('d/t.csv', `day,city,deaths\n${lines.join('\n')}\n`)
    const [outcome] = await shop.ingest({
      tables: ['t'],
      now: () => new Date(importDate.getTime() + index * 60_000),
    })
    if (outcome?.status !== 'published') throw new Error('not published')
    ids.push(outcome.manifest.snapshot)
  }
  service = await serve(shop)
})

const base = '/api/v1/dataset/d/t/changes/'

async function get(query: string): Promise<{ status: number; headers: NodeJS.Dict<unknown>; body: string }> {
  const { status, headers, body } = await rawGet(service.app, `${base}${query}`)
  return { status, headers, body: body.toString() }
}

const jau = { day: '2024-03-01', city: 'Jaú' }

test('the changes since the previous snapshot are a page of rows', async () => {
  const { status, headers, body } = await get('')
  expect(status).toBe(200)
  expect(JSON.parse(body)).toEqual({
    count: 2,
    next: null,
    previous: null,
    results: [
      {
        _change: 'changed',
        _changed: ['deaths'],
        _old_deaths: 5,
        city: 'Belém',
        day: '2024-03-01',
        deaths: 1,
      },
      { _change: 'changed', _changed: ['deaths'], _old_deaths: 3, ...jau, deaths: 4 },
    ],
  })
  expect(headers).toMatchObject({
    'acervo-snapshot': ids[2],
    'acervo-since': ids[1],
    'acervo-count': '2',
    'acervo-changes': 'added=0, removed=0, changed=2',
    link: expect.stringContaining(`/files/d/t/${ids[2]}/changes.parquet>; rel="alternate"`),
  })
})

describe('conditions on the states of a row', () => {
  type Row = readonly [id: number, a: number | null, b: string]
  const texts = ['São Paulo', 'Jaú', 'Bahia']
  const { pick, next } = randomFrom('states')
  const rowOf = (id: number): Row => [id, pick([null, 1, 2, 3]), pick(texts)]
  const ids80 = Array.from({ length: 80 }, (_, id) => id)
  const before = new Map(ids80.slice(0, 60).map((id) => [id, rowOf(id)]))
  const after = new Map(
    ids80.slice(10).map((id) => [id, next() < 0.3 ? (before.get(id) ?? rowOf(id)) : rowOf(id)]),
  )
  let ownService: Service
  beforeAll(async () => {
    const table = {
      name: 't',
      order: ['a', 'id'],
      key: ['id'],
      filters: ['id', 'a', 'b'],
      search: ['b'],
      fields: ['id:integer', 'a:integer', 'b:string'].map(fieldOf),
    }
    const shop = await workshop(catalogAround([table]), {})
    for (const [index, rows] of [before, after].entries()) {
      await shop.write(
        'd/t.csv',
        `id,a,b\n${[...rows.values()].map(([id, a, b]) => `${id},${a ?? ''},${b}`).join('\n')}\n`,
      )
      const now = (): Date => new Date(importDate.getTime() + index * 60_000)
      const [outcome] = await shop.ingest({ now })
      if (outcome?.status !== 'published') throw new Error('not published')
    }
    ownService = await serve(shop)
  })

  test.each<[query: string, holds: (row: Row) => boolean]>([
    ['a=1', ([, a]) => a === 1],
    ['a__ne=1', ([, a]) => a !== 1],
    ['a__isnull=true', ([, a]) => a === null],
    ['a=1&b=Bahia', ([, a, b]) => a === 1 && b === 'Bahia'],
    [
      'a__gte=2&b__in=Bahia,Ja%C3%BA&id__lt=40',
      ([id, a, b]) => a !== null && a >= 2 && b !== 'São Paulo' && id < 40,
    ],
    ['search=paulo', ([, , b]) => b === 'São Paulo'],
    ['search=paulo&a=3', ([, a, b]) => b === 'São Paulo' && a === 3],
  ])(
    '%s selects a changed row if its old or its new state satisfies all conditions',
    async (query, holds) => {
      const expected = [...new Set([...before.keys(), ...after.keys()])].filter((id) => {
        const states = [before.get(id), after.get(id)]
        const isSame = JSON.stringify(states[0]) === JSON.stringify(states[1])
        return !isSame && states.some((row) => row !== undefined && holds(row))
      })
      const { body } = await rawGet(ownService.app, `${base}?${query}&ordering=id`)
      const { results } = JSON.parse(body.toString()) as { results: { id: number }[] }
      expect(results.map(({ id }) => id)).toEqual(expected.toSorted((a, b) => a - b))
      expect(expected.length).toBeGreaterThan(0)
    },
  )
})

test('changes across two refreshes leave out a value that changed and then changed back', async () => {
  const { body, headers } = await get(`?since=${ids[0]}`)
  expect(JSON.parse(body)).toMatchObject({
    count: 3,
    results: [
      { _change: 'changed', _old_deaths: 2, ...jau, deaths: 4 },
      { _change: 'removed', _changed: null, day: '2024-03-02', deaths: 7 },
      { _change: 'added', _changed: null, day: '2024-03-03', deaths: 8 },
    ],
  })
  expect(headers['acervo-changes']).toBe('added=1, removed=1, changed=1')
})

test('changes up to an earlier snapshot never change, and `from` is another name of `since`', async () => {
  const { body, headers } = await get(`?from=${ids[0]}&to=${ids[1]}&city=Bel%C3%A9m`)
  expect(JSON.parse(body)).toMatchObject({ count: 1, results: [{ _old_deaths: 1, deaths: 5 }] })
  expect(headers['cache-control']).toMatch(/immutable/)
})

test('a request for changes since the current snapshot gets an empty list', async () => {
  const { status, body, headers } = await get(`?since=${ids[2]}`)
  expect([status, JSON.parse(body), headers['acervo-changes']]).toEqual([
    200,
    { count: 0, next: null, previous: null, results: [] },
    'added=0, removed=0, changed=0',
  ])
})

test.each([
  ['_change=removed', ['2024-03-02']],
  ['_change__in=added,removed', ['2024-03-02', '2024-03-03']],
  ['_changed__has=deaths', ['2024-03-01']],
  ['day__gte=2024-03-02&ordering=-day', ['2024-03-03', '2024-03-02']],
])('changes are filtered and sorted like rows: %s', async (query, days) => {
  const { body } = await get(`?since=${ids[0]}&${query}`)
  const { results } = JSON.parse(body) as { results: readonly { day: string }[] }
  expect(results.map(({ day }) => day)).toEqual(days)
})

test('the links between pages of changes keep both snapshots', async () => {
  const pages = await walk(service.app, `http://localhost:8000${base}?since=${ids[0]}&page_size=2`)
  expect(pages.map(({ results }) => results.length)).toEqual([2, 1])
  expect(pages[0]?.next).toMatch(new RegExp(`since=${ids[0]}`))
})

test('changes have the formats of rows', async () => {
  const { body } = await get(`?since=${ids[0]}&format=csv&fields=_change,city,deaths,_old_deaths`)
  expect(body.replaceAll('\r', '')).toBe(
    '_change,city,deaths,_old_deaths\nchanged,Jaú,4,2\nremoved,Jaú,7,\nadded,Jaú,8,\n',
  )
  for (const format of ['csv-excel', 'ndjson', 'arrow', 'xlsx'])
    expect([format, (await get(`?format=${format}`)).status]).toEqual([format, 200])
})

test.each<[query: string, status: number, detail: RegExp]>([
  ['?since=yesterday', 400, /"since" must be "current" or the id of a snapshot/],
  [`?since=20200101T000000Z-000000000000&from=20200101T000000Z-000000000000`, 400, /"from" appears twice/],
  ['?since=current', 400, /"since" must be the id of an earlier snapshot/],
  ['?snapshot=current', 400, /no parameter "snapshot"/],
  ['?deaths=1', 400, /"deaths"/],
  [
    '?since=20200101T000000Z-000000000000',
    410,
    /not kept. The oldest ones begin at \d{8}T\d{6}Z-[0-9a-f]{12}: http/,
  ],
  ['?page=9', 404, /page/i],
])('%s is answered with %i', async (query, status, detail) => {
  const answer = await get(query)
  const problem = JSON.parse(answer.body) as { detail: string }
  expect([answer.status, problem.detail]).toEqual([status, expect.stringMatching(detail)])
})

test('a table that was published once has no changes', async () => {
  const { status, headers, body } = await rawGet(service.app, '/api/v1/dataset/d/first/changes/')
  const { count } = JSON.parse(body.toString()) as { count: number }
  expect([status, count, headers['acervo-since']]).toEqual([200, 0, headers['acervo-snapshot']])
})

describe('changes of a table whose fields have names of parameters', () => {
  const fields = ['id:integer', 'from:string', 'to:string'].map(fieldOf)
  let flights: Service
  beforeAll(async () => {
    const home = await temporaryFolder()
    const table = { name: 'flights', order: ['id'], key: ['id'], fields }
    const shop = await workshop(catalogAround([table]), {}, home)
    for (const [index, days] of [[1], [2, 3]].entries()) {
      const rows = days.flatMap((day) => [`${day}0,GRU,BEL`, `${day}1,BEL,GRU`])
      await shop.write('d/flights.csv', `id,from,to\n${rows.join('\n')}\n`)
      await shop.ingest({ now: () => new Date(importDate.getTime() + index * 60_000) })
    }
    // The order of the catalog is another one now, and no ingest has followed.
    const later = await workshop(catalogAround([{ ...table, order: ['from'] }]), {}, home)
    flights = await serve(later)
  })
  const page = async (
    query: string,
  ): Promise<{ next: string | null; results: Record<string, unknown>[] }> => {
    const { body } = await rawGet(flights.app, `/api/v1/dataset/d/flights/changes/${query}`)
    return JSON.parse(body.toString()) as { next: string | null; results: Record<string, unknown>[] }
  }

  test('keep conditions on these fields in their links', async () => {
    const { next, results } = await page('?to__eq=GRU&from__eq=BEL&page_size=1')
    expect(results).toMatchObject([{ to: 'GRU' }])
    expect(next?.replaceAll(/\d{8}T\d{6}Z-[0-9a-f]{12}/g, 'ID')).toMatch(
      /from__eq=BEL&page=2&page_size=1&since=ID&to=ID&to__eq=GRU$/,
    )
    expect((await page(next?.slice(next.indexOf('?')) ?? '')).results).toMatchObject([{ to: 'GRU' }])
  })

  test('are in the order of the request, although the order in the catalog has changed since', async () => {
    const { results } = await page('?ordering=from&_change=added')
    expect(results.map(({ from }) => from)).toEqual(['BEL', 'BEL', 'GRU', 'GRU'])
  })
})

test('the next page shows the changes of the first page, although a snapshot was published meanwhile', async () => {
  const shop = await workshop(
    catalogAround([{ name: 't', key: ['n'], order: ['n'], fields: ['n:integer', 's:string'].map(fieldOf) }]),
  )
  const publish = async (day: number, ...values: string[]): Promise<void> => {
    await shop.write('d/t.csv', `n,s\n${values.map((value, n) => `${n},${value}\n`).join('')}`)
    await shop.ingest({ now: () => new Date(Date.UTC(2026, 0, day)) })
  }
  await publish(1, 'a', 'a', 'a', 'a')
  await publish(2, 'b', 'b', 'b', 'b')
  const { app, snapshots } = await serve(shop)
  const page = async (target: string) => {
    const { body } = await rawGet(app, target)
    return JSON.parse(body.toString()) as { next: string | null; results: readonly { readonly n: number }[] }
  }
  const first = await page(`${base}?page_size=2`)
  await publish(3, 'a', 'a', 'b', 'c')
  await snapshots.refresh()
  const { pathname, search } = new URL(String(first.next))
  const second = await page(pathname + search)
  expect([...first.results, ...second.results].map(({ n }) => n)).toEqual([0, 1, 2, 3])
})

test('the OpenAPI document lists the kinds of changes that a request may name', async () => {
  const { body } = await rawGet(service.app, '/api/v1/dataset/d/t/openapi.json')
  const { components } = JSON.parse(body.toString()) as {
    components: { parameters: Record<string, { schema: unknown }> }
  }
  expect(components.parameters['change-kind']?.schema).toEqual({
    type: 'string',
    enum: ['added', 'removed', 'changed'],
  })
})

test.each([
  [
    '_change=addd',
    'The parameter "_change" has no value "addd" (did you mean "added"?); its values: added, removed, changed.',
  ],
  [
    '_change__in=added,gone',
    'The parameter "_change__in" has no value "gone"; its values: added, removed, changed.',
  ],
  [
    '_changed__has=death',
    'The parameter "_changed__has" has no value "death" (did you mean "deaths"?); its values: day, city, deaths.',
  ],
])('changes are refused for %s, with the valid values', async (query, message) => {
  const { status, body } = await get(`?${query}`)
  expect([status, (JSON.parse(body) as { detail: string }).detail]).toEqual([400, message])
  const page = await rawGet(service.app, `/en/dataset/d/t/changes/?${query}`, { Accept: 'text/html' })
  expect(page.status).toBe(400)
})
