import { readdirSync } from 'node:fs'
import net from 'node:net'
import { setTimeout } from 'node:timers/promises'
import request from 'supertest'
import { listen, type Listening } from '../../../server/http/listen.ts'
import { freePort } from '../../support/ports.ts'
import { retainedExportsMax } from '../../../server/table/representations/finished-exports.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { runsOf, seed } from '../../support/runs.ts'
import { serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'
import { until } from '../../support/until.ts'

/** Nothing that a response holds outlives its connection, for any behaviour of the client. */

const lives = runsOf('LIVES')
const atOnce = 40
const base = '/api/v1/dataset/d/t'

let service: Service
let listening: Listening
let port: number
let file: string
beforeAll(async () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `${n},${'text '.repeat(20)}${n * 7919}`)
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'], order: ['n'] }), {
    'd/t.csv': `n,s\n${lines.join('\n')}\n`,
  })
  await shop.ingest()
  service = await serve(shop, { sendTimeoutMs: 400, exportsMax: 4, filesMax: 4, unsentBytesMax: 20_000_000 })
  port = await freePort()
  const options = { host: '127.0.0.1', port, log: service.log, headersTimeoutMs: 1000, longestAnswerMs: 1000 }
  listening = await listen(service.app, { ...options, connectionsMax: 1000 })
  const listed = await request(service.app).get('/files/d/t/').expect(200)
  const [first] = (listed.body as { files: { address: string }[] }).files
  file = new URL(first?.address ?? '').pathname
}, 60_000)
afterAll(() => listening.stop())

const random = randomFrom(seed)
const upTo = (most: number): number => Math.floor(random() * most)
const pick = <T>(items: readonly [T, ...T[]]): T => items[upTo(items.length)] ?? items[0]

function target(): string {
  return pick<() => string>([
    () => `${base}/export/?n__gte=${upTo(3)}&format=${pick(['csv', 'ndjson', 'json', 'arrow'])}`,
    () => `${base}/data/?page_size=${1 + upTo(10_000)}`,
    () => `${base}/data/?n__gte=${upTo(20_000)}&page_size=${1 + upTo(5000)}`,
    () => file,
    () => '/files/warehouse.duckdb',
    () => '/api/v1/datasets/',
    () => `${base}/data/?nothing=1`,
  ])()
}

function asked(): string {
  const headers = pick(['', 'Connection: close\r\n', 'Accept-Encoding: gzip\r\n', 'Range: bytes=0-99\r\n'])
  return pick<() => string>([
    () => `GET ${target()} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
    () => `GET ${target()} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
    () => `HEAD ${target()} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`,
    () =>
      `POST ${target()} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${pick(['0\r\n\r\n', 'zz\r\n', '5\r\nab'])}`,
  ])()
}

/** One connection from its beginning to its end; it takes a second at most. */
async function live(): Promise<void> {
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  if (random() < 0.5) socket.resume()
  const requests = random() < 0.2 ? 90 + upTo(80) : 1 + upTo(4)
  let text = ''
  for (let number = 0; number < requests; number += 1) text += asked()
  socket.write(random() < 0.1 ? text.slice(0, upTo(text.length)) : text)
  await setTimeout(upTo(300))
  pick<() => unknown>([
    () => socket.end(),
    () => socket.destroy(),
    () => socket.resetAndDestroy(),
    () => socket.pause(),
    () => socket.resume(),
    () => socket.write('JUNK\r\n\r\n'),
    () => socket.write(asked()),
  ])()
  await Promise.race([closed, setTimeout(upTo(1000))])
  socket.destroy()
}

const descriptors = (): number => readdirSync('/proc/self/fd').length

function left() {
  const { exports, transfers, sendBudget, pool } = service
  return {
    exports: exports.running,
    transfers: transfers.running,
    sendBudget: sendBudget.bytes,
    waiting: pool.waiting,
  }
}

const nothing = { exports: 0, transfers: 0, sendBudget: 0, waiting: 0 }

test('connections that send random requests and end at random leak nothing, and exports work afterwards', async () => {
  const before = descriptors()
  for (let begun = 0; begun < lives; begun += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, live))
  }
  const isOver = (): boolean =>
    JSON.stringify(left()) === JSON.stringify(nothing) && descriptors() <= before + 3
  await until(isOver).catch(() => undefined)
  expect({ seed, ...left() }).toEqual({ seed, ...nothing })
  // Exports that were made whole are kept open.
  expect(descriptors()).toBeLessThanOrEqual(before + 3 + retainedExportsMax)
  const exported = await request(service.app).get(`${base}/export/?n__gte=1&format=csv`).expect(200)
  expect(exported.text.split('\n')).toHaveLength(20_001)
  expect(service.logged()).not.toContain('"level":50')
}, 3_600_000)

test('a connection has a limit of consecutive requests, and ends after them', async () => {
  const socket = net.connect(port, '127.0.0.1')
  let answers = 0
  socket
    .setEncoding('latin1')
    .on('data', (text: string) => (answers += text.split('HTTP/1.1 200').length - 1))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => undefined)
  socket.write(`GET ${base}/data/?page_size=1 HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(5000))
  await closed
  expect(answers).toBeLessThanOrEqual(101)
  expect(left()).toEqual(nothing)
})
