import net from 'node:net'
import { listen } from '../../server/http/listen.ts'
import { freePort } from '../support/ports.ts'
import { until } from '../support/until.ts'
import { rawGet, serve, type Service } from '../support/service.ts'
import { tinyCatalog, workshop } from '../support/workshop.ts'

const rows = '/api/v1/dataset/d/t/data/'

const tagOf = async (service: Service, target: string, encoding = 'identity'): Promise<string> =>
  (await rawGet(service.app, target, { 'Accept-Encoding': encoding })).headers['etag'] ?? ''

test.each<[when: string, sendTimeoutMs: number]>([
  ['when its time is over', 1000],
  ['before that, when others need the room', 60_000],
])('a reader who does not take an answer is cut off %s', async (_when, sendTimeoutMs) => {
  const big = `${rows}?page_size=10000`
  const wide = await workshop(tinyCatalog({ fields: ['n:integer', 's:string'] }), {
    'd/t.csv': `n,s\n${Array.from({ length: 200 }, (_, n) => `${n},${'x'.repeat(200_000)}`).join('\n')}\n`,
  })
  await wide.ingest()
  const service = await serve(wide, { sendTimeoutMs, unsentBytesMax: 1_000_000 })
  const port = await freePort()
  const listening = await listen(service.app, {
    host: '127.0.0.1',
    port,
    log: service.log,
    longestAnswerMs: 60_000,
    connectionsMax: 10,
    headersTimeoutMs: 10_000,
  })
  await tagOf(service, `${rows}?page_size=2`)
  const tag = await tagOf(service, `${rows}?page_size=2`)
  const silent = net.connect(port, '127.0.0.1')
  silent.pause()
  silent.write(`GET ${big} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const status = async (target: string, more: Record<string, string> = {}): Promise<number> =>
    (await rawGet(service.app, target, more)).status
  let page = 0
  await until(async () => {
    page += 1
    return (await status(`${rows}?page_size=3&page=${1 + (page % 60)}`)) !== 200
  })
  expect([
    await status(`${rows}?page_size=4`),
    await status(`${rows}?page_size=2`),
    await status(`${rows}?page_size=2`, { 'If-None-Match': tag }),
  ]).toEqual([503, 200, 304])
  expect((await rawGet(service.app, '/api/v1/dataset/d/')).status).toBe(200)
  await until(async () => (await status(`${rows}?page_size=5`)) === 200)
  // Nothing more comes, though the reader begins to read.
  const closed = new Promise((resolve) => silent.once('close', resolve))
  silent.on('error', () => undefined).resume()
  await closed
  expect(await status(`${rows}?page_size=4`)).toBe(200)
  await listening.stop()
})
