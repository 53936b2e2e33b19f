import http from 'node:http'
import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { promisify } from 'node:util'
import { tableFromIPC } from 'apache-arrow'
import { parse } from 'csv-parse/sync'
import request from 'supertest'
import { publishedOf } from '../../../core/warehouse/publish.ts'
import { readReport, type SnapshotReport } from '../../../core/warehouse/report.ts'
import { rowFormats } from '../../../server/formats/registry.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { describeAll, isQuick, sampled, seed, testAll } from '../../support/runs.ts'
import { getPage, rawGet, serve, type Service } from '../../support/service.ts'
import {
  catalogAround,
  fieldOf,
  temporaryFolder,
  tinyCatalog,
  workshop,
  type Workshop,
} from '../../support/workshop.ts'
import { describeWith, pythonClients } from '../../support/needs.ts'

/** The same rows in every format, and whole exports. */

const address = '/api/v1/dataset/d/t/data/'
const exported = '/api/v1/dataset/d/t/export/'
const rowCount = 3000
const texts = ['plain', 'com,ma', 'quo"te', 'li\nne', ' spaces ', 'é ã 漢 🎉', "'=1+1", 'None']
const many = ['SP', 'RJ', 'MG']

const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const line = (n: number): string => {
  if (n % 10 === 9) return `${n},,,,,,,,`
  const sign = n % 2 === 0 ? '-' : ''
  return [
    n,
    cell(texts[n % texts.length] ?? ''),
    many[n % many.length],
    `${sign}${9_007_199_254_740_993n + BigInt(n)}`,
    `${sign}${(n / 7).toFixed(3)}e-5`,
    `${sign}12345678901234567890123456.${String(n % 1000).padStart(3, '0')}`,
    n % 3 === 0,
    `20${String(10 + (n % 80)).padStart(2, '0')}-02-28`,
    `1969-12-31 23:59:${String(n % 60).padStart(2, '0')}.${String(n % 1_000_000).padStart(6, '0')}`,
  ].join()
}

let service: Service
let shop: Workshop
beforeAll(async () => {
  const fields = [
    'n:integer',
    's:string',
    'place:string',
    'big:integer',
    'x:float',
    'v:decimal:38:3',
    'b:bool',
    'd:date',
    'm:datetime',
  ]
  const table = { order: ['n asc'], fields: fields.map(fieldOf) }
  const catalog = catalogAround([
    { name: 't', ...table },
    { name: 'small', ...table, export_rows: 100 },
  ])
  const source = `n,s,place,big,x,v,b,d,m\n${Array.from({ length: rowCount }, (_, n) => line(n)).join('\n')}\n`
  shop = await workshop(catalog, { 'd/t.csv': source, 'd/small.csv': source })
  await shop.ingest({ partRows: 1024 })
  service = await serve(shop)
})

/** The report of what is published of a table. */
async function reportOf(name: string): Promise<SnapshotReport | null> {
  const table = { dataset: 'd', name }
  const manifest = await publishedOf(shop.store, table)
  return manifest === null ? null : readReport(shop.store, table, manifest)
}

type Cell = string | number | bigint | boolean | null

/** Rows as texts, with every digit: what all formats must agree on. */
const asText = (rows: readonly Readonly<Record<string, Cell>>[]): string[][] =>
  rows.map((row) =>
    Object.keys(row)
      .toSorted()
      .map((name) =>
        row[name] === null ? 'null' : `${typeof row[name] === 'string' ? 'text ' : ''}${String(row[name])}`,
      ),
  )

const types: Readonly<Record<string, 'text' | 'number' | 'bool'>> = {
  n: 'number',
  big: 'number',
  x: 'number',
  v: 'number',
  b: 'bool',
}

function fromJson(text: string): Record<string, Cell>[] {
  // Digits beyond what JavaScript holds stay as they are written.
  const kept = text.replaceAll(
    /("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)/g,
    (_, quoted: string | undefined, number: string) => quoted ?? `{"number":"${number}"}`,
  )
  return (JSON.parse(kept) as Record<string, unknown>[]).map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
  )
}

function plain(value: unknown): Cell {
  if (typeof value !== 'object' || value === null) return value as Cell
  return new Written((value as { number: string }).number) as unknown as Cell
}

/** A number as it was written. */
class Written {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toString(): string {
    return /[eE]|\.\d/.test(this.digits) && !/^-?\d{17,}\./.test(this.digits)
      ? String(Number(this.digits))
      : this.digits
  }
}

function fromCsv(text: string): Record<string, Cell>[] {
  const marked = text.replaceAll(/(?<=^|,)(?=,|\n)/gm, '\u0000')
  const rows: Record<string, string>[] = parse(marked, { columns: true, recordDelimiter: '\n' })
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]): [string, Cell] => {
        if (value === '\u0000') return [name, null]
        if (types[name] === 'number') return [name, new Written(value) as unknown as Cell]
        return [name, types[name] === 'bool' ? value === 'true' : value]
      }),
    ),
  )
}

function fromArrow(bytes: Uint8Array): Record<string, Cell>[] {
  const table = tableFromIPC(bytes)
  return table.toArray().map((row: { toJSON: () => Record<string, unknown> }) =>
    Object.fromEntries(
      Object.entries(row.toJSON()).map(([name, value]): [string, Cell] => {
        if (value === null) return [name, null]
        if (name === 'd') return [name, new Date(Number(value)).toISOString().slice(0, 10)]
        if (name === 'v') return [name, new Written(decimalOf(value as Uint32Array, 3)) as unknown as Cell]
        return [name, value as Cell]
      }),
    ),
  )
}

function decimalOf(words: Uint32Array, scale: number): string {
  const bits = words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n)
  const value = BigInt.asIntN(128, bits)
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const microseconds = (text: string): string => {
  const [moment = '', fraction = ''] = text.split('.')
  return String(BigInt(Date.parse(`${moment}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0')))
}

const get = async (target: string): Promise<{ headers: http.IncomingHttpHeaders; body: Buffer }> => {
  const answer = await rawGet(service.app, target)
  if (answer.status !== 200) process.stderr.write(service.logged().slice(-1500))
  expect([target, answer.status]).toEqual([target, 200])
  return answer
}

function withMoment(row: Record<string, Cell>): Record<string, Cell> {
  if (!('m' in row) || row['m'] === null) return row
  const micros = typeof row['m'] === 'number' ? BigInt(Math.round(row['m'] * 1000)) : BigInt(String(row['m']))
  // The library reads times as milliseconds.
  return { ...row, m: String(micros / 1000n) }
}

async function typeOf(accept: string, query = ''): Promise<unknown> {
  const asked = request(service.app).get(`${address}?page_size=1${query}`).set('Accept', accept)
  return (await asked.responseType('blob')).headers['content-type']
}

describe('formats of rows', () => {
  test.each(
    sampled(
      [
        ['in stored order', ''],
        ['filtered', 'place=SP'],
        ['in another order, over parts', 'ordering=-place,big'],
        ['some fields', 'fields=v,s,m&b=true'],
        ['a page within', 'page=2'],
        ['nothing', 'place=XX'],
      ],
      2,
    ),
  )('the same rows come in every format and in the export: %s', async (_what, query) => {
    const page = `${address}?page_size=700&${query}`
    const json = fromJson(
      (await get(page)).body
        .toString()
        .replace(/^.*?"results":/, '')
        .slice(0, -1),
    )
    const due = asText(json)
    const csv = await get(`${page}&format=csv`)
    expect(asText(fromCsv(csv.body.toString()))).toEqual(due)
    const ndjson = (await get(`${page}&format=ndjson`)).body.toString()
    expect(ndjson === '' || ndjson.endsWith('\n')).toBe(true)
    expect(asText(fromJson(`[${ndjson.trimEnd().replaceAll('\n', ',')}]`))).toEqual(due)
    const arrow = fromArrow((await get(`${page}&format=arrow`)).body)
    const named = json.map((row) =>
      'm' in row && typeof row['m'] === 'string' ? { ...row, m: microseconds(row['m']) } : row,
    )
    expect(asText(arrow.map(withMoment))).toEqual(asText(named.map(withMoment)))
    if (query.includes('page')) return
    const whole = await get(`${exported}?format=ndjson&${query}`)
    const lines = whole.body.toString().split('\n').slice(0, -1)
    expect(lines).toHaveLength(Number(whole.headers['acervo-count']))
    expect(lines.slice(0, 700).join('\n')).toBe(ndjson.trimEnd())
  })

  test('Accept chooses the format, the parameter "format" overrides it, and each answer states its type', async () => {
    expect(await typeOf('text/csv')).toBe('text/csv; charset=utf-8; header=present')
    expect(await typeOf('application/x-ndjson;q=0.9, text/csv;q=0.1')).toBe('application/x-ndjson')
    expect(await typeOf('application/jsonl')).toBe('application/x-ndjson')
    expect(await typeOf('application/vnd.apache.arrow.stream')).toBe('application/vnd.apache.arrow.stream')
    expect(await typeOf('text/csv', '&format=json')).toBe('application/json')
    expect(await typeOf('text/html')).toBe('text/html; charset=utf-8')
    expect(await typeOf('text/html', '&format=json')).toBe('application/json')
    expect(await typeOf('text/html;q=0.1,*/*')).toBe('application/json')
  })

  test('pages link to each other and to other formats in their headers', async () => {
    const at = `http://localhost:8000${address}`
    const { headers: middle } = await get(`${address}?page_size=1000&page=2&format=csv`)
    expect(String(middle['link']).split(', ')).toEqual([
      '<http://localhost:8000/files/d/t.csv.gz>; rel="alternate"; type="application/gzip"',
      `<${at}?format=csv&page=3>; rel="next"`,
      `<${at}?format=csv>; rel="prev"`,
      `<${at}?format=csv>; rel="first"`,
      `<${at}?format=csv&page=3>; rel="last"`,
      ...rowFormats
        .filter(({ name }) => name !== 'csv')
        .map(
          ({ name, mediaTypes: [mediaType] }) =>
            `<${at}?format=${name}&page=2>; rel="alternate"; type="${mediaType}"`,
        ),
    ])
  })

  test('Arrow has real types, and dictionaries for few values', async () => {
    const { body } = await get(`${address}?page_size=5&format=arrow`)
    const { fields } = tableFromIPC(body).schema
    expect(fields.map(({ name, type }) => `${name} ${String(type)}`)).toEqual([
      'b Bool',
      'big Int64',
      'd Date32<DAY>',
      'm Timestamp<MICROSECOND>',
      'n Int64',
      'place Dictionary<Int32, Utf8>',
      's Dictionary<Int32, Utf8>',
      'v Decimal[38e+3]',
      'x Float64',
    ])
  })
})

test.each(['csv', 'csv-excel'])(
  'columns of %s have the declared order, or the order of the parameter "fields"',
  async (format) => {
    const separator = format === 'csv' ? ',' : ';'
    const headOf = async (target: string): Promise<string[]> => {
      const { status, body } = await rawGet(service.app, target, { 'Accept-Encoding': 'identity' })
      expect([target, status]).toEqual([target, 200])
      const [head = ''] = body.toString().replace('\ufeff', '').split(/\r?\n/)
      return head.split(separator)
    }
    const declared = ['n', 's', 'place', 'big', 'x', 'v', 'b', 'd', 'm']
    const chosen = ['x', 'n', 'big']
    for (const target of [
      `${address}?page_size=5&`,
      `${address}?n__lt=20&ordering=-x&`,
      `${exported}?`,
      `${exported}?n__lt=20&`,
    ]) {
      expect(await headOf(`${target}format=${format}`)).toEqual(declared)
      expect(await headOf(`${target}format=${format}&fields=x,n,big`)).toEqual(chosen)
      expect(await headOf(`${target}format=${format}&fields=${declared.toReversed().join()}`)).toEqual(
        declared.toReversed(),
      )
    }
    const { headers, body } = await rawGet(
      service.app,
      `${address}?page_size=2&fields=x,n,big&format=${format}`,
    )
    const [, row = ''] = body.toString().split(/\r?\n/)
    const { body: page } = await request(service.app).get(`${address}?page_size=2&fields=x,n,big`)
    const [first] = (page as { results: Record<string, unknown>[] }).results
    expect(Object.keys(first ?? {})).toEqual(['big', 'n', 'x'])
    expect(row.split(separator)[1]).toBe(String(first?.['n']))
    // The next page has the columns of this one.
    const next = /<([^>]*)>; rel="next"/.exec(String(headers['link']))?.[1] ?? ''
    expect(new URL(next).searchParams.get('fields')).toBe('x,n,big')
  },
)

describe('an export', () => {
  test.each(sampled(['', '?format=csv', '?ordering=n'], 3))(
    'of everything%s is the published file',
    async (ask) => {
      const { snapshot } = (await request(service.app).get('/api/v1/dataset/d/t/')).body as {
        snapshot: string
      }
      const file = await rawGet(service.app, `/files/d/t/${snapshot}/t.csv.gz`)
      const packed = await rawGet(service.app, `${exported}${ask}`, { 'Accept-Encoding': 'gzip, br' })
      const unpacked = await rawGet(service.app, `${exported}${ask}`)
      const none = await rawGet(service.app, `${exported}${ask}`, { 'Accept-Encoding': 'gzip;q=0, identity' })
      expect(packed.body.equals(file.body)).toBe(true)
      expect(unpacked.body.equals(gunzipSync(file.body))).toBe(true)
      expect(none.body.equals(unpacked.body)).toBe(true)
      const common = {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="d-t-2026-01-02.csv"',
        'acervo-snapshot': snapshot,
        'acervo-count': String(rowCount),
      }
      expect(packed.headers).toMatchObject({ ...common, 'content-encoding': 'gzip' })
      expect(unpacked.headers).toMatchObject({ ...common, 'content-length': String(unpacked.body.length) })
      expect(unpacked.headers['content-encoding']).toBeUndefined()
      expect(unpacked.headers['etag']).not.toBe(packed.headers['etag'])
      for (const [answer, encoding] of [
        [packed, 'gzip'],
        [unpacked, 'identity'],
      ] as const) {
        const headers = { 'Accept-Encoding': encoding, 'If-None-Match': answer.headers['etag'] ?? '' }
        expect((await rawGet(service.app, `${exported}${ask}`, headers)).status).toBe(304)
      }
      const head = await request(service.app).head(`${exported}${ask}`).expect(200)
      expect([head.headers['acervo-count'], head.text]).toEqual([String(rowCount), undefined])
      expect([service.exports.running, service.transfers.running]).toEqual([0, 0])
    },
  )

  test('of everything offers ranges of the unpacked bytes', async () => {
    // One at a time: who asks for one after the other is never in the way of himself.
    const { app, exports } = await serve(shop, { exportsMax: 1 })
    const whole = await rawGet(app, exported)
    const size = whole.body.length
    const random = randomFrom(seed)
    for (let left = 60; left > 0; left -= 1) {
      const start = Math.floor(random() * size)
      const end = Math.min(size - 1, start + Math.floor(random() ** 3 * size))
      const range =
        left % 5 === 0
          ? `bytes=${start}-`
          : left % 7 === 0
            ? `bytes=-${size - start}`
            : `bytes=${start}-${end}`
      const last = left % 5 === 0 || left % 7 === 0 ? size - 1 : end
      const part = await rawGet(app, exported, { Range: range })
      expect([range, part.status, part.headers['content-range']]).toEqual([
        range,
        206,
        `bytes ${start}-${last}/${size}`,
      ])
      expect(part.body.equals(whole.body.subarray(start, last + 1))).toBe(true)
    }
    // The header and each part are sections of the gzip file, of which only those are read that a range needs.
    const { download_sections: sections = [] } = (await reportOf('t')) ?? {}
    expect(sections.length).toBeGreaterThan(3)
    let begin = 0
    for (const [, unpacked] of sections) {
      for (const [start, end] of [
        [begin, begin],
        [begin - 1, begin],
        [begin - 1, begin - 1],
        [0, begin],
        [begin, begin + unpacked - 1],
      ] as const) {
        if (start < 0) continue
        const { body } = await rawGet(app, exported, { Range: `bytes=${start}-${end}` })
        expect(body.equals(whole.body.subarray(start, end + 1))).toBe(true)
      }
      begin += unpacked
    }
    for (const range of ['bytes=0-1,5-6', 'lines=1-2']) {
      expect((await rawGet(app, exported, { Range: range })).body.equals(whole.body)).toBe(true)
    }
    const old = { Range: 'bytes=0-1', 'If-Range': '"another"' }
    expect((await rawGet(app, exported, old)).status).toBe(200)
    const past = await rawGet(app, exported, { Range: `bytes=${size}-` })
    expect([past.status, past.headers['content-range']]).toEqual([416, `bytes */${size}`])
    expect(exports.running).toBe(0)
  })

  test('of everything as Parquet redirects to the file of the table, and is refused if there are several', async () => {
    const { body: refused } = await request(service.app).get(`${exported}?format=parquet`).expect(400)
    expect((refused as { detail: string }).detail).toMatch(
      /since the table has \d+ Parquet files: http:\/\/localhost:8000\/files\/d\/t\/ lists them\.$/,
    )
    const single = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    await single.ingest()
    const parquet = await request((await serve(single)).app)
      .get(`${exported}?format=parquet`)
      .expect(302)
    expect(parquet.headers['location']).toMatch(/^\/files\/d\/t\/[^/]*\/part-00000\.parquet$/)
    const { body } = await request(service.app).get(`${exported}?format=parquet&place=SP`).expect(400)
    expect((body as { detail: string }).detail).toContain('http://localhost:8000/files/d/t/')
    await request(service.app).get('/api/v1/dataset/d/t/export?place=SP').expect(301)
    await request(service.app).get('/api/dataset/d/t/export?place=SP').expect(200)
  })

  test.each<[te: string, trailers: Record<string, string>]>([
    ['', {}],
    ['gzip', {}],
    ['trailers', { 'acervo-rows': '900' }],
    ['deflate;q=0.5, Trailers', { 'acervo-rows': '900' }],
  ])(
    'has a file name and a count in headers, and a trailer if TE asks for trailers: "%s"',
    async (te, trailers) => {
      const server = http.createServer(service.app).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const asked = http.get({ port, path: `${exported}?place=SP`, agent: false, headers: { te } })
      const [response] = (await once(asked, 'response')) as [http.IncomingMessage]
      let text = ''
      for await (const chunk of response) text += String(chunk)
      expect(response.headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="d-t-place-SP-2026-01-02.csv"',
        'acervo-count': '900',
        'transfer-encoding': 'chunked',
      })
      const declared = 'acervo-rows' in trailers ? 'Acervo-Rows' : undefined
      expect([response.complete, response.headers['trailer'], response.trailers]).toEqual([
        true,
        declared,
        trailers,
      ])
      expect(fromCsv(text)).toHaveLength(900)
      server.close()
    },
  )

  test('answers HEAD and a matching If-None-Match without rows', async () => {
    const head = await request(service.app).head(`${exported}?place=SP`).expect(200)
    expect([head.headers['acervo-count'], head.text]).toEqual(['900', undefined])
    const again = await rawGet(service.app, `${exported}?place=SP`, {
      'If-None-Match': String(head.headers['etag']),
    })
    expect([again.status, again.body.length]).toEqual([304, 0])
    const filtered = await request(service.app).head(`${exported}?place=SP&format=ndjson`)
    expect(filtered.headers['etag']).not.toBe(head.headers['etag'])
  })

  test('of more rows than allowed is refused with the address of the file', async () => {
    const { body } = await request(service.app).get('/api/v1/dataset/d/small/export/?place=SP').expect(422)
    expect((body as { detail: string }).detail).toBe(
      'The query has 900 rows, but an export may have at most 100: add a condition. All rows are in one file: http://localhost:8000/files/d/small.csv.gz.',
    )
    await request(service.app).get('/api/v1/dataset/d/small/export/?place=SP&n__lt=100').expect(200)
  })

  test.each(['page=2', 'page_size=5', 'format=xls', 'nn=1'])('refuses %s', async (query) => {
    await request(service.app).get(`${exported}?${query}`).expect(400)
  })

  test('that fails halfway is visibly incomplete, and reads nothing further', async () => {
    const slow = serveSlow()
    const server = http.createServer(service.app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const asked = http.get({ port, path: `${exported}?format=ndjson`, agent: false })
    const [response] = (await once(asked, 'response')) as [http.IncomingMessage]
    response.on('error', () => undefined)
    await once(response, 'data')
    slow.fail()
    await new Promise((resolve) => {
      response.once('close', resolve)
    })
    expect([response.statusCode, response.complete]).toEqual([200, false])
    expect(service.logged()).toContain('broken on purpose')
    slow.restore()
    server.close()
  })

  testAll('that its reader leaves stops its work', async () => {
    const server = http.createServer(service.app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const slow = serveSlow()
    const before = service.pool.statements
    const asked = http.get({ port, path: `${exported}?format=ndjson&n__gte=0`, agent: false })
    const [response] = (await once(asked, 'response')) as [http.IncomingMessage]
    await once(response, 'data')
    response.destroy()
    slow.fail()
    slow.restore()
    server.close()
    // No more than what was begun.
    expect(service.pool.statements - before).toBeLessThanOrEqual(2)
    // Its place is free again.
    for (let left = 6; left > 0; left -= 1) await get(`${exported}?place=SP`)
  })

  test('over HTTP/1.0, where an end looks like a failure, is refused', async () => {
    const server = http.createServer(service.app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { connect } = await import('node:net')
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${exported}?place=SP HTTP/1.0\r\n\r\n`)
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    expect(text).toMatch(/^HTTP\/1\.1 505 .*http-version/s)
    server.close()
  })
})

/** The service, whose statements for rows wait after two of them until they are made to fail. */
function serveSlow(): { fail: () => void; restore: () => void } {
  const { pool } = service
  const broken = new EventEmitter()
  let [served, isBroken] = [0, false]
  const original = pool.texts.bind(pool)
  const spy = jest.spyOn(pool, 'texts').mockImplementation(async (...args) => {
    served += 1
    // The first batch, of two parts, is sent; the next waits.
    if (served > 2) await once(broken, 'now')
    if (isBroken) throw new Error('broken on purpose')
    return original(...args)
  })
  const fail = (): void => {
    isBroken = true
    broken.emit('now')
  }
  return { fail, restore: () => spy.mockRestore() }
}

const clients = process.env['ACERVO_CLIENTS'] ?? ''
const withClients = isQuick ? describeAll : describeWith(clients !== '', pythonClients)

withClients('read by other libraries', () => {
  test('pyarrow and polars read the same values from Arrow as the JSON has', async () => {
    const folder = await temporaryFolder()
    const { results } = await getPage(service.app, `${address}?page_size=40&ordering=-n`)
    await writeFile(
      path.join(folder, 'rows.arrow'),
      (await get(`${address}?page_size=40&ordering=-n&format=arrow`)).body,
    )
    await writeFile(path.join(folder, 'all.arrow'), (await get(`${exported}?format=arrow`)).body)
    const code = `
import json, pyarrow as pa, polars as pl
t = pa.ipc.open_stream('rows.arrow').read_all()
rows = t.to_pylist()
print(json.dumps([[str(r['v']) if r['v'] is not None else None, r['place'], r['s'], r['b'], r['n'],
  r['d'].isoformat() if r['d'] else None, r['m'].isoformat() if r['m'] else None] for r in rows]))
print(json.dumps([str(f.type) for f in t.schema]))
frame = pl.read_ipc_stream('all.arrow')
print(json.dumps([frame.height, frame['n'].sum(), pa.ipc.open_stream('all.arrow').read_all().num_rows, frame['place'].null_count()]))
`
    const { stdout } = await promisify(execFile)(path.join(clients, 'python'), ['-c', code], { cwd: folder })
    const [rows, schema, whole] = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as unknown[])
    expect(rows).toHaveLength(40)
    const shown = (rows as unknown[][]).map(([v, place, s, b, n, d, m]) => [
      v === null ? null : Number(v),
      place,
      s,
      b,
      n,
      d,
      typeof m === 'string' ? m.replace(/\.?0+$/, '') : m,
    ])
    expect(shown).toEqual(
      results.map(({ v, place, s, b, n, d, m }) => [
        v,
        place,
        s,
        b,
        n,
        d,
        typeof m === 'string' ? m.replace(/\.?0+$/, '') : m,
      ]),
    )
    expect(schema).toEqual([
      'bool',
      'int64',
      'date32[day]',
      'timestamp[us]',
      'int64',
      'dictionary<values=string, indices=int32, ordered=0>',
      'dictionary<values=string, indices=int32, ordered=0>',
      'decimal128(38, 3)',
      'double',
    ])
    expect(whole).toEqual([rowCount, (rowCount * (rowCount - 1)) / 2, rowCount, rowCount / 10])
  }, 60_000)
})
