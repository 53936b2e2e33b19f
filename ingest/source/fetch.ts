import { open, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { codeOf, messageOf } from '../../core/errors.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import {
  anyLookup,
  isOnPrivateNetwork,
  PrivateAddress,
  publicLookup,
  requirePublicLiteral,
} from './public-address.ts'
import {
  isPartOf,
  nameIn,
  firstValue,
  pauseOf,
  totalOf,
  validatorOf,
  wrongDigest,
  type Headers,
} from './response-headers.ts'
import type { PackedFile } from './member.ts'

export interface Validators {
  readonly address: string
  readonly etag?: string
  readonly last_modified?: string
}

interface FetchOptions {
  readonly folder: string
  readonly validators: Validators | null
  readonly bytesMax: number
  readonly progress: Progress
  /** Wait before the second attempt, in ms; doubled for each further one. */
  readonly retryMs: number
  readonly silenceMs: number
}

type Fetched =
  | { readonly status: 'fetched'; readonly file: PackedFile; readonly validators: Validators }
  | { readonly status: 'unchanged' | 'missing' }

/** Consecutive attempts with little progress; more progress restarts the count. */
const triesMax = 5
const littleBytes = 1024 * 1024
/** Slower servers count as silent. */
const leastBytesPerSecond = 1000
const retryLongestMs = 30_000
const redirectsMax = 5

/**
 * Fetches a file conditionally, with retries that resume, and checks its length and digests.
 * @throws TableFailure with the address and the fault of the server
 */
export async function fetchFile(address: URL, options: FetchOptions): Promise<Fetched> {
  const download = new Download(address, options)
  let troubles: string[] = []
  for (;;) {
    const outcome = await download.attempt()
    if (outcome.status !== 'again') return outcome
    // After enough progress, tries are counted anew.
    troubles = download.gained > littleBytes ? [outcome.trouble] : [...troubles, outcome.trouble]
    if (troubles.length === triesMax) {
      throw new TableFailure(
        `${address.href} could not be fetched in ${triesMax} tries: ${troubles.join('; ')}`,
      )
    }
    const pause = Math.min(retryLongestMs, outcome.afterMs ?? options.retryMs * 2 ** (troubles.length - 1))
    options.progress.log(`${address.href}: ${outcome.trouble}; next try in ${(pause / 1000).toFixed(1)} s`)
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
  /** Bytes by which the last attempt got further than all before. */
  gained = 0
  #peakBytes = 0
  /** Headers of the response with the file's first bytes. */
  #firstHeaders: Headers = {}
  /** Requests the rest of the same version; null if the download must start again. */
  #validator: string | null = null

  constructor(address: URL, options: FetchOptions) {
    this.#address = address
    this.#options = options
    // The name in the address may be too long or missing.
    this.#file = path.join(options.folder, 'fetched')
    this.#name = nameIn(address)
  }

  async attempt(): Promise<Attempt> {
    const offset = this.#validator === null ? 0 : await sizeOf(this.#file)
    this.gained = 0
    const { validators } = this.#options
    const isKnown = validators?.address === this.#address.href && offset === 0
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'acervo' }
    if (isKnown && validators.etag !== undefined) headers['if-none-match'] = validators.etag
    else if (isKnown && validators.last_modified !== undefined)
      headers['if-modified-since'] = validators.last_modified
    const isConditional = 'if-none-match' in headers || 'if-modified-since' in headers
    if (offset > 0 && this.#validator !== null) {
      headers['range'] = `bytes=${offset}-`
      headers['if-range'] = this.#validator
    }
    try {
      const answer = await this.#follow(headers)
      return await this.#handleResponse(answer, offset, isConditional)
    } catch (error) {
      if (error instanceof PrivateAddress) {
        throw new TableFailure(
          `${this.#address.href} redirects to ${error.host}, a private address: refused; ` +
            'if that is intended, declare the private address in source.files',
        )
      }
      if (error instanceof TableFailure || /^E(NOSPC|IO|DQUOT|ACCES)$/.test(codeOf(error) ?? '')) throw error
      return { status: 'again', trouble: wordsOf(error) }
    }
  }

  async #handleResponse(answer: WebResponse, offset: number, isConditional: boolean): Promise<Attempt> {
    const { statusCode: status, headers } = answer
    if (status === 200 || (status === 206 && offset > 0))
      return this.#save(answer, status === 206 ? offset : 0)
    await discardBody(answer)
    if (status === 304 && isConditional) return { status: 'unchanged' }
    if (status === 404 || status === 410) return { status: 'missing' }
    if (status === 416) {
      this.#validator = null
      return { status: 'again', trouble: 'the server cannot send the rest of the file' }
    }
    if (status >= 500 || status === 429 || status === 408) {
      const afterMs = pauseOf(firstValue(headers['retry-after']))
      const trouble = `the server answers ${status}`
      return { status: 'again', trouble, ...(afterMs !== null && { afterMs }) }
    }
    throw new TableFailure(`${this.#address.href} answers ${status}: check the address`)
  }

  async #save({ headers, body }: WebResponse, offset: number): Promise<Attempt> {
    const { bytesMax, progress, silenceMs } = this.#options
    const total = totalOf(headers, offset)
    if (offset === 0) {
      this.#firstHeaders = headers
      this.#validator = validatorOf(headers)
    } else if (total.from !== offset || !isPartOf(this.#firstHeaders, headers, total.bytes)) {
      await discardBody({ body })
      this.#validator = null
      return {
        status: 'again',
        trouble: 'the server sent another range or version than was requested',
      }
    }
    const firstHeaders = this.#firstHeaders
    const [etag, lastModified] = [firstValue(firstHeaders['etag']), firstValue(firstHeaders['last-modified'])]
    let bytes = offset
    const pace = new Pace(silenceMs)
    const output = await open(this.#file, offset === 0 ? 'w' : 'a')
    try {
      for await (const chunk of body) {
        bytes += (chunk as Buffer).length
        this.#gain(bytes)
        pace.require(bytes - offset)
        if (bytes > bytesMax) {
          throw new TableFailure(
            `${this.#address.href} is larger than ${bytesMax / 1e9} GB: if that is intended, raise UNPACKED_GB`,
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
    const trouble = await wrongDigest(this.#file, [firstHeaders, headers])
    if (trouble !== null) {
      this.#validator = null
      await rm(this.#file)
      return { status: 'again', trouble }
    }
    const coding = (firstValue(firstHeaders['content-encoding']) ?? 'identity')
      .toLowerCase()
      .replace(/^x-gzip$/, 'gzip')
    const name = this.#name
    if (coding !== 'identity' && coding !== 'gzip') {
      throw new TableFailure(
        `${this.#address.href} was sent with the content encoding ${coding}, which was not requested and cannot be read: put the file into SOURCES instead`,
      )
    }
    // Some servers compress without being asked; others declare the gzip of a .gz file as encoding.
    const isPacked = coding === 'gzip' && !name.endsWith('.gz')
    return {
      status: 'fetched',
      file: {
        path: this.#file,
        name: isPacked ? `${name}.gz` : name,
        bytes,
        // Without a length (HTTP/1.0), a broken connection looks like the end of the file.
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
    this.gained += Math.max(0, bytes - this.#peakBytes)
    this.#peakBytes = Math.max(this.#peakBytes, bytes)
  }

  /**
   * Follows redirects to public addresses. Only the first address, which the catalog chooses, and others on its
   * server may be private.
   */
  async #follow(headers: Record<string, string>): Promise<WebResponse> {
    const { request, anywhere, publicOnly } = await httpClient()
    let address = this.#address
    for (let redirects = 0; ; redirects += 1) {
      const isSameServer = address.origin === this.#address.origin
      const mayBePrivate = redirects === 0 || (isSameServer && isOnPrivateNetwork(address))
      if (!mayBePrivate) requirePublicLiteral(address)
      const answer = await request(address, {
        headers,
        dispatcher: mayBePrivate ? anywhere : publicOnly,
        headersTimeout: this.#options.silenceMs,
        bodyTimeout: this.#options.silenceMs,
      })
      const location = firstValue(answer.headers['location'])
      if (![301, 302, 303, 307, 308].includes(answer.statusCode) || location === undefined) return answer
      await discardBody(answer)
      if (redirects === redirectsMax)
        throw new TableFailure(
          `${this.#address.href} redirects more than ${redirectsMax} times: check the address`,
        )
      const next = new URL(location, address)
      if (!/^https?:$/.test(next.protocol) || (address.protocol === 'https:' && next.protocol === 'http:')) {
        throw new TableFailure(
          `${this.#address.href} redirects to ${next.href}: refused, since that is less secure`,
        )
      }
      address = next
    }
  }
}

let client: ReturnType<typeof loadHttpClient> | null = null

/** Imports undici on demand, which takes a quarter of the start-up time. */
function httpClient(): ReturnType<typeof loadHttpClient> {
  return (client ??= loadHttpClient())
}

async function loadHttpClient() {
  const { Agent, request } = await import('undici')
  return {
    request,
    anywhere: new Agent({ connect: { lookup: anyLookup } }),
    publicOnly: new Agent({ connect: { lookup: publicLookup } }),
  }
}

/** Closing a connection is cheaper than reading more of an unwanted body. */
const discardedBytesMax = 65_536
const discardTimeoutMs = 2000

async function discardBody({ body }: Pick<WebResponse, 'body'>): Promise<void> {
  await body
    .dump({ limit: discardedBytesMax, signal: AbortSignal.timeout(discardTimeoutMs) })
    .catch(() => undefined)
}

/** Requires a minimum speed in each period, which is as long as the timeout of a silent server. */
class Pace {
  readonly #everyMs: number
  #periodStart = performance.now()
  #before = 0

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** @throws Error if fewer bytes than required were received */
  require(receivedBytes: number): void {
    const ms = performance.now() - this.#periodStart
    if (ms < this.#everyMs) return
    if (receivedBytes - this.#before < (leastBytesPerSecond * ms) / 1000)
      throw new Error(`the server sends less than ${leastBytesPerSecond} bytes a second`)
    this.#periodStart = performance.now()
    this.#before = receivedBytes
  }

  /** Excludes time in which this process wrote to disk. */
  forgive(ms: number): void {
    this.#periodStart += ms
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file)).size
}

function wordsOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join(', ')
  return messageOf(error)
}
