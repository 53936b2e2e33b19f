import { createHash, type Hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { callbackify } from 'node:util'
import send from 'send'
import { matchingTag, type EntityTag } from './negotiation.ts'
import { accountFor } from './limits.ts'
import type { ConcurrencyLimit, Slot } from '../base/queue.ts'
import { disconnectSignal, onResponseEnd, pauseWhileStalled, type SendBudget } from './send.ts'
import { damagedFiles, type Problem } from './problems.ts'
import { requestedRange, type ByteRange } from './range.ts'

/** Content never changes under the same name. */
export interface ServedFile {
  /** No part of it comes from a request. */
  readonly folder: string
  readonly file: string
  readonly mediaType: string
  /** Content coding of the stored file. */
  readonly contentEncoding?: 'gzip'
  readonly sha256: string
  /** Required if the file is perhaps not local yet; otherwise read from the file. */
  readonly bytes?: number
  readonly cacheControl: string
  readonly lastModified?: string
  readonly saveAs: string
  readonly isUnchanged: () => boolean
  /**
   * Keeps the file local until the returned function is called; absent if the file is always local.
   * @throws FileUnavailable
   */
  readonly keepOpen?: () => Promise<() => void>
  /** Reports a missing file, or another hash. */
  readonly onMismatch: (reason: string) => void
}

const bufferBytes = 200_000

export interface TransferLimits {
  readonly transfers: ConcurrencyLimit
  /** Cuts off a client that takes too little. */
  readonly sendBudget: SendBudget
}

/**
 * Sends a stored file: all of it, a range, or 304. Resolves when the client has received it or disconnected.
 * @throws Problem unsatisfiable-range, damaged-files or overloaded; QueueFull
 */
export async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  file: ServedFile,
  client: string,
  { transfers, sendBudget }: TransferLimits,
): Promise<void> {
  await transfers.during(client, disconnectSignal(res)(), (slot) =>
    transmit(req, res, file, sendBudget, slot),
  )
}

async function transmit(
  req: IncomingMessage,
  res: ServerResponse,
  file: ServedFile,
  sendBudget: SendBudget,
  slot: Slot,
): Promise<void> {
  const damagedFilesProblem = (): Problem => {
    file.onMismatch(`${file.file} has changed`)
    return damagedFiles(file.saveAs)
  }
  if (!file.isUnchanged()) throw damagedFilesProblem()
  const tag = `"${file.sha256.slice(0, 32)}"` as const
  const isKnown = matchingTag(req.headers['if-none-match'], [tag]) !== null
  const size = file.bytes ?? (await sizeOf(path.join(file.folder, file.file), damagedFilesProblem))
  const range =
    isKnown || !isRangeMeant(req, tag, file.lastModified) ? null : requestedRange(req.headers.range, size)
  const fileBytes = range === null ? size : range.end - range.start + 1
  if (!isKnown) await accountFor(res).spend(req.method === 'HEAD' ? {} : { fileBytes })
  const plainRequest = plain(req, range)
  sendBudget.requireRoom()
  const release = await file.keepOpen?.()
  res.setHeader('ETag', tag)
  res.setHeader('Content-Type', file.mediaType)
  if (file.contentEncoding !== undefined) res.setHeader('Content-Encoding', file.contentEncoding)
  res.setHeader('Cache-Control', file.cacheControl)
  if (file.lastModified !== undefined) res.setHeader('Last-Modified', file.lastModified)
  res.setHeader('Content-Disposition', `attachment; filename="${file.saveAs}"`)
  await new Promise<void>((resolve, reject) => {
    onResponseEnd(res, resolve)
    if (req.method === 'GET') sendBudget.follow(res, bufferBytes)
    pauseWhileStalled(res, slot)
    send(plainRequest, `/${encodeURIComponent(file.file)}`, {
      root: file.folder,
      cacheControl: false,
      lastModified: false,
      dotfiles: 'deny',
      index: false,
    })
      .on('error', () => {
        for (const name of [
          'ETag',
          'Content-Type',
          'Content-Encoding',
          'Last-Modified',
          'Content-Disposition',
        ])
          res.removeHeader(name)
        reject(damagedFilesProblem())
      })
      .on('stream', (stream: Readable) => {
        const pipe = stream.pipe.bind(stream)
        const gate = new IntegrityGate(res.statusCode === 200 ? file.sha256 : null, file.isUnchanged)
        gate.once('error', () => {
          damagedFilesProblem()
          res.destroy()
        })
        // Inserts the integrity check, since the library would pipe the file directly to the response.
        stream.pipe = (to) => {
          pipe(gate).pipe(to)
          return to
        }
      })
      .pipe(res)
  }).finally(release)
}

function isRangeMeant(
  { headers: { 'if-range': condition } }: IncomingMessage,
  tag: EntityTag,
  lastModified: string | undefined,
): boolean {
  return condition === undefined || condition === tag || condition === lastModified
}

/** Removes headers that the library handles differently; `no-cache` would make it ignore If-None-Match. */
function plain(req: IncomingMessage, range: ByteRange | null): IncomingMessage {
  const { 'cache-control': _cache, 'if-range': _condition, range: _range, ...headers } = req.headers
  const allowedHeaders = range === null ? headers : { ...headers, range: `bytes=${range.start}-${range.end}` }
  return Object.create(req, { headers: { value: allowedHeaders } }) as IncomingMessage
}

async function sizeOf(file: string, problemOf: () => Problem): Promise<number> {
  const { size } = await stat(file).catch(() => {
    throw problemOf()
  })
  return size
}

/**
 * Withholds the last chunk until the file is verified; damage breaks the transfer off, so that clients
 * notice.
 */
export class IntegrityGate extends Transform {
  readonly #hash: Hash | null
  readonly #sha256: string | null
  readonly #isUnchanged: () => boolean
  #lastChunk: Buffer | null = null

  /** @param sha256 of the complete file; null for a range */
  constructor(sha256: string | null, isUnchanged: () => boolean) {
    super()
    this.#sha256 = sha256
    this.#hash = sha256 === null ? null : createHash('sha256')
    this.#isUnchanged = isUnchanged
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#hash?.update(chunk)
    if (this.#lastChunk !== null) this.push(this.#lastChunk)
    this.#lastChunk = chunk
    done()
  }

  override _flush(done: TransformCallback): void {
    callbackify(() => this.#last())(done)
  }

  async #last(): Promise<Buffer | null> {
    const isWhole = this.#hash === null || this.#hash.digest('hex') === this.#sha256
    if (!isWhole || !this.#isUnchanged()) throw new Error('the file has changed')
    return this.#lastChunk
  }
}
