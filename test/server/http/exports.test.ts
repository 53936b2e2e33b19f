import { createHash } from 'node:crypto'
import http from 'node:http'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { testAll } from '../../support/runs.ts'
import { rawGet, serve } from '../../support/service.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'
import { until } from '../../support/until.ts'

/** Exports and downloads of many clients at a time, some of whom read nothing. */

const path = '/api/v1/dataset/d/t/export/'
const rowCount = 25_000

let shop: Workshop
beforeAll(async () => {
  // More than the buffers of a connection hold, also if it is packed.
  const lines = Array.from({ length: rowCount }, (_, n) => `${n},${noise(n)}`)
  shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'], filters: ['n'] }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
})

/** A text that hardly shrinks. */
const noise = (n: number): string =>
  ['a', 'b', 'c', 'd'].map((part) => createHash('sha512').update(`${part}${n}`).digest('base64')).join('')

interface Reader {
  /** Reads everything, and returns the length of the body; -1 if the response is incomplete. */
  readonly read: () => Promise<number>
}

/** Sends a request, and reads nothing of its response. */
function unread(port: number, target: string, client: string, encoding: string): Reader {
  const headers = { 'X-Forwarded-For': client, 'Accept-Encoding': encoding }
  const asked = http.get({ port, host: '127.0.0.1', path: target, headers, agent: false })
  const response = once(asked, 'response') as Promise<[http.IncomingMessage]>
  return {
    read: async () => {
      const [stream] = await response
      let length = 0
      for await (const chunk of stream) length += (chunk as Buffer).length
      return stream.statusCode === 200 && stream.complete ? length : -1
    },
  }
}

test('exports of one client wait for their turn, and all are answered', async () => {
  const { app, exports } = await serve(shop, { exportsMax: 4 })
  const asked = Array.from({ length: 16 }, (_, n) => rawGet(app, `${path}?n__lt=${1000 + n}&format=ndjson`))
  expect((await Promise.all(asked)).map(({ status, headers }) => [status, headers['acervo-count']])).toEqual(
    asked.map((_, n) => [200, String(1000 + n)]),
  )
  expect([exports.running, exports.waiting]).toEqual([0, 0])
})

testAll.each<[title: string, encoding: string, unreadQuery: string, query: string]>([
  ['exports', 'identity', '?format=ndjson', '?n__lt=5&format=csv'],
  ['unpacked downloads', 'identity', '?format=csv', '?format=csv'],
  ['downloads', 'gzip', '?format=csv', '?format=csv'],
])(
  '%s that two clients do not read delay no other clients, and are complete in the end',
  async (_what, encoding, unreadQuery, query) => {
    const service = await serve(shop, {
      exportsMax: 4,
      filesMax: 4,
      trustProxy: 1,
      unsentBytesMax: 60_000_000,
    })
    const server = http.createServer(service.app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const slots = unreadQuery === '?format=csv' ? service.transfers : service.exports
    const idle = Array.from({ length: 4 }, (_, n) =>
      unread(port, path + unreadQuery, `192.0.2.${1 + (n % 2)}`, encoding),
    )
    await until(() => slots.running === 4)
    const others = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        rawGet(service.app, path + query, {
          'X-Forwarded-For': `192.0.2.${10 + n}`,
          'Accept-Encoding': 'gzip',
        }),
      ),
    )
    expect(others.map(({ status }) => status)).toEqual(others.map(() => 200))
    const whole = await rawGet(service.app, path + unreadQuery, { 'Accept-Encoding': encoding })
    expect(await Promise.all(idle.map(({ read }) => read()))).toEqual(idle.map(() => whole.body.length))
    await until(() => slots.running + slots.waiting === 0)
    server.close()
  },
  60_000,
)

test('a client that disconnects while it is paused or waits frees its slot', async () => {
  const service = await serve(shop, { exportsMax: 1, trustProxy: 1 })
  const server = http.createServer(service.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: 3 }, () => net.connect(port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => undefined)
    socket.pause()
    socket.write(`GET ${path}?format=ndjson HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  }
  await until(() => service.exports.running === 1 && service.exports.waiting === 2)
  await until(() => service.exports.waiting < 2, 10_000)
  for (const socket of sockets) socket.destroy()
  await until(() => service.exports.running + service.exports.waiting === 0)
  expect((await rawGet(service.app, `${path}?n__lt=5`)).status).toBe(200)
  server.close()
}, 60_000)
