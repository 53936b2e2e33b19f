import { spawn } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { tableId, type Catalog } from '../../core/catalog/catalog.ts'
import { languages } from '../../core/catalog/names.ts'
import { messageOf } from '../../core/errors.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { schemaChangeOf, schemaPhrases } from '../../core/warehouse/schema-change.ts'

/** Announces snapshots to a program or webhook of the operator, and to a WebSub hub. */

export interface AnnounceOptions {
  readonly onPublish: string
  /** `whsec_` and base64; empty for none. */
  readonly onPublishSecret: string
  /** Address (https://www.w3.org/TR/websub/); empty for none. */
  readonly websubHub: string
  readonly publicUrl: URL
  /** Wait before the second attempt, in ms; doubled for each further one. */
  readonly retryMs?: number
}

const triesMax = 4
const retryMsDefault = 1000
const timeoutMs = 20_000

/**
 * Announces snapshots that are already published, so that a failed announcement cannot undo them.
 * @throws Error with each announcement that failed in all attempts
 */
export async function announce(
  catalog: Catalog,
  published: readonly Manifest[],
  options: AnnounceOptions,
): Promise<void> {
  const { onPublish, websubHub } = options
  const messages = published.map(
    (manifest) => async () => tell(JSON.stringify(messageFor(manifest, options)), options),
  )
  const ping = async (): Promise<void> =>
    post(websubHub, feedsOf(catalog, published, options).toString(), formHeaders)
  const faults: string[] = []
  for (const requests of [
    onPublish === '' ? [] : messages,
    websubHub === '' || published.length === 0 ? [] : [ping],
  ]) {
    for (const attempt of requests) {
      const fault = await retryOnce(attempt, options.retryMs ?? retryMsDefault)
      if (fault === null) continue
      faults.push(fault)
      // The next message would wait for the same receiver.
      break
    }
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
}

class Refused extends Error {}

async function retryOnce(attempt: () => Promise<void>, retryMs: number): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      await attempt()
      return null
    } catch (error) {
      if (error instanceof Refused) return messageOf(error)
      if (tries === triesMax) return `${messageOf(error)}, in ${triesMax} tries`
      await wait(retryMs * 2 ** (tries - 1))
    }
  }
}

/** Event in the form of https://www.standardwebhooks.com. */
function messageFor(manifest: Manifest, { publicUrl }: AnnounceOptions): unknown {
  const {
    dataset,
    table,
    snapshot,
    previous,
    rows,
    import_date: timestamp,
    changes: [changes] = [],
  } = manifest
  const schema = schemaChangeOf(manifest)
  const page = `${baseOf(publicUrl)}/en/dataset/${dataset}/${table}/`
  return {
    type: 'table.published',
    timestamp,
    data: {
      dataset,
      table,
      snapshot,
      previous,
      rows,
      changes:
        changes === undefined
          ? null
          : { added: changes.added, removed: changes.removed, changed: changes.changed },
      schema_change: schema && { class: schema.kind, reasons: schemaPhrases(schema) },
      page,
      changes_page: `${page}changes/?to=${snapshot}`,
    },
  }
}

function baseOf({ origin, pathname }: URL): string {
  return `${origin}${pathname.replace(/\/$/, '')}`
}

function feedsOf(
  catalog: Catalog,
  published: readonly Manifest[],
  { publicUrl }: AnnounceOptions,
): URLSearchParams {
  const feeds = `${baseOf(publicUrl)}/feeds`
  const listedManifests = published.filter(
    ({ dataset }) => (catalog.datasets.get(dataset)?.listedIn.size ?? 0) > 0,
  )
  const folders = [
    ...(listedManifests.length > 0 ? [feeds] : []),
    ...listedManifests.flatMap(({ dataset, table: name }) => [
      `${feeds}/${dataset}`,
      `${feeds}/${tableId({ dataset, name })}`,
    ]),
  ]
  const form = new URLSearchParams({ 'hub.mode': 'publish' })
  for (const folder of new Set(folders)) {
    for (const language of languages)
      form.append('hub.url', `${folder}/atom.xml${language === 'en' ? '' : `?lang=${language}`}`)
  }
  return form
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }

async function tell(body: string, { onPublish, onPublishSecret }: AnnounceOptions): Promise<void> {
  if (!/^https?:\/\//.test(onPublish)) return runCommand(onPublish, body)
  // Each attempt has the same id, so that a receiver can ignore repetitions.
  const id = `msg_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`
  const time = String(Math.floor(Date.now() / 1000))
  const secret = Buffer.from(onPublishSecret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')
  await post(onPublish, body, {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': time,
    ...(onPublishSecret !== '' && { 'webhook-signature': `v1,${signature}` }),
  })
}

/** @throws Refused after 410 or a redirect, which could lead into a private network */
async function post(address: string, body: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const url = new URL(address)
  const { origin, username, password } = url
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  ;[url.username, url.password] = ['', '']
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      ...headers,
      'user-agent': 'acervo',
      ...(username !== '' && { authorization: `Basic ${credentials.toString('base64')}` }),
    },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    // The error's own message may contain the address, and so a secret.
    const cause = error instanceof Error && error.cause !== undefined ? `: ${messageOf(error.cause)}` : ''
    throw new Error(`${origin} did not answer${cause}`)
  })
  await response.body?.cancel()
  if (response.status >= 300 && response.status < 400)
    throw new Refused(`${origin} redirects, which is not followed: use the final address`)
  if (response.status === 410)
    throw new Refused(`${origin} is gone (410): remove its address from the settings`)
  if (!response.ok) throw new Error(`${origin} answered ${response.status}`)
}

async function runCommand(command: string, body: string): Promise<void> {
  // Detached, so that a timeout also ends the programs that the command started.
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'ignore', 'inherit'], detached: true })
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, timeoutMs)
  // A command that reads nothing closes the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${body}\n`)
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  if (code !== 0)
    throw new Error(`the command of ON_PUBLISH ended with ${code === null ? String(signal) : `code ${code}`}`)
}
