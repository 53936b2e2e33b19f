import { open, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { codeOf, messageOf } from '../../core/errors.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import { PrivateAddress, publicLookup, requirePublicLiteral } from './public-address.ts'
import { isPartOf, nameIn, one, pauseOf, totalOf, validatorOf, wrongDigest, type Headers } from './stated.ts'
import type { PackedFile } from './member.ts'

/** What tells whether a file on the web is still the same. */
export interface Validators {
  readonly address: string
  readonly etag?: string
  readonly last_modified?: string
}

interface FetchOptions {
  /** Where the file is put. */
  readonly folder: string
  /** What was fetched before: where nothing changed since, nothing is fetched. */
  readonly known: Validators | null
  readonly bytesMax: number
  readonly progress: Progress
  /** Milliseconds before the second try; doubled with each. */
  readonly retryMs: number
  /** A server that sends nothing for so long is asked again. */
  readonly silenceMs: number
}

type Fetched =
  | { readonly status: 'fetched'; readonly file: PackedFile; readonly validators: Validators }
  | { readonly status: 'unchanged' | 'missing' }

/** In a row that bring little; a try that brings more begins the count anew. */
const triesMax = 5
const littleBytes = 1024 * 1024
/** A server that sends less is as good as silent: a job must come to an end. */
const leastBytesPerSecond = 1000
const retryLongestMs = 30_000
const redirectsMax = 5

/**
 * Fetches a file with what it takes to be sure of it: conditional where it was fetched before, tried again and resumed
 * where it breaks off, checked against the length and the digests that the server states.
 *
 * @throws TableFailure with the address and what the server did
 */
export async function fetchFile(address: URL, options: FetchOptions): Promise<Fetched> {
  const download = new Download(address, options)
  /** Of the tries in a row that brought little. */
  let troubles: string[] = []
  for (;;) {
    const outcome = await download.attempt()
    if (outcome.status !== 'again') return outcome
    troubles = download.gained > littleBytes ? [outcome.trouble] : [...troubles, outcome.trouble]
    if (troubles.length === triesMax) {
      throw new TableFailure(
        `${address.href} could not be fetched in ${triesMax} tries: ${troubles.join('; ')}`,
      )
    }
    const pause = Math.min(retryLongestMs, outcome.afterMs ?? options.retryMs * 2 ** (troubles.length - 1))
    options.progress.say(`${address.href}: ${outcome.trouble}; next try in ${(pause / 1000).toFixed(1)} s`)
    await wait(pause)
  }
}

type Attempt = Fetched | { readonly status: 'again'; readonly trouble: string; readonly afterMs?: number }
type WebResponse = Dispatcher.ResponseData

class Download {
  readonly #address: URL
  readonly #options: FetchOptions
  readonly #file: string
  readonly #name: string
  /** Bytes that the last try brought beyond all that was there before. */
  gained = 0
  #most = 0
  /** What was said of the whole whose first bytes are there already. */
  #whole: Headers = {}
  /** Of those bytes, to ask for the rest of the same. */
  #validator: string | null = null

  constructor(address: URL, options: FetchOptions) {
    this.#address = address
    this.#options = options
    // Never the name that the address gives it: that may be too long, or none.
    this.#file = path.join(options.folder, 'fetched')
    this.#name = nameIn(address)
  }

  async attempt(): Promise<Attempt> {
    const have = this.#validator === null ? 0 : await sizeOf(this.#file)
    this.gained = 0
    const { known } = this.#options
    const isKnown = known?.address === this.#address.href && have === 0
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'acervo' }
    if (isKnown && known.etag !== undefined) headers['if-none-match'] = known.etag
    else if (isKnown && known.last_modified !== undefined) headers['if-modified-since'] = known.last_modified
    const isConditional = 'if-none-match' in headers || 'if-modified-since' in headers
    if (have > 0 && this.#validator !== null) {
      headers['range'] = `bytes=${have}-`
      headers['if-range'] = this.#validator
    }
    try {
      const answer = await this.#follow(headers)
      return await this.#take(answer, have, isConditional)
    } catch (error) {
      if (error instanceof PrivateAddress) {
        throw new TableFailure(
          `${this.#address.href} redirects to ${error.host}, a private address: refused; ` +
            'write the address itself if it is meant',
        )
      }
      if (error instanceof TableFailure || /^E(NOSPC|IO|DQUOT|ACCES)$/.test(codeOf(error) ?? '')) throw error
      return { status: 'again', trouble: wordsOf(error) }
    }
  }

  async #take(answer: WebResponse, have: number, isConditional: boolean): Promise<Attempt> {
    const { statusCode: status, headers } = answer
    if (status === 200 || (status === 206 && have > 0)) return this.#save(answer, status === 206 ? have : 0)
    await leave(answer)
    if (status === 304 && isConditional) return { status: 'unchanged' }
    if (status === 404 || status === 410) return { status: 'missing' }
    if (status === 416) {
      this.#validator = null
      return { status: 'again', trouble: 'the server does not have the rest of what it sent' }
    }
    if (status >= 500 || status === 429 || status === 408) {
      const afterMs = pauseOf(one(headers['retry-after']))
      const trouble = `the server answers ${status}`
      return { status: 'again', trouble, ...(afterMs !== null && { afterMs }) }
    }
    throw new TableFailure(`${this.#address.href} answers ${status}: see that it is the address of the file`)
  }

  async #save({ headers, body }: WebResponse, have: number): Promise<Attempt> {
    const { bytesMax, progress, silenceMs } = this.#options
    const total = totalOf(headers, have)
    if (have === 0) {
      this.#whole = headers
      this.#validator = validatorOf(headers)
    } else if (total.from !== have || !isPartOf(this.#whole, headers, total.bytes)) {
      await leave({ body })
      this.#validator = null
      return {
        status: 'again',
        trouble: 'the server sends another range, or of another version, than was asked for',
      }
    }
    const whole = this.#whole
    const [etag, lastModified] = [one(whole['etag']), one(whole['last-modified'])]
    let bytes = have
    const pace = new Pace(silenceMs)
    const output = await open(this.#file, have === 0 ? 'w' : 'a')
    try {
      for await (const chunk of body) {
        bytes += (chunk as Buffer).length
        this.#gain(bytes)
        pace.require(bytes - have)
        if (bytes > bytesMax) {
          throw new TableFailure(
            `${this.#address.href} is larger than ${bytesMax / 1e9} GB: set UNPACKED_GB to more if it is meant`,
          )
        }
        const began = performance.now()
        await output.writeFile(chunk as Buffer)
        pace.forgive(performance.now() - began)
        if (total.bytes !== null) progress.advance({ fraction: bytes / total.bytes, bytes })
      }
    } finally {
      await output.close()
    }
    if (total.bytes !== null && bytes !== total.bytes) {
      return { status: 'again', trouble: `the server sent ${bytes} of ${total.bytes} bytes` }
    }
    const trouble = await wrongDigest(this.#file, [whole, headers])
    if (trouble !== null) {
      this.#validator = null
      await rm(this.#file)
      return { status: 'again', trouble }
    }
    const coding = (one(whole['content-encoding']) ?? 'identity').toLowerCase().replace(/^x-gzip$/, 'gzip')
    const name = this.#name
    if (coding !== 'identity' && coding !== 'gzip') {
      throw new TableFailure(
        `${this.#address.href} comes encoded as ${coding}, though it was asked for as it is`,
      )
    }
    // Some servers pack what they send whatever they are asked; others call a .gz by its packing.
    const isPacked = coding === 'gzip' && !name.endsWith('.gz')
    return {
      status: 'fetched',
      file: {
        path: this.#file,
        name: isPacked ? `${name}.gz` : name,
        bytes,
        // HTTP/1.0: the body ends where the line does, for whatever reason.
        isUnmeasured: total.bytes === null && headers['transfer-encoding'] === undefined,
      },
      validators: {
        address: this.#address.href,
        ...(etag !== undefined && { etag }),
        ...(lastModified !== undefined && { last_modified: lastModified }),
      },
    }
  }

  #gain(bytes: number): void {
    this.gained += Math.max(0, bytes - this.#most)
    this.#most = Math.max(this.#most, bytes)
  }

  /** The address itself may be anywhere, since the operator wrote it; where a server leads to is its own word. */
  async #follow(headers: Record<string, string>): Promise<WebResponse> {
    const { request, anywhere, publicOnly } = await httpClient()
    let address = this.#address
    for (let redirects = 0; ; redirects += 1) {
      const isOurs = address.origin === this.#address.origin
      if (!isOurs) requirePublicLiteral(address)
      const answer = await request(address, {
        headers,
        dispatcher: isOurs ? anywhere : publicOnly,
        headersTimeout: this.#options.silenceMs,
        bodyTimeout: this.#options.silenceMs,
      })
      const location = one(answer.headers['location'])
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) return answer
      await leave(answer)
      if (redirects === redirectsMax)
        throw new TableFailure(`${this.#address.href} redirects more than ${redirectsMax} times`)
      const next = new URL(location, address)
      if (!/^https?:$/.test(next.protocol) || (address.protocol === 'https:' && next.protocol === 'http:')) {
        throw new TableFailure(
          `${this.#address.href} redirects to ${next.href}: refused, since it is not as safe`,
        )
      }
      address = next
    }
  }
}

let client: ReturnType<typeof loadHttpClient> | null = null

/** Loaded with the first request: most sources are local files, and undici is a quarter of the start-up time. */
function httpClient(): ReturnType<typeof loadHttpClient> {
  return (client ??= loadHttpClient())
}

async function loadHttpClient() {
  const { Agent, request } = await import('undici')
  return {
    request,
    anywhere: new Agent(),
    publicOnly: new Agent({ connect: { lookup: publicLookup } }),
  }
}

/** Bytes of a body that nobody wants; past them its connection is cheaper to close. */
const leftBytesMax = 65_536
const leftMs = 2000

async function leave({ body }: Pick<WebResponse, 'body'>): Promise<void> {
  await body.dump({ limit: leftBytesMax, signal: AbortSignal.timeout(leftMs) }).catch(() => undefined)
}

/** How fast a server sends, in any time as long as a silence may be. */
class Pace {
  readonly #everyMs: number
  #since = performance.now()
  #before = 0

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /**
   * @param bytes that came so far
   * @throws Error where they are fewer than are due
   */
  require(bytes: number): void {
    const ms = performance.now() - this.#since
    if (ms < this.#everyMs) return
    if (bytes - this.#before < (leastBytesPerSecond * ms) / 1000)
      throw new Error(`the server sends less than ${leastBytesPerSecond} bytes a second`)
    this.#since = performance.now()
    this.#before = bytes
  }

  /** Time that was ours, not the server's. */
  forgive(ms: number): void {
    this.#since += ms
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file)).size
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ')
  return messageOf(error)
}
