import http from 'node:http'
import net from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { connectionsWithin } from '../../../server/http/descriptors.ts'
import { listen, type Listening, type ListenOptions } from '../../../server/http/listen.ts'
import { freePort } from '../../support/ports.ts'
import { getPage, serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { until } from '../../support/until.ts'

/** Connections of HTTP: odd requests, stops and slow readers. */

const rows = '/api/v1/dataset/d/t/data/'
const endless = {
  sql: "select encode('x') from range(100000000000) as t(x) where sqrt(x) * 2 = 3",
  parameters: [],
  reads: null,
}

let shop: Workshop
let service: Service
let listening: Listening
let port: number
beforeAll(async () => {
  shop = await workshop(tinyCatalog({ fields: ['n:integer'], order: ['n'], packed: false }), {
    'd/t.csv': 'n\n1\n2\n3\n',
  })
  await shop.ingest()
  service = await serve(shop)
  port = await freePort()
  listening = await listen(service.app, at(port))
})
afterAll(async () => {
  await listening.stop()
})

test.each<[title: string, bytes: string, status: number, code: string]>([
  ['a text that is not HTTP', 'hello\r\n\r\n', 400, 'malformed-request'],
  [
    'a request without Host',
    'GET /api/v1/datasets/ HTTP/1.1\r\nConnection: close\r\n\r\n',
    400,
    'malformed-request',
  ],
  [
    'a request with two Hosts',
    'GET /api/v1/datasets/ HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
    400,
    'malformed-request',
  ],
  ['an unknown method', 'GRAB / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'malformed-request'],
  [
    'headers that are too large',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}\r\n\r\n`,
    431,
    'headers-too-large',
  ],
  [
    'an address that is too long',
    `GET /${'a'.repeat(9000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    414,
    'address-too-long',
  ],
  [
    'an address that is far too long',
    `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    414,
    'address-too-long',
  ],
])('the answer to %s has problem details', async (_what, bytes, status, code) => {
  const answer = await exchange(port, bytes)
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
  expect(head).toMatch(/content-type: application\/problem\+json/i)
  expect(head).toMatch(/x-content-type-options: nosniff/i)
  expect(head).toMatch(/content-security-policy: default-src 'none';frame-ancestors 'none'/i)
  const problem = JSON.parse(body) as { instance: string }
  expect(problem).toMatchObject({ type: `urn:acervo:problem:${code}`, status })
  expect(head).toMatch(new RegExp(`x-request-id: ${problem.instance.slice('urn:uuid:'.length)}`, 'i'))
  expect(service.logged()).toContain(problem.instance.replace('urn:uuid:', ''))
})

test('an absolute request target does not appear in links', async () => {
  const answer = await exchange(
    port,
    `GET http://evil.example${rows}?page_size=1 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`,
  )
  expect(answer).toMatch(
    /^HTTP\/1.1 200 .*\r\n\r\n\{"count":3,"next":"http:\/\/localhost:8000\/api\/v1\/dataset\/d\/t\/data\/\?page=2&page_size=1"/s,
  )
  expect(answer).not.toContain('evil.example')
})

test.each(['HTTP/1.0', 'HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\nConnection: close'])(
  'a request that continues after its path with %j is answered with 200',
  async (rest) => {
    expect(await exchange(port, `GET ${rows} ${rest}\r\n\r\n`)).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  },
)

test('during a stop, the server answers requests in progress, also on kept-alive connections, and accepts no new connections', async () => {
  const secondPort = await freePort()
  let asked = 0
  const stopping = await listen((_req, res) => {
    asked += 1
    void setTimeout(200).then(() => res.end('done'))
  }, at(secondPort))
  const agent = new http.Agent({ keepAlive: true })
  const answer = new Promise<string>((resolve, reject) => {
    http
      .get({ port: secondPort, agent }, (res) => res.setEncoding('utf8').on('data', resolve))
      .on('error', reject)
  })
  await until(() => asked === 1)
  await stopping.stop()
  expect(await answer).toBe('done')
  await expect(exchange(secondPort, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED')
  agent.destroy()
})

test('during a stop, slow readers get their remaining bytes, and the server does not wait for silent clients', async () => {
  const secondPort = await freePort()
  const body = Buffer.alloc(20_000_000, 'x')
  const stopping = await listen((_req, res) => res.end(body), at(secondPort))
  const silent = net.connect(secondPort, '127.0.0.1')
  const slow = net.connect(secondPort, '127.0.0.1', () => slow.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  let taken = 0
  await new Promise((resolve) => slow.once('readable', resolve))
  const stopped = stopping.stop()
  // Once it accepts no connection, the stop has begun.
  await expect(exchange(secondPort, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow(/ECONNREFUSED|ECONNRESET/)
  for await (const chunk of slow) taken += (chunk as Buffer).length
  await stopped
  expect(taken).toBeGreaterThan(body.length)
  silent.destroy()
})

test('junk after a request does not prevent its answer', async () => {
  const answer = await exchange(port, `GET ${rows} HTTP/1.1\r\nHost: x\r\n\r\nJUNK\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n.*\{"n":3\}\]\}$/s)
})

test.each(['zz\r\n', '5\r\nab\r\nzz', 'x'])(
  'a body that breaks as %j gets exactly one answer',
  async (body) => {
    const head = 'HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const socket = net.connect(port, '127.0.0.1', () => socket.write(`POST ${rows} ${head}`))
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.write(body)
    await Promise.race([closed, setTimeout(500)])
    socket.destroy()
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 405'])
    expect(await exchange(port, `POST ${rows} ${head}${body}`)).toMatch(/^HTTP\/1.1 405 (?!.*HTTP\/1.1)/s)
  },
)

test.each([
  [10_000, 5000],
  [5300, 5000],
  [1024, 724],
  [320, 20],
])('with a limit of %d file descriptors, the server accepts %d connections', (descriptors, connections) => {
  expect(connectionsWithin(descriptors, { connectionsMax: 5000, filesMax: 100 }, service.log)).toBe(
    connections,
  )
})

test('too low a limit of open files is reported at the start', () => {
  expect(() => connectionsWithin(256, { connectionsMax: 5000, filesMax: 100 }, service.log)).toThrow(
    'allows the service 256 open files and connections, but it needs at least 320',
  )
})

test('a reader that disconnects frees its place in the queue, and its abandoned query is stopped', async () => {
  const { app, pool } = await serve(shop, { queryConnections: 1, scanConnections: 1 })
  const holder = new AbortController()
  const held = pool.texts(endless, 'holder', holder.signal)
  const asked = jest.spyOn(pool, 'texts')
  const secondPort = await freePort()
  const impatient = await listen(app, at(secondPort))
  const sockets = Array.from({ length: 30 }, () => net.connect(secondPort, '127.0.0.1'))
  // Different pages, since one is made once for all.
  for (const [index, socket] of sockets.entries())
    socket.write(`GET ${rows}?page_size=${index + 1} HTTP/1.1\r\nHost: x\r\n\r\n`)
  await until(() => asked.mock.calls.length >= 30)
  for (const socket of sockets) socket.destroy()
  const waited = await Promise.allSettled(
    asked.mock.results.map((result) => result.value as Promise<unknown>),
  )
  expect(pool.waiting).toBe(0)
  const left = { status: 'rejected', reason: { name: 'AbortError' } }
  expect(waited).toMatchObject(Array.from({ length: 30 }, () => left))

  holder.abort()
  // Not when the query would be stopped for its time, which is another error.
  expect(await held.catch((error: unknown) => error)).toMatchObject({ name: 'AbortError' })
  expect((await getPage(app, rows)).count).toBe(3)
  await impatient.stop()
})

test('pipelined requests are answered in order, and dropped with their connection', async () => {
  const text = await exchange(
    port,
    Array.from(
      { length: 5 },
      (_, page) => `GET ${rows}?page_size=1&page=${page + 1} HTTP/1.1\r\nHost: x\r\n`,
    ).join('\r\n') + 'Connection: close\r\n\r\n',
  )
  expect(
    [...text.matchAll(/"results":\[\{"n":(\d)\}\]|(404) Not Found/g)].map(([, n, none]) => n ?? none),
  ).toEqual(['1', '2', '3', '404', '404'])

  const { app, pool } = await serve(shop, { queryConnections: 1, scanConnections: 1 })
  const holder = new AbortController()
  const held = pool.texts(endless, 'holder', holder.signal).catch((error: unknown) => error)
  const secondPort = await freePort()
  const pipelined = await listen(app, at(secondPort))
  const socket = net.connect(secondPort, '127.0.0.1')
  socket.write(`GET ${rows}?page_size=1 HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(300))
  await until(() => pool.waiting >= 1)
  await setTimeout(50)
  expect(pool.waiting).toBe(1)
  socket.destroy()
  await until(() => pool.waiting === 0)
  expect([pool.waiting, pool.statements]).toEqual([0, 1])
  holder.abort()
  await held
  await pipelined.stop()
})

test('a connection buffers at most 64 kB of headers of waiting requests', async () => {
  const { app, pool } = await serve(shop, { queryConnections: 1, scanConnections: 1 })
  const holder = new AbortController()
  const held = pool.texts(endless, 'holder', holder.signal).catch((error: unknown) => error)
  const secondPort = await freePort()
  const pipelined = await listen(app, at(secondPort))
  const pad = `X: ${'x'.repeat(30_000)}`
  const answers = exchange(
    secondPort,
    `GET ${rows}?page_size=1 HTTP/1.1\r\nHost: x\r\n${pad}\r\n\r\n`.repeat(10),
  )
  await until(() => pool.waiting >= 1)
  holder.abort()
  await held
  // One is answered, two wait, and the connection ends after them.
  expect((await answers).match(/HTTP\/1.1 200/g)).toHaveLength(3)
  await pipelined.stop()
})

describe('a request body', () => {
  const ask = '/api/3/action/site_read'
  const unfinished = `POST ${ask} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"id"`

  test('that does not arrive in time is refused', async () => {
    const secondPort = await freePort()
    const impatient = await listen(service.app, { ...at(secondPort), headersTimeoutMs: 500 })
    const [head = '', body = ''] = (await exchange(secondPort, unfinished)).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1.1 408 /)
    expect(JSON.parse(body)).toMatchObject({ type: 'urn:acervo:problem:request-timeout' })
    await until(() => impatient.connections() === 0)
    await impatient.stop()
  })

  test('counts toward a limit of four for its client, and delays no other client', async () => {
    const clients = Array.from({ length: 30 }, (_, n) => `127.0.0.${2 + (n % 3)}`)
    const sockets = clients.map((localAddress) => net.connect({ port, host: '127.0.0.1', localAddress }))
    for (const socket of sockets) {
      socket.on('error', () => undefined)
      socket.write(unfinished)
    }
    await setTimeout(200)
    const address = `http://127.0.0.1:${port}${ask}`
    expect((await fetch(address, { method: 'POST', body: '{}' })).status).toBe(200)
    // One more of a client waits until one of the four has ended.
    const neighbour = net.connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
    const answer = textOf(neighbour)
    neighbour.write(`POST ${ask} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`)
    await setTimeout(200)
    for (const socket of sockets) socket.destroy()
    expect(await answer).toMatch(/^HTTP\/1.1 200 /)
  }, 5000)

  test.each([
    ['ends', 'Content-Length: 100\r\n\r\n{"id"'],
    ['breaks', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])(
    'that %s too early is refused at once',
    async (_, rest) => {
      const socket = net.connect(port, '127.0.0.1')
      const answer = textOf(socket)
      socket.end(`POST ${ask} HTTP/1.1\r\nHost: x\r\n${rest}`)
      expect((await answer).match(/^HTTP\/1.1 \d+/gm)).toEqual(['HTTP/1.1 400'])
    },
    5000,
  )
})

test('an occupied port is reported in one sentence', async () => {
  await expect(listen(service.app, at(port))).rejects.toThrow(
    `cannot listen on 127.0.0.1:${port}: the port is in use; set PORT to another`,
  )
})

function at(chosen: number): ListenOptions {
  return {
    host: '127.0.0.1',
    port: chosen,
    log: service.log,
    longestAnswerMs: 1000,
    connectionsMax: 100,
    headersTimeoutMs: 10_000,
  }
}

function exchange(to: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = net.connect(to, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => (answer += text))
    socket.on('end', () => resolve(answer))
    socket.on('error', reject)
  })
}
