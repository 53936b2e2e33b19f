import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { RequestListener } from 'node:http'
import request from 'supertest'
import { getPage, rawGet, serve, walk } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'
import { until } from '../../support/until.ts'
import { isQuick, testSampled } from '../../support/runs.ts'

const address = '/api/v1/dataset/d/t/data/'

/** `n` from 0, in a table that is ordered by it and written in parts of a few rows. */
async function numbered(rows: number, partRows: number, hasRowStore = true) {
  const lines = Array.from({ length: rows }, (_, index) => `${(index * 7) % rows},x${index}`)
  const fields = ['n:integer', 's:string']
  const shop = await workshop(tinyCatalog({ fields, order: ['n'], packed: hasRowStore }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest({ partRows })
  return shop
}

test('the link to the next page is complete for the longest query, and paging by links reaches the end', async () => {
  const shop = await workshop(
    tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: ['n'] }),
    {
      'd/t.csv': `n,s\n${Array.from({ length: 900 }, (_, n) => `${n},x`).join('\n')}\n`,
    },
  )
  await shop.ingest()
  const service = await serve(shop)
  const chosen = Array.from({ length: 500 }, (_, n) => 10 + n)
  let next: string | undefined = `${address}?n__in=${chosen.join()}&page_size=200&format=csv`
  const numbers: number[] = []
  while (next !== undefined) {
    const { status, headers, body } = await rawGet(service.app, next)
    expect(status).toBe(200)
    const lines = body.toString().trim().split('\n').slice(1)
    numbers.push(...lines.map((line) => Number(line.split(',')[0])))
    next = /<http:\/\/localhost:8000([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1]
  }
  expect(numbers).toEqual(chosen)
})

describe('pages', () => {
  let inParts: RequestListener
  let app: RequestListener
  beforeAll(async () => {
    ;({ app: inParts } = await serve(await numbered(23, 5)))
    ;({ app } = await serve(await numbered(23, 100)))
  })

  test.each(isQuick ? [1, 7, 23, 1000] : [1, 2, 3, 7, 10, 22, 23, 24, 1000])(
    'of %i rows give each row once and in order, over parts of 5 rows',
    async (size) => {
      const pages = await walk(inParts, `${address}?page_size=${size}`)
      expect(pages.flatMap((page) => page.results.map((row) => row['n']))).toEqual([
        ...Array.from({ length: 23 }).keys(),
      ])
      expect(pages.map((page) => page.count)).toEqual(pages.map(() => 23))
      expect(pages.map((page) => page.results.length)).toEqual(
        Array.from({ length: Math.ceil(23 / size) }, (_, index) => Math.min(size, 23 - index * size)),
      )
      const backwards: unknown[] = []
      for (let next: string | null = `${address}?page=last&page_size=${size}`; next !== null;) {
        const page = await getPage(inParts, next)
        backwards.push(...page.results.map((row) => row['n']).toReversed())
        next = page.previous
      }
      expect(backwards).toEqual([...Array.from({ length: 23 }).keys()].toReversed())
    },
  )

  test.each<[page: string, first: number | null]>([
    ['1', 0],
    ['02', 10],
    ['+3', null],
    ['%2B3', 20],
    [' 2 ', 10],
    ['%202', 10],
    ['last', 20],
    ['', 0],
    ['0', null],
    ['-1', null],
    ['4', null],
    ['1.5', null],
    ['2.0', null],
    ['1e1', null],
    ['1_0', null],
    ['abc', null],
    ['LAST', null],
    ['%00', null],
    ['%D9%A2', null],
    ['99999999999999999999', null],
  ])('are selected by page=%s, or the value is refused', async (page, first) => {
    const response = await request(app).get(`${address}?page_size=10&page=${page.replaceAll(' ', '%20')}`)
    const body = response.body as { results?: { n: number }[]; detail?: string }
    // A plus sign is a space in a query, so `+3` asks for page " 3".
    const expected = page === '+3' ? 20 : first
    expect([response.status, body.results?.[0]?.n ?? null, body.detail]).toEqual(
      expected === null ? [404, null, 'Invalid page.'] : [200, expected, undefined],
    )
  })

  test.each(['0', '-1', '10001', 'abc', '1.5', '1e2', ' 5', '%00', '９'])(
    'with page_size=%s are refused, and the message names the parameter',
    async (size) => {
      const response = await request(app)
        .get(`${address}?page_size=${encodeURI(size)}`)
        .expect(400)
      expect(response.body).toMatchObject({
        errors: [
          {
            parameter: 'page_size',
            message: 'The parameter "page_size" must be a whole number from 1 to 10000.',
          },
        ],
      })
    },
  )
})

test('the declared order is total: each field has a direction, nulls are last, and ties stay as in the source', async () => {
  const shop = await workshop(
    tinyCatalog({ fields: ['a:string', 'b:integer', 'at:integer'], order: ['a desc', 'b'] }),
    {
      'd/t.csv': 'a,b,at\nx,2,0\n,1,1\nÉ,1,2\nx,,3\nx,2,4\ny,1,5\nx,1,6\n,,7\nZ,1,8\nx,2,9\n',
    },
  )
  await shop.ingest({ partRows: 4 })
  const { app } = await serve(shop)
  const pages = await walk(app, `${address}?page_size=3`)
  expect(pages.flatMap((page) => page.results.map((row) => row['at']))).toEqual([
    2, 5, 6, 0, 4, 9, 3, 8, 1, 7,
  ])
})

test('rows keep their order over many row groups and threads', async () => {
  const count = isQuick ? 40_003 : 100_003
  const shop = await numbered(count, 30_000)
  const { app } = await serve(shop)
  const pages = await walk(app, `${address}?page_size=10000`)
  expect(pages.flatMap((page) => page.results.map((row) => row['n']))).toEqual([
    ...Array.from({ length: count }).keys(),
  ])
})

function csv(tag: string, rows: number): string {
  return `n,s\n${Array.from({ length: rows }, (_, index) => `${index},${tag}`).join('\n')}\n`
}

describe('a refresh', () => {
  test('is served without a restart, and no answer mixes two snapshots', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
      'd/t.csv': csv('v0', 50),
    })
    await shop.ingest({ partRows: 7 })
    const { app, snapshots } = await serve(shop)
    snapshots.follow()
    const publishing = new AbortController()
    const seen = new Set<string>()
    const reader = async (): Promise<void> => {
      while (!publishing.signal.aborted) {
        const { count, results } = await getPage(app, `${address}?page_size=10000`)
        const tags = new Set(results.map((result) => String(result['s'])))
        const [tag = ''] = tags
        expect({ tags: tags.size, count, length: results.length }).toEqual({
          tags: 1,
          count: 50 + Number(tag.slice(1)),
          length: count,
        })
        seen.add(tag)
        // Leaves the processor to the ingest.
        await setTimeout(20)
      }
    }
    const readers = Promise.all([reader(), reader(), reader()])
    for (let version = 1; version <= (isQuick ? 1 : 3); version += 1) {
      await shop.write('d/t.csv', csv(`v${version}`, 50 + version))
      const [outcome] = await shop.ingest({ partRows: 7, now: () => new Date(Date.UTC(2026, 1, version)) })
      expect(outcome?.status).toBe('published')
      await until(() => seen.has(`v${version}`))
    }
    publishing.abort()
    await readers
  })

  test('that fails keeps the old snapshot and its import date', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
      'd/t.csv': csv('old', 3),
    })
    await shop.ingest()
    const { app, snapshots } = await serve(shop)
    await shop.write('d/t.csv', 'n,s\n1,new\nx,new\n')
    const [outcome] = await shop.ingest({ now: () => new Date('2027-01-01T00:00:00Z') })
    expect(outcome?.status).toBe('failed')
    await snapshots.refresh()
    const { count, results } = await getPage(app, address)
    expect([count, results[0]]).toEqual([3, { n: 0, s: 'old' }])
    const detail = await request(app).get('/api/v1/dataset/d/').expect(200)
    expect(detail.body).toMatchObject({ tables: [{ import_date: '2026-01-02T03:04:05Z' }] })
  })

  test('with a missing part is refused, reported once, and served when it is complete', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
      'd/t.csv': csv('old', 3),
    })
    await shop.ingest()
    const { app, snapshots, logged } = await serve(shop)
    await shop.write('d/t.csv', csv('new', 4))
    const [outcome] = await shop.ingest({ now: () => new Date('2027-01-01T00:00:00Z') })
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    const part = path.join(shop.warehouse, 'd', 't', outcome.manifest.snapshot, 'part-00000.parquet')
    await rename(part, `${part}.away`)
    await snapshots.refresh()
    await snapshots.refresh()
    expect((await getPage(app, address)).count).toBe(3)
    expect(logged().split('snapshot rejected; still serving the previous one')).toHaveLength(2)
    await rename(`${part}.away`, part)
    await snapshots.refresh()
    expect((await getPage(app, address)).count).toBe(4)
  })

  testSampled<[title: string, change: (manifest: string) => string]>([
    ['cut off', (text) => text.slice(0, 100)],
    ['of an unknown format', (text) => text.replace('"format": 2', '"format": 3')],
    ['whose parts leave a gap', (text) => text.replace('"firstRow": 2', '"firstRow": 3')],
    ['whose parts do not add up', (text) => text.replace('"rows": 3,', '"rows": 4,')],
    ['that leads out of its folder', (text) => text.replace('part-00000', '../part-00000')],
    ['of another date', (text) => text.replace('"import_date": "2026', '"import_date": "2027')],
  ])('with a manifest %s is refused; the newest intact snapshot on disk is served', async (_what, change) => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
      'd/t.csv': csv('old', 3),
    })
    await shop.ingest({ partRows: 2 })
    const home = path.join(shop.warehouse, 'd', 't')
    const pointer = path.join(home, 'current.json')
    const text = await readFile(pointer, 'utf8')
    expect(change(text)).not.toBe(text)
    await writeFile(pointer, change(text))
    const whole = await serve(shop)
    expect((await getPage(whole.app, address)).count).toBe(3)
    expect(whole.logged()).toContain('current.json is damaged or has an unknown format')
    const id = (await readdir(home)).find((name) => name.startsWith('2026')) ?? ''
    await rm(path.join(home, id, 'part-00000.parquet'))
    const { app } = await serve(shop)
    await request(app).get(address).expect(503)
  })

  test('with a flipped bit is refused', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
      'd/t.csv': csv('old', 3),
    })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error('expected a snapshot')
    const part = path.join(shop.warehouse, 'd', 't', outcome.manifest.snapshot, 'part-00000.parquet')
    const bytes = await readFile(part)
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await writeFile(part, bytes)
    const { app, logged } = await serve(shop)
    await request(app).get(address).expect(503)
    expect([logged().includes('"snapshot rejected"'), logged().includes('still serving')]).toEqual([
      true,
      false,
    ])
    expect(logged()).toContain('part-00000.parquet is damaged')
  })

  test('with other fields than declared is not served', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
      'd/t.csv': csv('old', 3),
    })
    await shop.ingest()
    const changed = { ...shop, catalog: tinyCatalog({ fields: ['n:integer', 's:string', 'more:date'] }) }
    const { app } = await serve(changed)
    await request(app).get(address).expect(503)
  })
})

test('a page that is too large is refused', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
    'd/t.csv': csv('x'.repeat(100), 100),
  })
  await shop.ingest()
  const { app } = await serve(shop, { pageBytesMax: 5000 })
  await request(app).get(`${address}?page_size=10&page=2`).expect(200)
  await request(app).get(`${address}?page_size=100`).expect(422)
})

test('rows that DuckDB returns out of order are sorted, and a missing one is an error', async () => {
  const { app, pool, logged } = await serve(await numbered(3, 5, false))
  const answer = { bytes: Buffer.from('{"n":1},{"n":0},{"n":2}'), lengths: Uint32Array.of(7, 7, 7) }
  const timing = { queue: 0, query: 0 }
  const texts = jest.spyOn(pool, 'texts')
  texts.mockResolvedValueOnce({ ...answer, rows: Uint32Array.of(1, 0, 2), timing })
  expect((await getPage(app, address)).results).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  texts.mockResolvedValueOnce({ ...answer, rows: Uint32Array.of(1, 0, 1), timing })
  await request(app).get(`${address}?page_size=50`).expect(500)
  expect(logged()).toContain('was not found')
})

const endless = {
  sql: "select encode('x') from range(100000000000) as t(x) where sqrt(x) * 2 = 3",
  parameters: [],
  reads: null,
}

test('a long wait in the queue answers 503 with Retry-After', async () => {
  const { app, pool } = await serve(await numbered(3, 5, false), {
    queryConnections: 1,
    scanConnections: 1,
    queueTimeoutMs: 100,
  })
  const stop = new AbortController()
  const held = pool.texts(endless, 'holder', stop.signal).catch((error: unknown) => error)
  const waiting = await request(app).get(address)
  expect([waiting.status, waiting.headers['retry-after'], (waiting.body as { type: string }).type]).toEqual([
    503,
    '5',
    'urn:acervo:problem:overloaded',
  ])
  stop.abort()
  await held
  expect((await getPage(app, address)).count).toBe(3)
})

test('a query that takes too long is stopped, and leaves nothing behind', async () => {
  const { app, pool } = await serve(await numbered(3, 5, false), {
    queryConnections: 1,
    scanConnections: 1,
    queryTimeoutMs: 300,
  })
  await expect(pool.texts(endless, 'holder', new AbortController().signal)).rejects.toMatchObject({
    name: 'QueryTimeout',
  })
  expect((await getPage(app, address)).count).toBe(3)
})

test('a bug answers 500 without details, and logs them', async () => {
  const { app, pool, logged } = await serve(await numbered(3, 5, false))
  const secret = 'SELECT secret FROM /srv/warehouse'
  jest.spyOn(pool, 'texts').mockRejectedValue(new Error(secret))
  const response = await request(app).get(address).expect(500)
  expect(response.body).toEqual({
    type: 'urn:acervo:problem:internal-error',
    title: 'Internal error of the service',
    status: 500,
    detail: 'The service failed; its operator can find the reason in its log by the id of this error.',
    instance: `urn:uuid:${String(response.headers['x-request-id'])}`,
  })
  expect(JSON.stringify(response.headers)).not.toContain('SELECT')
  expect(logged()).toContain(secret)
  expect(logged()).toContain(String(response.headers['x-request-id']))
})

test('a part that disappears under the server is a 503 that names no path', async () => {
  const shop = await numbered(3, 5)
  const { app } = await serve(shop)
  await rm(shop.warehouse, { recursive: true })
  const { text } = await request(app).get(address).expect(503)
  expect(text).not.toMatch(/tmp|parquet|warehouse|select/i)
})
