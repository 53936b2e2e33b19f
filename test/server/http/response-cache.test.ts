import zlib from 'node:zlib'
import request from 'supertest'
import { allTables } from '../../../core/catalog/catalog.ts'
import { rawGet, serve, walk, tagOf } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { sampled, testAll } from '../../support/runs.ts'

/** Cached responses as clients get them: encodings, ETags and dates. */

const rows = '/api/v1/dataset/d/t/data/'
const three = ['/api/v1/datasets/', '/api/v1/dataset/d/', `${rows}?page_size=10`]

const rowCount = 4196

let shop: Workshop
beforeAll(async () => {
  const lines = Array.from({ length: rowCount }, (_, n) => `${n},${'text '.repeat(60)}${n}`)
  shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], packed: false }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
})

test('an answer too small for compression is cached for all encodings', async () => {
  const service = await serve(shop)
  const target = `${rows}?page_size=1&fields=n`
  const timed = async (): Promise<boolean> => {
    const { headers, body } = await rawGet(service.app, target, { 'Accept-Encoding': 'gzip' })
    expect([headers['content-encoding'], body.toString().endsWith(']}')]).toEqual([undefined, true])
    return 'server-timing' in headers
  }
  // The third response comes from the cache, without timing.
  expect([await timed(), await timed(), await timed()]).toEqual([true, true, false])
})

test.each(['/api/v1/dataset/d/t/data/', '/api/v1/dataset/d/t/export/', '/en/dataset/d/t/'])(
  'answers of %s that differ have different ETags',
  async (target) => {
    const service = await serve(shop)
    const asks = ['n__lt=9', 'n__lt=9&ordering=-n', 'n__lt=9&ordering=s', 'n__lt=8', 'n__gt=9', 's=text']
    const tags: string[] = []
    for (const ask of asks) {
      const { status, headers } = await rawGet(service.app, `${target}?${ask}`)
      expect([ask, status]).toEqual([ask, 200])
      tags.push(headers['etag'] ?? '')
    }
    expect(tags).not.toContain('')
    expect(new Set(tags).size).toBe(asks.length)
  },
)

test.each(['identity', 'gzip', 'br'])(
  'an answer has the same headers, built or cached, in %s',
  async (encoding) => {
    const service = await serve(shop)
    const seen: Record<string, unknown>[] = []
    for (let time = 0; time < 5; time += 1) {
      const { headers } = await rawGet(service.app, `${rows}?page=2&page_size=50`, {
        'Accept-Encoding': encoding,
      })
      const { 'server-timing': _timing, 'x-request-id': _id, date: _date, ...rest } = headers
      seen.push(rest)
    }
    expect(seen[0]).toMatchObject({
      'acervo-count': String(rowCount),
      link: expect.stringContaining('rel="next"'),
    })
    expect(seen).toEqual(seen.map(() => seen[0]))
  },
)

describe('an unchanged answer', () => {
  test.each(sampled(three, 3))('%s is a 304 without a body and without a query', async (target) => {
    const service = await serve(shop)
    const first = await rawGet(service.app, target)
    const { statements } = service.pool
    const again = await rawGet(service.app, target, { 'If-None-Match': first.headers['etag'] ?? '' })
    expect([again.status, again.body.length, service.pool.statements]).toEqual([304, 0, statements])
    const names = ['etag', 'cache-control', 'vary', 'acervo-snapshot', 'acervo-notice']
    expect(names.map((name) => again.headers[name])).toEqual(names.map((name) => first.headers[name]))
    expect(first.headers['cache-control']).toBe('public, max-age=60, stale-while-revalidate=600')
  })

  test.each(
    sampled<[form: string, header: (tag: string) => string, status: number]>(
      [
        ['the tag', (tag) => tag, 304],
        ['its weak form', (tag) => `W/${tag}`, 304],
        ['any', () => '*', 304],
        ['any, with spaces', () => ' * ', 304],
        ['a list', (tag) => `"a", ${tag} , W/"b"`, 304],
        ['a list without spaces', (tag) => `"a",${tag}`, 304],
        ['a list of tags with commas', (tag) => `"a,b", ${tag}`, 304],
        ['another tag', () => '"a"', 200],
        ['a tag that holds it', (tag) => `"x${tag.slice(1)}`, 200],
        ['the tag without quotes', (tag) => tag.replaceAll('"', ''), 200],
        ['the tag of a form that the reader does not accept', (tag) => `${tag.slice(0, -1)}-gzip"`, 200],
        ['nothing', () => '', 200],
        ['junk', () => '"', 200],
      ],
      3,
    ),
  )('compares its ETag with an If-None-Match that has %s', async (_form, header, status) => {
    const service = await serve(shop)
    const target = `${rows}?page_size=10`
    const answer = await rawGet(service.app, target, {
      'If-None-Match': header(await tagOf(service.app, target)),
    })
    expect([answer.status, answer.body.length > 0]).toEqual([status, status === 200])
  })

  test('is recognized by its date only for published files', async () => {
    const { app, snapshots, catalog } = await serve(shop)
    const [first] = allTables(catalog)
    const snapshot = first === undefined ? null : snapshots.current(first)
    const file = `/files/d/t/${snapshot?.manifest.snapshot ?? ''}/part-00000.parquet`
    const dated: string[] = []
    for (const target of [
      file,
      ...three,
      rows,
      `${rows}?format=csv`,
      '/api/v1/dataset/d/t/export/?format=csv',
      '/api/v1/dataset/d/t/export/?format=ndjson',
      '/api/v1/openapi.json',
      '/catalog.ttl',
      '/feeds/atom.xml',
      '/sitemap.xml',
      '/metadata/d/t/schema.json',
      '/api/3/action/package_list',
      '/en/dataset/d/t/',
    ]) {
      const { status, headers } = await rawGet(app, target)
      expect([target, status]).toEqual([target, 200])
      const date = headers['last-modified']
      if (date === undefined) continue
      dated.push(target)
      const again = await rawGet(app, target, { 'If-Modified-Since': date })
      expect([target, again.status, again.body.length]).toEqual([target, 304, 0])
    }
    expect(dated).toEqual([file])
  })

  test('has the same ETag in every process, and no other answer has this ETag', async () => {
    const [first, second] = [await serve(shop), await serve(shop)]
    const targets = [
      ...three,
      rows,
      `${rows}?page_size=10&page=2`,
      `${rows}?page_size=20`,
      '/api/dataset/d/t/data?page_size=10',
      '/api/dataset/d/t/data/?page_size=10',
    ]
    const tags = await Promise.all(targets.map((target) => tagOf(first.app, target)))
    expect(await Promise.all(targets.map((target) => tagOf(second.app, target)))).toEqual(tags)
    expect(new Set(tags).size).toBe(tags.length)
    // The order of parameters, defaults and the words for a page do not matter.
    expect(await tagOf(first.app, `${rows}?page_size=1000&page=1&search=&format=json`)).toBe(tags[3])
    expect(await tagOf(first.app, `${rows}?page=2&page_size=10`)).toBe(tags[4])
    const last = Math.ceil(rowCount / 10)
    expect(await tagOf(first.app, `${rows}?page_size=10&page=last`)).toBe(
      await tagOf(first.app, `${rows}?page_size=10&page=${last}`),
    )
  })

  test('has another ETag on a server with another PUBLIC_URL, since its links differ', async () => {
    const moved = await serve(shop, { publicUrl: new URL('https://data.example.org') })
    const here = await serve(shop)
    for (const target of three) expect(await tagOf(moved.app, target)).not.toBe(await tagOf(here.app, target))
  })
})

test.each(['?page=0', '?a=1', '?page=99999', '?snapshot=x'])(
  'the error of %s is not cached and has no ETag',
  async (query) => {
    const { headers } = await rawGet((await serve(shop)).app, rows + query)
    expect([headers['cache-control'], headers['etag'], headers['last-modified']]).toEqual([
      'no-store',
      undefined,
      undefined,
    ])
  },
)

const hasZstd = 'zstdDecompress' in zlib
const best = hasZstd ? 'zstd' : 'br'
const plain: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: (body) => zlib.brotliDecompressSync(body),
  gzip: (body) => zlib.gunzipSync(body),
  zstd: (body) =>
    (zlib as unknown as { zstdDecompressSync: (body: Buffer) => Buffer }).zstdDecompressSync(body),
}

describe('compression', () => {
  test.each<[acceptEncoding: string, encoding: string | undefined]>(
    sampled<[acceptEncoding: string, encoding: string | undefined]>(
      [
        ['gzip', 'gzip'],
        ['gzip, deflate', 'gzip'],
        ['x-gzip', undefined],
        ['br', 'br'],
        ['gzip, br', 'br'],
        ['GZIP', 'gzip'],
        ['gzip;q=1, br;q=0.5', 'gzip'],
        ['br;q=0, gzip;q=0.1', 'gzip'],
        ['identity', undefined],
        ['identity;q=1, gzip;q=0.5', undefined],
        ['gzip;q=0', undefined],
        ['deflate', undefined],
        ['*', best],
        ['*;q=0', undefined],
        ['', undefined],
        ['zstd', hasZstd ? 'zstd' : undefined],
        ['gzip, deflate, br, zstd', best],
        [';;,=', undefined],
      ],
      3,
    ),
  )('follows Accept-Encoding: %s', async (acceptEncoding, encoding) => {
    const service = await serve(shop)
    const identity = await rawGet(service.app, rows)
    const answer = await rawGet(service.app, rows, { 'Accept-Encoding': acceptEncoding })
    const body = encoding === undefined ? answer.body : plain[encoding]?.(answer.body)
    expect([answer.headers['content-encoding'], body?.equals(identity.body)]).toEqual([encoding, true])
    expect(answer.headers['content-length']).toBe(String(answer.body.length))
    expect(answer.headers['vary']).toBe('Accept, Accept-Encoding')
    const suffix = encoding === undefined ? '"' : `-${encoding}"`
    expect(answer.headers['etag']).toBe(identity.headers['etag']?.replace(/"$/, suffix))
    const again = await rawGet(service.app, rows, {
      'Accept-Encoding': acceptEncoding,
      'If-None-Match': answer.headers['etag'] ?? '',
    })
    expect(again.status).toBe(304)
  })

  test('is skipped for a small answer', async () => {
    const { headers, body } = await rawGet((await serve(shop)).app, `${rows}?page_size=1`, {
      'Accept-Encoding': 'gzip',
    })
    expect([headers['content-encoding'], body.toString().startsWith('{"count":')]).toEqual([undefined, true])
    expect(headers['etag']).toMatch(/^"[\w-]{22}"$/)
  })

  test('gives HEAD the same length and encoding as GET', async () => {
    const { app } = await serve(shop)
    const head = await request(app).head(rows).set('Accept-Encoding', 'gzip').expect(200)
    const get = await request(app).get(rows).set('Accept-Encoding', 'gzip').expect(200)
    const names = ['content-encoding', 'content-length', 'etag'] as const
    expect(names.map((name) => head.headers[name] as unknown)).toEqual(
      names.map((name) => get.headers[name] as unknown),
    )
    expect(head.headers['content-encoding']).toBe('gzip')
  })

  test('is skipped beyond its limit, unless the compressed body is cached or the client refuses identity', async () => {
    const service = await serve(shop, { compressionsMax: 0 })
    const encodingOf = async (): Promise<string | undefined> =>
      (await rawGet(service.app, rows, { 'Accept-Encoding': 'br, gzip' })).headers['content-encoding']
    expect(await encodingOf()).toBeUndefined()
    // A client that refuses identity gets compressed bytes.
    const strict = await rawGet(service.app, rows, { 'Accept-Encoding': 'gzip, identity;q=0' })
    expect(strict.headers['content-encoding']).toBe('gzip')
    expect(await encodingOf()).toBe('gzip')
  })
})

test.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'gzip'],
  ['*', 'gzip'],
  ['br, gzip;q=0.9', 'br'],
  ['br', 'br'],
  ['identity', undefined],
])('rows that are stored in gzip are sent for "%s" in %s', async (acceptEncoding, encoding) => {
  const lines = Array.from({ length: 500 }, (_, n) => `${n},${'text '.repeat(n % 60)}${n}`)
  const packed = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await packed.ingest()
  const [first, second] = [await serve(packed), await serve(packed, { compressionsMax: 0 })]
  const target = `${rows}?page_size=150&page=2`
  const identity = await rawGet(first.app, target)
  // A cached plain body changes no byte of the stored form.
  await rawGet(first.app, target)
  const headers = { 'Accept-Encoding': acceptEncoding }
  const answers = [
    ...(await Promise.all([rawGet(first.app, target, headers), rawGet(first.app, target, headers)])),
    await rawGet(first.app, target, headers),
    // Other processes send the same bytes, even while they compress nothing.
    ...(encoding === 'gzip' ? [await rawGet(second.app, target, headers)] : []),
  ]
  for (const { body, headers: sentHeaders } of answers) {
    const bytes = encoding === undefined ? body : plain[encoding]?.(body)
    expect([sentHeaders['content-encoding'], bytes?.toString()]).toEqual([encoding, identity.body.toString()])
    expect([sentHeaders['etag'], sentHeaders['acervo-count']]).toEqual([answers[0]?.headers['etag'], '500'])
    expect(body.equals(answers[0]?.body ?? Buffer.alloc(0))).toBe(true)
  }
})

test('no more than the allowed number of bodies is compressed at the same time, and cached ones are not built again', async () => {
  const service = await serve(shop, { compressionsMax: 1 })
  const gzip = { 'Accept-Encoding': 'gzip' }
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, page) =>
      rawGet(service.app, `${rows}?page_size=100&page=${page + 1}`, gzip),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(answers.filter(({ headers }) => headers['content-encoding'] === undefined)).not.toEqual([])
  const target = `${rows}?page_size=50`
  for (let time = 0; time < 2; time += 1) await rawGet(service.app, target)
  const { statements } = service.pool
  const { headers } = await rawGet(service.app, target, gzip)
  expect([headers['content-encoding'], service.pool.statements]).toEqual(['gzip', statements])
})

describe('shared work:', () => {
  test.each(sampled(['identity', 'gzip']))(
    '100 simultaneous requests for one cold page (%s) run one query',
    async (encoding) => {
      const service = await serve(shop)
      const target = `${rows}?page_size=100&page=3`
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => rawGet(service.app, target, { 'Accept-Encoding': encoding })),
      )
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.toString('base64')}`)).size).toBe(1)
      expect([answers[0]?.status, service.pool.statements]).toEqual([200, 1])
    },
  )

  testAll('paging gives each row once, for any page size', async () => {
    const service = await serve(shop)
    for (const size of [37, 100, 999, 10_000]) {
      const pages = await walk(service.app, `${rows}?page_size=${size}`)
      expect(pages.flatMap(({ results }) => results.map(({ n }) => n))).toEqual([
        ...Array.from({ length: rowCount }).keys(),
      ])
    }
  })

  test('a page is cached when it is requested for the second time', async () => {
    const service = await serve(shop)
    const target = `${rows}?page_size=10`
    const queries: number[] = []
    const bodies: string[] = []
    for (let time = 0; time < 4; time += 1) {
      bodies.push((await rawGet(service.app, target)).body.toString())
      queries.push(service.pool.statements)
    }
    expect(queries).toEqual([1, 2, 2, 2])
    expect(new Set(bodies).size).toBe(1)
  })

  test('a page of over a megabyte is cached only in compressed form', async () => {
    const service = await serve(shop)
    const target = `${rows}?page_size=10000`
    const ask = async (form: Record<string, string>): Promise<number> => {
      const before = service.pool.statements
      const { status, headers } = await rawGet(service.app, target, form)
      expect([status, headers['content-encoding']]).toEqual([200, form['Accept-Encoding']])
      return service.pool.statements - before
    }
    const whole = [await ask({}), await ask({}), await ask({})]
    expect(whole.every((queries) => queries > 0 && queries === whole[0])).toBe(true)
    const gzip = { 'Accept-Encoding': 'gzip' }
    expect([await ask(gzip), await ask(gzip)]).toEqual([whole[0], 0])
  })

  test('the cache stays within its size, and evicts the least recently used first', async () => {
    const form = { 'Accept-Encoding': 'br' }
    const { body } = await rawGet((await serve(shop)).app, `${rows}?page_size=500&page=2`, form)
    const service = await serve(shop, { cachedBytesMax: Math.round(2.5 * body.length) })
    const ask = async (page: number): Promise<number> => {
      const before = service.pool.statements
      await rawGet(service.app, `${rows}?page_size=500&page=${page}`, form)
      return service.pool.statements - before
    }
    expect([await ask(1), await ask(1)]).toEqual([1, 0])
    for (const page of [2, 3, 4, 5, 6]) await ask(page)
    expect([await ask(6), await ask(1)]).toEqual([0, 1])
  })
})

test('Server-Timing has the time of a live page, and is absent from a cached one', async () => {
  const service = await serve(shop)
  const timings: (string | undefined)[] = []
  for (let time = 0; time < 3; time += 1) {
    const { headers } = await rawGet(service.app, `${rows}?page_size=10&page=3`)
    timings.push(headers['server-timing']?.toString())
  }
  const [live = '', , cached] = timings
  const [, query] =
    /^queue;dur=[\d.]+, query;dur=([\d.]+), send;dur=[\d.]+, plan;desc="table"$/.exec(live) ?? []
  expect(Number(query)).toBeGreaterThan(0)
  expect(cached).toBeUndefined()
})
