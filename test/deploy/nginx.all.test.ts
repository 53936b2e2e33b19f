import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import http2 from 'node:http2'
import path from 'node:path'
import { contractCases, contractFolder } from '../contract/contract-cases.ts'
import { answerTo, hasNginx, startNginx, type Answer, type Proxy } from '../components/nginx.ts'
import { numbered, oneTable, rows } from '../support/one-table.ts'
import { freePort } from '../support/ports.ts'
import { run, startServer, type ServerProgram } from '../support/programs.ts'
import { temporaryFolder } from '../support/workshop.ts'
import { until } from '../support/until.ts'
import { describeWith, nginx } from '../support/needs.ts'

/** The configuration that operators are given, in a real nginx before a real server. */

const withNginx = describeWith(hasNginx, nginx)

const cases = await contractCases()

/** Without what tells one answer from another. */
const plain = (text: string): string => text.replaceAll(/urn:uuid:[0-9a-f-]+/g, 'id')

withNginx('nginx in front of the server', () => {
  let home: string
  let port: number
  let upstream: number
  let server: ServerProgram
  let proxy: Proxy
  let settings: Record<string, string>

  /** Between nginx and the server, so that it is known what comes through: and so that the server can be started again. */
  let counted: http.Server
  let target: number | null = null
  const through: string[] = []

  beforeAll(async () => {
    port = await freePort()
    upstream = await freePort()
    const table = await oneTable(
      numbered(3000, 'n,m', (n) => [n % 5]),
      ['n:integer', 'm:integer'],
    )
    home = table.folder
    settings = {
      ...table.settings,
      TRUST_PROXY: '1',
      MAX_AGE_SECONDS: '1',
      PUBLIC_URL: `https://data.example.org:${port}`,
    }
    server = await startServer(settings)
    target = server.port
    counted = http.createServer((req, res) => {
      through.push(`${req.method ?? ''} ${req.url ?? ''}`)
      const asked = http.request(
        { host: '127.0.0.1', port: target ?? 1, method: req.method, path: req.url, headers: req.headers },
        (answer) => {
          res.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(res)
        },
      )
      asked.on('error', () => res.destroy())
      asked.end()
    })
    counted.listen(upstream, '127.0.0.1')
    await once(counted, 'listening')
    proxy = await startNginx(home, port, [upstream])
  }, 60_000)

  afterAll(() => {
    proxy.stop()
    counted.closeAllConnections()
    counted.close()
  })

  const get: Proxy['get'] = (...asking) => proxy.get(...asking)
  const asked = (address: string): number => through.filter((line) => line === `GET ${address}`).length

  test('requests a page once for a hundred concurrent clients', async () => {
    const address = `${rows}?page_size=17`
    const answers = await Promise.all(Array.from({ length: 100 }, () => get(address)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
    expect(asked(address)).toBe(1)
  }, 30_000)

  test('caches each representation separately, and no answer of one client reaches another', async () => {
    const address = `${rows}?page_size=3`
    const forms: Record<string, string>[] = [
      {},
      { Accept: 'application/json' },
      { Accept: 'text/csv' },
      { Accept: 'text/csv;q=0.5, application/json' },
      { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' },
      { Accept: 'application/x-ndjson' },
      { Accept: 'image/png' },
    ]
    const types = async (): Promise<string[]> => {
      const seen: string[] = []
      for (const form of forms) {
        const { status, headers } = await get(address, form)
        seen.push(`${status} ${String(headers['content-type'])}`)
        expect([headers['ratelimit'], headers['ratelimit-policy']]).toEqual([undefined, undefined])
        expect(headers['vary']).toContain('Accept')
      }
      return seen
    }
    const first = await types()
    expect(first).toEqual([
      '200 application/json',
      '200 application/json',
      '200 text/csv; charset=utf-8; header=present',
      '200 application/json',
      '200 text/html; charset=utf-8',
      '200 application/x-ndjson',
      '406 application/problem+json',
    ])
    expect(await types()).toEqual(first)
    const packed = await get(`${rows}?page_size=900`, { 'Accept-Encoding': 'gzip' })
    const bare = await get(`${rows}?page_size=900`)
    const refused = await get(`${rows}?page_size=900`, { 'Accept-Encoding': 'gzip;q=0, br;q=0' })
    const codings = [packed, bare, refused].map(({ headers }) => headers['content-encoding'])
    expect(codings).toEqual(['gzip', undefined, undefined])
  }, 30_000)

  test('caches pages by language', async () => {
    const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const address of ['/', '/api/v1/datasets/']) {
      for (const language of ['pt', 'en', 'pt', 'en']) {
        const { body } = await get(address, { Accept: html, 'Accept-Language': `${language},*;q=0.1` })
        expect([address, language, /<html[^>]* lang="(\w+)/.exec(body)?.[1]]).toEqual([
          address,
          language,
          language,
        ])
      }
    }
  })

  test('revalidates a stale page by its ETag, and sends it meanwhile', async () => {
    const address = `${rows}?page_size=19`
    const first = await get(address)
    await new Promise((resolve) => setTimeout(resolve, 2200))
    const stale = await get(address)
    expect([stale.status, stale.headers['x-cache-status'], stale.body]).toEqual([200, 'STALE', first.body])
    await until(async () => (await get(address)).headers['x-cache-status'] === 'HIT')
    const unchanged = await get(address, { 'If-None-Match': String(first.headers['etag']) })
    expect([unchanged.status, unchanged.body]).toEqual([304, ''])
  }, 30_000)

  test('sends cached pages while the server restarts', async () => {
    const address = `${rows}?page_size=23`
    const first = await get(address)
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    target = null
    for (let time = 0; time < 5; time += 1) {
      const { status, body } = await get(address)
      expect([status, body]).toEqual([200, first.body])
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect((await get(`${rows}?page_size=24`)).status).toBe(503)
    server = await startServer(settings)
    target = server.port
    expect((await get(`${rows}?page_size=24`)).status).toBe(200)
  }, 60_000)

  test('streams exports, files and ranges', async () => {
    const exported = await get('/api/v1/dataset/d/t/export/?format=ndjson&m=1')
    expect([exported.status, exported.body.trim().split('\n').length]).toEqual([200, 600])
    const { headers } = await get('/files/d/t.csv.gz')
    const file = new URL(String(headers['location']), `https://here/files/d/`).pathname
    const range = await get(file, { Range: 'bytes=0-9' })
    expect([range.status, range.headers['content-range']]).toEqual([
      206,
      expect.stringMatching(/^bytes 0-9\//),
    ])
    for (const attempt of ['fetched', 'cached']) {
      const page = await get(`${rows}?format=csv&page_size=300`, { Range: 'bytes=0-9' })
      expect([attempt, page.status, page.body]).toEqual([attempt, 206, 'n,m\n0,0\n1,'])
    }
    const limits = await get('/limits')
    expect(JSON.parse(limits.body)).toHaveProperty('limits')
  }, 30_000)

  test('speaks HTTP/2, and redirects plain HTTP to TLS', async () => {
    const client = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const stream = client.request({ ':path': '/api/v1/datasets/', ':authority': 'data.example.org' })
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    expect([headers[':status'], headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    client.destroy()
  }, 30_000)

  test('refuses a client that sends too many requests, before it looks into the cache', async () => {
    const address = `${rows}?page_size=29`
    await get(address)
    // Until one of them is refused: 50 a second are let through, and a slow machine asks hardly faster.
    const refused: Answer[] = []
    let answered = 0
    const askers = Array.from({ length: 40 }, async () => {
      for (let time = 0; time < 100 && refused.length === 0; time += 1) {
        const answer = await get(address, {}, '127.0.0.9')
        answered += 1
        if (answer.status === 429) refused.push(answer)
      }
    })
    await Promise.all(askers)
    const [{ headers, body } = { headers: {}, body: '' }] = refused
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'retry-after': '5',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
    })
    expect(JSON.parse(body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Too many requests',
      status: 429,
      detail: expect.stringContaining('try again in 5 s'),
      'violated-policies': ['proxy'],
    })
    expect(asked(address)).toBeLessThan(answered / 10)
  }, 60_000)

  test('answers queries of any length as the server does', async () => {
    const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    for (const length of [200, 340, 700, 1500, 3000, 5000, 6400, 7400, 9000]) {
      const longQuery = `${rows}?page_size=20&page=2&n__in=${Array.from({ length: 500 }, (_, n) => n + 1000).join()}`
      const last = longQuery.lastIndexOf(',', length)
      for (const address of [
        longQuery.slice(0, last),
        `${rows}?m__gte=1&page=3&page_size=9&snapshot=${'x'.repeat(length)}`,
      ]) {
        for (const accept of ['*/*', 'text/csv', html]) {
          const direct = await fetch(`http://127.0.0.1:${target ?? 0}${address}`, {
            headers: { Accept: accept, Host: 'data.example.org' },
          })
          const proxied = await get(address, { Accept: accept, Origin: 'https://example.org' })
          const of = [accept, address.length]
          expect([
            of,
            proxied.status,
            plain(proxied.body),
            proxied.headers['access-control-allow-origin'],
          ]).toEqual([of, direct.status, plain(await direct.text()), '*'])
        }
      }
    }
  }, 60_000)

  test('lets scripts of other sites read that the server is unavailable', async () => {
    const before = target
    target = null
    const { status, headers, body } = await get(`${rows}?page_size=18`)
    target = before
    expect([status, headers['access-control-allow-origin'], headers['retry-after']]).toEqual([503, '*', '5'])
    expect(JSON.parse(body)).toMatchObject({ type: 'urn:acervo:problem:unavailable', status: 503 })
  }, 30_000)

  test('logs only the network of a client, and no query', async () => {
    await get(`${rows}?n=17&format=json`, {}, '127.0.0.77')
    await until(async () => (await readFile(`${home}/access.log`, 'utf8')).includes(`GET ${rows}"`))
    const log = await readFile(`${home}/access.log`, 'utf8')
    expect(log).toMatch(/^127\.0\.0\.0 \[/m)
    expect(log).not.toMatch(/127\.0\.0\.77|n=17/)
  })
})

/** Headers that are the same each time a request is repeated, and matter to readers and scripts. */
const headersSeen =
  /^(access-control-.*|acervo-.*|allow|content-(type|disposition|language)|etag|link|location|retry-after)$/
const seen = ({ status, headers, body }: Answer): unknown => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => headersSeen.test(name))),
  body: plain(body),
})

withNginx('a request through nginx', () => {
  let server: ServerProgram
  let proxy: Proxy
  beforeAll(async () => {
    const home = await temporaryFolder()
    const port = await freePort()
    const settings = {
      SOURCES: path.resolve(contractFolder, 'sources'),
      WAREHOUSE: path.join(home, 'warehouse'),
      TRUST_PROXY: '1',
      PUBLIC_URL: `https://data.example.org:${port}`,
    }
    await run('ingest', [], settings)
    server = await startServer(settings)
    proxy = await startNginx(home, port, [server.port])
  }, 60_000)
  afterAll(() => {
    proxy.stop()
  })

  test('whose address nginx cannot parse gets a problem document that scripts can read', async () => {
    for (const [address, status, code] of [
      ['/api/v1/dataset/%/', 400, 'malformed-request'],
      [`${rows}?search=${'x'.repeat(60_000)}`, 414, 'address-too-long'],
    ] as const) {
      const answer = await proxy.ask('GET', address, {})
      const { type, detail } = JSON.parse(answer.body) as Record<string, unknown>
      expect([answer.status, answer.headers['access-control-allow-origin'], type, typeof detail]).toEqual([
        status,
        '*',
        `urn:acervo:problem:${code}`,
        'string',
      ])
    }
  })

  // nginx itself refuses a malformed escape, so the server never gets that request.
  const passed = [...cases].filter(([name]) => name !== 'malformed-escape-in-path.http')
  test.each(passed)('is answered as without nginx: %s', async (_name, { method, target, headers }) => {
    const asked = { 'Accept-Encoding': 'identity', Origin: 'https://example.org', ...headers }
    const direct = http.request({
      host: '127.0.0.1',
      port: server.port,
      method,
      path: target,
      headers: { Host: 'data.example.org', ...asked },
    })
    const due = seen(await answerTo(direct))
    // The second may come from its cache.
    const twice = [await proxy.ask(method, target, asked), await proxy.ask(method, target, asked)]
    expect(twice.map(seen)).toEqual([due, due])
  })
})

withNginx('a server at a path of a site', () => {
  test('is reached by its own links if nginx removes the path', async () => {
    const table = await oneTable('n\n1\n', ['n:integer'])
    const port = await freePort()
    const server = await startServer({
      ...table.settings,
      PUBLIC_URL: `https://data.example.org:${port}/data`,
    })
    const how = await readFile('docs/how-to/nginx.md', 'utf8')
    const [, given = ''] = /(location \/data\/ .*)/.exec(how) ?? []
    const location = given.replace('127.0.0.1:8000', `127.0.0.1:${server.port}`)
    const proxy = await startNginx(table.folder, port, [server.port], (configuration) =>
      configuration.replace('  location / {\n', `  ${location}\n  location / {\n`),
    )
    try {
      const pending = ['/data/en/', '/data/en/dataset/unknown/']
      const statuses = new Map<string, number>()
      for (let address = pending.pop(); address !== undefined; address = pending.pop()) {
        const { status, body } = await proxy.get(address, { Accept: 'text/html, */*' })
        statuses.set(address, status)
        const links = [...body.matchAll(/(?:href|src|action)="(\/[^"?#]*)/g)].map(([, link = '']) => link)
        if (statuses.size < 30) pending.push(...new Set(links.filter((link) => !statuses.has(link))))
      }
      expect(
        [...statuses].filter(
          ([address, status]) =>
            !address.startsWith('/data/') || (status !== 200 && !address.endsWith('/unknown/')),
        ),
      ).toEqual([])
      expect(statuses.size).toBeGreaterThan(20)
    } finally {
      proxy.stop()
    }
  }, 60_000)
})

const csvWith = (amount: number): string => numbered(300, 'id,amount', (n) => [n === 7 ? amount : 1])

withNginx('changes through nginx', () => {
  test('equal those that the server sends, until the next snapshot', async () => {
    const table = await oneTable(csvWith(1), ['id:integer', 'amount:integer'], { table: { key: ['id'] } })
    await table.publish(csvWith(2))
    const port = await freePort()
    const publicUrl = `https://data.example.org:${port}`
    const server = await startServer({
      ...table.settings,
      TRUST_PROXY: '1',
      MAX_AGE_SECONDS: '1',
      PUBLIC_URL: publicUrl,
    })
    const proxy = await startNginx(table.folder, port, [server.port])
    try {
      const answer = await proxy.get('/api/v1/dataset/d/t/changes/')
      const { results } = JSON.parse(answer.body) as { results: unknown[] }
      const changed = { _change: 'changed', _changed: ['amount'], id: 7, amount: 2, _old_amount: 1 }
      expect([answer.status, results]).toEqual([200, [expect.objectContaining(changed)]])
      const validator = { 'If-None-Match': String(answer.headers['etag']) }
      expect((await proxy.get('/api/v1/dataset/d/t/changes/', validator)).status).toBe(304)
      const feed = await proxy.get('/feeds/d/t/atom.xml')
      expect([feed.status, feed.body]).toEqual([200, expect.stringContaining('1 row changed.')])
      await table.publish(csvWith(3))
      await until(async () => (await proxy.get('/api/v1/dataset/d/t/changes/', validator)).status === 200)
    } finally {
      proxy.stop()
    }
  }, 60_000)
})
