import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { announce, type AnnounceOptions } from '../../ingest/publish/announce.ts'
import { endWithFile } from '../support/each-file.ts'
import {
  catalogAround,
  fieldOf,
  importDate,
  temporaryFolder,
  workshop,
  type Workshop,
} from '../support/workshop.ts'

/** Messages about published snapshots: to a command, a webhook, and a hub of WebSub. */

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

interface Received {
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

let shop: Workshop
let manifests: Manifest[]
beforeAll(async () => {
  shop = await workshop(
    catalogAround([{ name: 't', order: [], key: ['id'], fields: ['id:integer', 'n:integer'].map(fieldOf) }]),
  )
  manifests = []
  for (const [index, rows] of ['1,1\n2,2\n', '1,1\n2,3\n3,3\n'].entries()) {
    await shop.write('d/t.csv', `id,n\n${rows}`)
    const [outcome] = await shop.ingest({ now: () => new Date(importDate.getTime() + index * 60_000) })
    if (outcome?.status === 'published') manifests.push(outcome.manifest)
  }
})

/** A receiver that answers with these statuses, then with 204. */
async function receiver(...statuses: number[]): Promise<{ address: string; received: Received[] }> {
  const received: Received[] = []
  const server = http.createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      response.writeHead(statuses.shift() ?? 204, { Location: 'http://127.0.0.1:1/private' }).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endWithFile(() => void server.close())
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received }
}

async function outcomeOf(options: Partial<AnnounceOptions>): Promise<string> {
  const plain = {
    onPublish: '',
    onPublishSecret: '',
    websubHub: '',
    publicUrl: new URL('https://data.example.org/a'),
    retryMs: 1,
  }
  return announce(shop.catalog, manifests.slice(1), { ...plain, ...options }).then(
    () => 'announced',
    (error: unknown) => (error as Error).message,
  )
}

function message(): object {
  const [first, second] = manifests
  const page = 'https://data.example.org/a/en/dataset/d/t/'
  return {
    type: 'table.published',
    timestamp: new Date(importDate.getTime() + 60_000).toISOString(),
    data: {
      dataset: 'd',
      table: 't',
      snapshot: second?.snapshot,
      previous: first?.snapshot,
      rows: 3,
      changes: { added: 1, removed: 0, changed: 1 },
      schema_change: { class: 'none', reasons: [] },
      page,
      changes_page: `${page}changes/?to=${second?.snapshot}`,
    },
  }
}

test('a webhook gets a message with a signature', async () => {
  const { address, received } = await receiver()
  expect(await outcomeOf({ onPublish: address, onPublishSecret: secret })).toBe('announced')
  const [only] = received
  expect([received.length, JSON.parse(only?.body ?? '')]).toEqual([1, message()])
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = only?.headers ?? {}
  const due = createHmac('sha256', Buffer.alloc(24, 7)).update(`${String(id)}.${String(time)}.${only?.body}`)
  expect(signature).toBe(`v1,${due.digest('base64')}`)
  expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(60)
})

test.each<[title: string, statuses: number[], requests: number, outcome: RegExp]>([
  ['fails twice', [500, 503], 3, /^announced$/],
  ['fails always', [500, 500, 500, 500], 4, /^http:\/\/127\.0\.0\.1:\d+ answered 500, in 4 tries$/],
  ['is gone', [410], 1, /is gone \(410\): remove its address from the settings$/],
  ['redirects', [302], 1, /redirects, which is not followed: use the final address$/],
])('a webhook that %s gets a limited number of requests', async (_what, statuses, requests, outcome) => {
  const { address, received } = await receiver(...statuses)
  expect(await outcomeOf({ onPublish: address })).toMatch(outcome)
  expect(received).toHaveLength(requests)
  // Receivers ignore repetitions by their id.
  expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(received[0]?.headers['webhook-signature']).toBeUndefined()
})

test('a webhook that does not answer is named without its path, which may be secret', async () => {
  expect(await outcomeOf({ onPublish: 'http://127.0.0.1:1/secret' })).toMatch(
    /^http:\/\/127\.0\.0\.1:1 did not answer: .*, in 4 tries$/,
  )
})

test('a command of ON_PUBLISH gets the message as its input', async () => {
  const file = path.join(await temporaryFolder(), 'message.json')
  expect(await outcomeOf({ onPublish: `cat > '${file}'` })).toBe('announced')
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(message())
  expect(await outcomeOf({ onPublish: 'exit 3' })).toBe(
    'the command of ON_PUBLISH ended with code 3, in 4 tries',
  )
})

test('credentials of an address are sent as a header, and appear in no message', async () => {
  const { address, received } = await receiver()
  expect(await outcomeOf({ onPublish: address.replace('//', '//ana:s%40crt@') })).toBe('announced')
  expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ana:s@crt').toString('base64')}`)
  expect(await outcomeOf({ onPublish: 'http://ana:secret@127.0.0.1:1/' })).not.toContain('secret')
})

test('a receiver that fails gets no further messages', async () => {
  const { address, received } = await receiver(...Array.from({ length: 8 }, () => 500))
  const options = {
    onPublish: address,
    onPublishSecret: '',
    websubHub: '',
    publicUrl: new URL('http://x/'),
    retryMs: 1,
  }
  await expect(announce(shop.catalog, manifests, options)).rejects.toThrow('answered 500, in 4 tries')
  expect([manifests.length, received.length]).toEqual([2, 4])
})

test('a WebSub hub learns which feeds have changed', async () => {
  const { address, received } = await receiver()
  expect(await outcomeOf({ websubHub: address })).toBe('announced')
  const form = new URLSearchParams(received[0]?.body)
  const feeds = ['', '/d', '/d/t'].map((folder) => `https://data.example.org/a/feeds${folder}/atom.xml`)
  expect(form.get('hub.mode')).toBe('publish')
  expect(form.getAll('hub.url')).toEqual(
    expect.arrayContaining(feeds.flatMap((feed) => [feed, `${feed}?lang=pt`])),
  )
})
