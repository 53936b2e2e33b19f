import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import request from 'supertest'
import { QueryTimeout } from '../../../core/duckdb/errors.ts'
import { layout } from '../../../core/warehouse/layout.ts'
import { manifestText } from '../../../core/warehouse/manifest.ts'
import { TooLarge } from '../../../server/table/engine/errors.ts'
import { recordStatements } from './recorded-statements.ts'
import { getPage, rawGet, serve as serveAll, walk, type Service } from '../../support/service.ts'
import { catalogAround, fieldOf, workshop, type Workshop } from '../../support/workshop.ts'
import { sampled, testAll } from '../../support/runs.ts'

/** DuckDB selections and their cache: which are read, repeated, and refused. */

const serve: typeof serveAll = async (of, options) => serveAll(of, { codesBytesMax: 0, ...options })

const address = '/api/v1/dataset/d/t/data/'
const rowCount = 5000
const states = ['SP', 'RJ', 'MG', 'BA', null]
const names = ['São Paulo', 'sao tome', 'CAMPINAS', 'Água Boa', 'Rio', 'Ijuí', '']

interface Row {
  readonly n: number
  readonly state: string | null
  readonly name: string
  readonly code: string
}

const rows: readonly Row[] = Array.from({ length: rowCount }, (_, n) => ({
  n,
  state: states[(n * 7) % states.length] ?? null,
  name: `${names[n % names.length] ?? ''} ${n % 13}`.trim(),
  code: `c${(n * 7919) % 1000}`,
}))

const catalog = catalogAround([
  {
    name: 't',
    order: ['n asc'],
    filters: ['n', 'state', 'code'],
    search: ['name'],
    fields: ['n:integer', 'state:string', 'name:string', 'code:string'].map(fieldOf),
  },
])
const csv = (list: readonly Row[]): string =>
  `n,state,name,code\n${list.map(({ n, state, name, code }) => `${n},${state ?? ''},${name},${code}`).join('\n')}\n`

let shop: Workshop
beforeAll(async () => {
  shop = await workshop(catalog, { 'd/t.csv': csv(rows) })
  await shop.ingest({ partRows: 512, codedDistinctMax: 20 })
})

const numbers = (results: readonly Record<string, unknown>[]): unknown[] => results.map(({ n }) => n)

describe('a selection is computed once', () => {
  test('for all its pages, formats and fields, and for many concurrent readers', async () => {
    const { app, scans } = await serve(shop)
    const ask = `${address}?state=SP&page_size=10`
    await Promise.all(Array.from({ length: 20 }, () => getPage(app, ask)))
    await getPage(app, `${ask}&page=7`)
    await getPage(app, `${ask}&page=last&fields=n`)
    await request(app).get(`${ask}&format=csv`).expect(200)
    expect(scans.statements).toBe(1)
    await getPage(app, `${address}?state__eq=SP&page_size=10`)
    expect(scans.statements).toBe(1)
    await getPage(app, `${address}?state=RJ&page_size=10`)
    expect(scans.statements).toBe(2)
  })

  test.each(sampled(['identity', 'gzip', 'identity;q=0, br']))(
    'and so is a page, for many readers that accept %s',
    async (accepted) => {
      for (const page of [
        `${address}?state=SP&page_size=9`,
        `${address}?state=SP&page_size=8&format=arrow`,
        `${address}?page_size=7`,
      ]) {
        const { app, pool } = await serve(shop)
        const codings = [accepted, 'identity', 'gzip', accepted]
        const asked = Array.from({ length: 40 }, (_, index) =>
          rawGet(app, page, { 'Accept-Encoding': codings[index % 4] ?? '' }),
        )
        expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
        // A query for each part that has rows of the page.
        const { pool: alone, app: second } = await serve(shop)
        await rawGet(second, page)
        expect(pool.statements).toBe(alone.statements)
      }
    },
  )

  test('for each request without a cache, with the same answers', async () => {
    const { app, scans } = await serve(shop, { selectionBytesMax: 0 })
    const due = rows.filter(({ state }) => state === 'SP').map(({ n }) => n)
    const pages = await walk(app, `${address}?state=SP&page_size=400`)
    expect(pages.flatMap(({ results }) => numbers(results))).toEqual(due)
    expect(pages.map(({ count }) => count)).toEqual(pages.map(() => due.length))
    expect(scans.statements).toBeGreaterThan(pages.length)
  })

  testAll('as counts per part, if its positions are too many for the cache', async () => {
    // 5,000 rows are 625 bytes of bits.
    const { app } = await serve(shop, { selectionBytesMax: 600 })
    const due = rows.filter(({ state }) => state === 'BA').map(({ n }) => n)
    const pages = await walk(app, `${address}?state=BA&page_size=300`)
    expect(pages.flatMap(({ results }) => numbers(results))).toEqual(due)
  })
})

const keyOf = (n: number): string => String((n * 7919) % 5003).padStart(6, '0')

describe('only parts that can have matching rows are read:', () => {
  test('for conditions on the first field of the order', async () => {
    const { app, statements } = await recordStatements(shop)
    expect((await getPage(app, `${address}?n__range=600,700&state=SP`)).count).toBe(
      rows.filter(({ n, state }) => n >= 600 && n <= 700 && state === 'SP').length,
    )
    const scans = statements().filter((sql) => sql.includes('bitstring_agg'))
    expect(scans.map((sql) => sql.match(/part-\d+/g))).toEqual([['part-00001']])
    expect((await getPage(app, `${address}?n__gt=99999`)).count).toBe(0)
    expect(statements().filter((sql) => sql.includes('bitstring_agg'))).toHaveLength(1)
  })

  test('a value of a field with many values is looked up, and no part is scanned', async () => {
    const { app, statements } = await recordStatements(shop)
    const codePage = await getPage(app, `${address}?code=c42`)
    expect(numbers(codePage.results)).toEqual(rows.filter(({ code }) => code === 'c42').map(({ n }) => n))
    expect(statements().filter((sql) => /part-\d+/.test(sql))).toEqual([])
    // Other conditions are checked only in those rows.
    const narrow = await getPage(app, `${address}?code__in=c42,c43&state=SP&search=sao`)
    expect(numbers(narrow.results)).toEqual(
      rows
        .filter(
          ({ code, state, name }) => ['c42', 'c43'].includes(code) && state === 'SP' && /s[ãa]o/i.test(name),
        )
        .map(({ n }) => n),
    )
  })

  test.each<[ask: string, isRight: (row: Row) => boolean]>([
    ['code__range=c100,c109', ({ code }) => code >= 'c100' && code <= 'c109'],
    ['code__gt=c990&state=SP', ({ code, state }) => code > 'c990' && state === 'SP'],
    ['code__lte=c100&code__gte=c1', ({ code }) => code <= 'c100' && code >= 'c1'],
    ['code__lt=c0', () => false],
    ['code__isnull=false&n__lt=30', ({ n }) => n < 30],
  ])('the limits of a range are looked up among the many values of a field: %s', async (ask, isRight) => {
    const { app, statements } = await recordStatements(shop)
    const answer = await getPage(app, `${address}?${ask}&page_size=1000`)
    expect(numbers(answer.results)).toEqual(rows.filter(isRight).map(({ n }) => n))
    const isAlone = !ask.includes('&')
    expect(statements().filter((sql) => /part-\d+/.test(sql) && isAlone)).toEqual([])
  })

  describe('texts of digits are sorted as texts', () => {
    const keyed = catalogAround([
      {
        name: 't',
        order: ['n asc'],
        filters: ['n', 'key'],
        fields: ['n:integer', 'key:string'].map(fieldOf),
      },
    ])
    const records = Array.from({ length: rowCount }, (_, n) => ({ n, key: n % 50 === 0 ? null : keyOf(n) }))
    let keys: Workshop
    let orders: unknown
    beforeAll(async () => {
      const lines = records.map(({ n, key }) => `${n},${key ?? ''}`)
      keys = await workshop(keyed, { 'd/t.csv': `n,key\n${lines.join('\n')}\n` })
      const [outcome] = await keys.ingest({ partRows: 512, codedDistinctMax: 20 })
      orders = outcome?.status === 'published' ? outcome.manifest.orders : undefined
    })

    test('in an order that the snapshot stores', () => {
      expect(orders).toMatchObject([{ keys: [{ field: 'key', direction: 'asc' }] }])
    })

    test.each<[ask: string, isRight: (key: string | null) => boolean]>([
      [`key=${keyOf(42)}`, (key) => key === keyOf(42)],
      [`key__in=${keyOf(7)},7919,00000${keyOf(8)},${keyOf(7)}`, (key) => key === keyOf(7)],
      ['key=42', () => false],
      ['key__eq=-00042', () => false],
      ['key__range=000100,000120', (key) => key !== null && key >= '000100' && key <= '000120'],
      ['key__range=000120,000100', () => false],
      ['key__gte=005000', (key) => key !== null && key >= '005000'],
      ['key__lt=0001', (key) => key !== null && key < '0001'],
      ['key__gt=0049x', (key) => key !== null && key > '0049x'],
      ['key__isnull=true', (key) => key === null],
      ['key__isnull=false', (key) => key !== null],
    ])('the condition %s compares texts, not numbers, and finds the expected rows', async (ask, isRight) => {
      const { app, statements } = await recordStatements(keys)
      const answer = await getPage(app, `${address}?${ask}&page_size=1000`)
      const due = records.filter(({ key }) => isRight(key)).map(({ n }) => n)
      expect([answer.count, numbers(answer.results)]).toEqual([due.length, due.slice(0, 1000)])
      expect(statements().filter((sql) => /part-\d+/.test(sql))).toEqual([])
    })

    test('any page in the order of the field is read without a scan of the parts', async () => {
      const { app, statements } = await recordStatements(keys)
      const due = records.toSorted((a, b) =>
        (a.key ?? 'x') < (b.key ?? 'x') ? -1 : (a.key ?? 'x') > (b.key ?? 'x') ? 1 : a.n - b.n,
      )
      const answer = await getPage(app, `${address}?ordering=key&page_size=100&page=3`)
      expect(numbers(answer.results)).toEqual(due.slice(200, 300).map(({ n }) => n))
      expect(statements().filter((sql) => /part-\d+/.test(sql))).toEqual([])
    })
  })

  testAll('words are not looked up in an index of another version of DuckDB', async () => {
    const ownShop = await workshop(catalog, { 'd/t.csv': csv(rows) })
    const [outcome] = await ownShop.ingest({ partRows: 512, codedDistinctMax: 20 })
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    const { manifest } = outcome
    const older = manifestText({ ...manifest, tools: { ...manifest.tools, duckdb: 'v1.4.0' } })
    await writeFile(path.join(ownShop.warehouse, layout.pointer({ dataset: 'd', name: 't' })), older)
    const { app, statements } = await recordStatements(ownShop)
    const due = rows.filter(({ name }) => /s[ãa]o/i.test(name) && name.includes('4'))
    expect(numbers((await getPage(app, `${address}?search=SAO%204&page_size=1000`)).results)).toEqual(
      due.map(({ n }) => n),
    )
    expect(statements().filter((sql) => sql.includes('words-'))).toEqual([])
  })

  test('words are found without accents and case, and no part is read', async () => {
    const { app, statements } = await recordStatements(shop)
    const answer = await getPage(app, `${address}?search=SAO%204&page_size=1000`)
    const due = rows.filter(({ name }) => /s[ãa]o/i.test(name) && name.includes('4'))
    expect(numbers(answer.results)).toEqual(due.map(({ n }) => n))
    expect(statements().filter((sql) => /part-\d+/.test(sql))).toEqual([])
    const byState = await getPage(app, `${address}?search=sao&ordering=-state,n&page_size=5`)
    expect(byState.results.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'SP'))
  })
})

const byState = (direction: 1 | -1): number[] =>
  rows
    .toSorted((a, b) => {
      if (a.state === b.state) return 0
      if (a.state === null || b.state === null) return a.state === null ? 1 : -1
      return direction * (a.state < b.state ? -1 : 1)
    })
    .map(({ n }) => n)

describe('orders', () => {
  test.each([
    ['state', byState(1)],
    ['-state', byState(-1)],
  ])(
    'with ordering=%s, nulls are last and equal rows stay in file order, on every page',
    async (ordering, due) => {
      const { app } = await serve(shop)
      const pages = await walk(app, `${address}?ordering=${ordering}&page_size=700`)
      expect(pages.flatMap(({ results }) => numbers(results))).toEqual(due)
    },
  )

  test('the stored order needs no query, and an order by a field with one value needs no second query', async () => {
    const { app, scans } = await serve(shop)
    await getPage(app, `${address}?ordering=n`)
    expect(scans.statements).toBe(0)
    const { results } = await getPage(app, `${address}?state=SP&order-by=state,n&page_size=3`)
    expect(scans.statements).toBe(1)
    expect(numbers(results)).toEqual(
      rows
        .filter(({ state }) => state === 'SP')
        .map(({ n }) => n)
        .slice(0, 3),
    )
  })

  test.each<[condition: string, isRight: (row: Row) => boolean]>([
    ['state=SP', ({ state }) => state === 'SP'],
    ['state__in=SP,RJ', ({ state }) => state === 'SP' || state === 'RJ'],
    ['state__isnull=true', ({ state }) => state === null],
    ['state__isnull=false', ({ state }) => state !== null],
    ['state__gte=RJ', ({ state }) => state !== null && state >= 'RJ'],
  ])('apply to the rows that match %s', async (condition, isRight) => {
    const { app } = await serve(shop)
    for (const [ordering, sign] of [
      ['state', 1],
      ['-state,n', -1],
    ] as const) {
      const page = await getPage(app, `${address}?${condition}&ordering=${ordering}&page_size=10000`)
      const due = byState(sign).filter((n) => isRight(rows[n] as Row))
      expect([ordering, numbers(page.results)]).toEqual([ordering, due])
    }
  })

  test('an order too large for the cache is read page by page', async () => {
    const { app } = await serve(shop, { selectionBytesMax: 4000 })
    const page = await getPage(app, `${address}?ordering=-state&page_size=10&page=450`)
    expect(numbers(page.results)).toEqual(byState(-1).slice(4490, 4500))
  })
})

describe('a query that costs too much is refused, with the address of the file', () => {
  test.each(['state=SP', 'ordering=-state', 'search=rio'])('if the query is %s', async (query) => {
    const { app, scans } = await serve(shop, { scanValuesMax: 1500 })
    const { body, headers } = await request(app).get(`${address}?${query}`).expect(422)
    const { type, detail } = body as { type: string; detail: string }
    expect(type).toBe('urn:acervo:problem:query-too-costly')
    expect(detail).toMatch(
      /million values.*"n".*All rows are in one file: http:\/\/localhost:8000\/files\/d\/t\.csv\.gz\./,
    )
    expect(headers['link']).toContain('<http://localhost:8000/files/d/t.csv.gz>')
    // A narrower ask is not.
    expect((await getPage(app, `${address}?n__lt=100&state=SP`)).count).toBe(20)
    expect(scans.statements).toBeGreaterThan(0)
  })

  test('a scan that takes too long is stopped, and its answer names the file with all rows', async () => {
    const { app, scans } = await serve(shop)
    // The duration of a short scan depends on the machine.
    jest.spyOn(scans, 'rows').mockRejectedValue(new QueryTimeout(1))
    const { status, body, headers } = await request(app).get(
      `${address}?search=sao%20paulo%201&ordering=-code`,
    )
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect((body as { detail: string }).detail).toContain('http://localhost:8000/files/d/t.csv.gz')
  })
})

test('a repeated request is a 304 before anything is selected', async () => {
  const { app, scans } = await serve(shop)
  const ask = `${address}?state=SP&ordering=-code&page_size=5`
  const { headers } = await request(app).get(ask).expect(200)
  const before = scans.statements
  const again = await serve(shop)
  await request(again.app).get(ask).set('If-None-Match', String(headers['etag'])).expect(304)
  expect([scans.statements, again.scans.statements]).toEqual([before, 0])
})

test('a cached answer keeps the headers that were known only while it was built', async () => {
  const { app } = await serve(shop)
  const ask = `${address}?state=SP&page_size=50`
  const first = await request(app).get(ask).set('Accept-Encoding', 'gzip').expect(200)
  const kept = await request(app).get(ask).set('Accept-Encoding', 'gzip').expect(200)
  await request(app).get(ask).set('Accept-Encoding', 'identity').expect(200)
  const plain = await request(app).get(ask).set('Accept-Encoding', 'identity').expect(200)
  for (const { headers } of [kept, plain]) {
    expect([headers['acervo-count'], headers['link']]).toEqual([
      first.headers['acervo-count'],
      first.headers['link'],
    ])
  }
  expect(first.headers['acervo-count']).toBe('1000')
})

test('a page beyond the end of a selection is a 404, and an empty selection has one empty page', async () => {
  const { app } = await serve(shop)
  await request(app).get(`${address}?state=SP&page_size=1000&page=2`).expect(404)
  const none = await getPage(app, `${address}?state=XX`)
  expect(none).toEqual({ count: 0, next: null, previous: null, results: [] })
  await request(app).get(`${address}?state=XX&page=2`).expect(404)
  expect((await getPage(app, `${address}?state=XX&ordering=-code&page=last`)).results).toEqual([])
})

test('a reader that leaves stops the scan, unless another one needs it', async () => {
  const service: Service = await serve(shop)
  const { selections, snapshots } = service
  const [table] = [...(catalog.datasets.get('d')?.tables.values() ?? [])]
  if (table === undefined) throw new Error('no table')
  const snapshot = snapshots.current(table)
  if (snapshot === null) throw new Error('no snapshot')
  const stop = new AbortController()
  const reader = { client: 'c', pageBytesMax: 1e6, signal: () => stop.signal, pay: async () => undefined }
  const filter = { conditions: [], words: ['paulo'], ordering: [], key: 'k' }
  const gone = selections.find({ snapshot, filter, requester: reader })
  const stays = selections.find({
    snapshot,
    filter,
    requester: { ...reader, signal: () => new AbortController().signal },
  })
  stop.abort()
  await expect(gone).rejects.toThrow('aborted')
  expect((await stays).count).toBeGreaterThan(0)
})

test.each(['?state=SP&page_size=10', '?ordering=-code&page_size=10', '?search=sao&ordering=code'])(
  'if the selection %s needs too much memory, the refusal advises a condition, not a smaller page',
  async (ask) => {
    for (const selectionBytesMax of [0, 10_000_000]) {
      const { app, scans } = await serve(shop, { selectionBytesMax })
      for (const method of ['rows', 'numbers'] as const)
        jest.spyOn(scans, method).mockRejectedValue(new TooLarge())
      const { status, body } = await rawGet(app, `${address}${ask}`)
      const { type, detail } = JSON.parse(body.toString()) as { type: string; detail: string }
      expect([status, type]).toEqual([422, 'urn:acervo:problem:query-too-costly'])
      expect(detail).toMatch(/^The query needs more memory than it may use: add a condition\. All rows are/)
    }
  },
)

describe('tables of odd shapes', () => {
  const odd = [
    'position',
    'page',
    'search',
    'a__in',
    'a',
    'Fields',
    'ordering',
    'com,ma',
    'quo"te',
    'value',
    'words',
  ]
  let made: Service
  beforeAll(async () => {
    const shopOfOdd = await workshop(
      catalogAround([
        {
          name: 'odd',
          order: [],
          filters: odd,
          search: odd,
          fields: odd.map((name) => ({ name, type: 'string' })),
        },
        {
          name: 'none',
          order: ['n asc'],
          filters: ['n', 's'],
          search: ['s'],
          may_be_empty: true,
          fields: ['n:integer', 's:string'].map(fieldOf),
        },
      ]),
      {
        'd/odd.csv': `${odd.map((name) => `"${name.replaceAll('"', '""')}"`).join()}\n${Array.from({ length: 40 }, (_, row) => odd.map((__, at) => String.fromCodePoint(97 + ((row * (at + 3)) % 19))).join()).join('\n')}\n`,
        'd/none.csv': 'n,s\n',
      },
    )
    await shopOfOdd.ingest({ partRows: 16, codedDistinctMax: 5 })
    made = await serve(shopOfOdd)
  })

  test.each(odd)('a field named %s is filtered, ordered by and shown', async (name) => {
    const at = odd.indexOf(name)
    const letter = (row: number): string => String.fromCodePoint(97 + ((row * (at + 3)) % 19))
    const due = Array.from({ length: 40 }, (_, row) => letter(row))
    const quoted = /[,"]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name
    for (const format of ['json', 'ndjson']) {
      const query = new URLSearchParams([
        [`${name}__gte`, 'e'],
        ['ordering', /[,"]/.test(name) ? `"-${name.replaceAll('"', '""')}"` : `-${name}`],
        ['fields', quoted],
        ['format', format],
      ])
      const { text, status } = await request(made.app)
        .get(`/api/v1/dataset/d/odd/data/?${query.toString()}`)
        .buffer(true)
        .parse((res, done) => {
          let content = ''
          res.on('data', (chunk) => (content += String(chunk))).on('end', () => done(null, content))
        })
        .then(({ body, status: code }) => ({ text: String(body), status: code }))
      expect([name, status]).toEqual([name, 200])
      const shown =
        format === 'json'
          ? (JSON.parse(text) as { results: Record<string, string>[] }).results
          : text
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line) as Record<string, string>)
      expect(shown.map((row) => row[name])).toEqual(
        due
          .filter((value) => value >= 'e')
          .toSorted()
          .toReversed(),
      )
    }
    const arrow = await request(made.app).get(
      `/api/v1/dataset/d/odd/data/?format=arrow&${new URLSearchParams([['ordering', quoted]]).toString()}`,
    )
    expect(arrow.status).toBe(200)
  })

  test.each(
    sampled(
      ['n=1', 'n__gt=1&s=a', 's=a', 'search=a', 'ordering=-s', 'n=1&ordering=-s', 'search=a&ordering=s'],
      3,
    ),
  )('an empty table has no rows for %s, cached or not', async (query) => {
    const empty = { count: 0, next: null, previous: null, results: [] }
    expect(await getPage(made.app, `/api/v1/dataset/d/none/data/?${query}`)).toEqual(empty)
    await request(made.app).get(`/api/v1/dataset/d/none/export/?${query}`).expect(200)
  })

  test.each(
    sampled([
      'n__gt=99999',
      'state=XX',
      'code=zzz',
      'search=zzz',
      'search=zzz&ordering=-state',
      'code=c42&ordering=-state',
    ]),
  )('without a cache, %s has the same answer', async (query) => {
    const [kept, unkept] = [await serve(shop), await serve(shop, { selectionBytesMax: 0 })]
    expect(await getPage(unkept.app, `${address}?${query}`)).toEqual(
      await getPage(kept.app, `${address}?${query}`),
    )
    await request(unkept.app).get(`${address}?${query}&page=99`).expect(404)
  })
})

const list = (length: number): string =>
  Array.from({ length }, (_, index) => `12345678${100_000 + index}`).join()

test('a query whose links would be too long is refused', async () => {
  const { app } = await serve(shop)
  const long = await request(app).get(`${address}?code__in=${list(480)}`)
  expect([long.status, (long.body as { type: string }).type]).toEqual([
    414,
    'urn:acervo:problem:address-too-long',
  ])
  const page = await getPage(app, `${address}?code__ne=x&code__in=${list(400)},c1,c2,c3&page_size=1`)
  expect((await getPage(app, String(page.next))).results).toHaveLength(1)
})

test('the queries for one page of rows in many parts do not wait for each other', async () => {
  const { app } = await serve(shop, { queryConnections: 1, scanConnections: 1, queueTimeoutMs: 1 })
  const { results } = await getPage(app, `${address}?ordering=-state,code&page_size=200&page=6`)
  expect(results).toHaveLength(200)
})

test('an export that fails before its first row reports why', async () => {
  const { app } = await serve(shop, { scanValuesMax: 1500 })
  for (const format of ['csv', 'ndjson', 'json', 'arrow']) {
    const { status, headers, body } = await request(app).get(
      `/api/v1/dataset/d/t/export/?ordering=-state&format=${format}`,
    )
    expect([status, headers['content-type'], headers['etag'], headers['trailer']]).toEqual([
      422,
      'application/problem+json',
      undefined,
      undefined,
    ])
    expect((body as { type: string }).type).toBe('urn:acervo:problem:query-too-costly')
  }
})

const isState = (matches: (state: string) => boolean) => (row: Row) =>
  row.state !== null && matches(row.state)

test.each<[query: string, holds: (row: Row) => boolean]>(
  sampled<[query: string, holds: (row: Row) => boolean]>(
    [
      ['state=SP', isState((state) => state === 'SP')],
      ['state__ne=SP', ({ state }) => state !== 'SP'],
      ['state__gt=MG', isState((state) => state > 'MG')],
      ['state__gte=MG', isState((state) => state >= 'MG')],
      ['state__lt=MG', isState((state) => state < 'MG')],
      ['state__lte=MG', isState((state) => state <= 'MG')],
      ['state__in=SP,BA,XX', isState((state) => ['SP', 'BA'].includes(state))],
      ['state__range=BA,MG', isState((state) => state >= 'BA' && state <= 'MG')],
      ['state__contains=p', isState((state) => state === 'SP')],
      ['state__startswith=r', isState((state) => state === 'RJ')],
      ['state__isnull=true', ({ state }) => state === null],
      ['state__isnull=0', ({ state }) => state !== null],
      ['state=None', ({ state }) => state === null],
      ['state__eq=None', () => false],
      ['n__ne=0&n__lt=3', ({ n }) => n === 1 || n === 2],
    ],
    3,
  ),
)('the filter %s selects exactly its rows from a table with nulls', async (query, holds) => {
  const { app } = await serve(shop)
  const due = rows.filter(holds).map(({ n }) => n)
  const page = await getPage(app, `${address}?${query}&page_size=10000`)
  expect([page.count, numbers(page.results)]).toEqual([due.length, due])
})
