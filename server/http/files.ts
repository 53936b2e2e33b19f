import { createHash, type Hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { callbackify } from 'node:util'
import parseRange from 'range-parser'
import send from 'send'
import { costOfFile, smallCost } from '../limits/costs.ts'
import { matchingTag, type EntityTag } from './negotiation.ts'
import { accountFor } from './limits.ts'
import { whenOver, type SendBudget } from './send.ts'
import { damagedFiles, Problem } from './problems.ts'

/** A file that never changes under its name. */
export interface ServedFile {
  /** Absolute folder of the file; no part of it is a reader's word. */
  readonly folder: string
  readonly file: string
  readonly mediaType: string
  /** Of what lies there packed, and is sent so to whoever takes it. */
  readonly contentEncoding?: 'gzip'
  /** SHA-256 of its bytes. */
  readonly sha256: string
  /** Its length; read from the file where it is not known, which may not be on this machine yet. */
  readonly bytes?: number
  readonly cacheControl: string
  /** HTTP date. */
  readonly lastModified?: string
  /** What it is called when it is saved. */
  readonly saveAs: string
  /** Whether it is still the file that was read when it was taken into service. */
  readonly isUnchanged: () => boolean
  /**
   * Keeps it where it lies, until it is let go; where there is none, it lies there anyway.
   *
   * @throws NotHere
   */
  readonly hold?: () => Promise<() => void>
  /** Told where it is not, or its bytes have another hash. */
  readonly doubt: (why: string) => void
}

/** What one transfer holds in memory, about: what was read ahead, and what the connection has not taken. */
const bufferBytes = 200_000

/**
 * Sends a file as it lies on disk: whole, a range of it, or 304. Resolves when the reader has it or has gone.
 *
 * @param unsent counts what the reader has not taken, and cuts off one who takes too little
 * @throws Problem unsatisfiable-range, damaged-files or overloaded
 */
export async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  served: ServedFile,
  sendBudget: SendBudget,
): Promise<void> {
  const doubted = (): Problem => {
    served.doubt(`${served.file} has changed`)
    return damagedFiles(served.saveAs)
  }
  if (!served.isUnchanged()) throw doubted()
  const tag = `"${served.sha256.slice(0, 32)}"` as const
  const asked = plain(req, tag, served.lastModified)
  await charge(asked, res, served, tag, doubted)
  sendBudget.requireRoom()
  const letGo = await served.hold?.()
  res.setHeader('ETag', tag)
  res.setHeader('Content-Type', served.mediaType)
  if (served.contentEncoding !== undefined) res.setHeader('Content-Encoding', served.contentEncoding)
  res.setHeader('Cache-Control', served.cacheControl)
  if (served.lastModified !== undefined) res.setHeader('Last-Modified', served.lastModified)
  res.setHeader('Content-Disposition', `attachment; filename="${served.saveAs}"`)
  await new Promise<void>((resolve, reject) => {
    whenOver(res, resolve)
    if (req.method === 'GET') sendBudget.follow(res, bufferBytes)
    send(asked, `/${encodeURIComponent(served.file)}`, {
      root: served.folder,
      cacheControl: false,
      lastModified: false,
      dotfiles: 'deny',
      index: false,
    })
      .on('error', (error: Error & { statusCode?: number; headers?: Record<string, string> }) => {
        for (const name of [
          'ETag',
          'Content-Type',
          'Content-Encoding',
          'Last-Modified',
          'Content-Disposition',
        ])
          res.removeHeader(name)
        if (error.statusCode !== 416) reject(doubted())
        else {
          const range = error.headers?.['Content-Range'] ?? ''
          const size = range.slice(range.indexOf('/') + 1)
          reject(
            new Problem(
              'unsatisfiable-range',
              `The file has ${size} bytes, and none in the range asked for.`,
              {
                headers: { 'Content-Range': range },
              },
            ),
          )
        }
      })
      .on('stream', (stream: Readable) => {
        const pipe = stream.pipe.bind(stream)
        const look = new LastLook(res.statusCode === 200 ? served.sha256 : null, served.isUnchanged)
        look.once('error', () => {
          doubted()
          res.destroy()
        })
        // The library would send what it reads as it reads it.
        stream.pipe = (to) => {
          pipe(look).pipe(to)
          return to
        }
      })
      .pipe(res)
  }).finally(letGo)
}

/**
 * The request as it is charged and sent: with a range only where it is one of this very file. The library would send all of a
 * file that its reader has already to who asks not to be answered from a cache, which there is none of here.
 */
function plain(req: IncomingMessage, tag: EntityTag, lastModified: string | undefined): IncomingMessage {
  const { 'cache-control': _cache, 'if-range': condition, range, ...headers } = req.headers
  const isMeant = condition === undefined || condition === tag || condition === lastModified
  const isRange = range !== undefined && /^ *bytes=/.test(range) && isMeant
  const asked = isRange ? { ...headers, range } : headers
  return Object.create(req, { headers: { value: asked } }) as IncomingMessage
}

/** Nothing for what the reader has already, and else by how much is sent. */
async function charge(
  req: IncomingMessage,
  res: ServerResponse,
  { folder, file, bytes }: ServedFile,
  tag: EntityTag,
  doubted: () => Problem,
): Promise<void> {
  const account = accountFor(res)
  const { 'if-none-match': known, range } = req.headers
  if (matchingTag(known, [tag]) !== null) return
  if (req.method === 'HEAD') return account.spend(smallCost)
  const size = bytes ?? (await sizeOf(path.join(folder, file), doubted))
  const ranges = range === undefined ? -1 : parseRange(size, range, { combine: true })
  // Several are answered by the whole.
  const [one, other] = typeof ranges === 'number' ? [] : ranges
  await account.spend(costOfFile(one === undefined || other !== undefined ? size : one.end - one.start + 1))
}

async function sizeOf(file: string, doubted: () => Problem): Promise<number> {
  const { size } = await stat(file).catch(() => {
    throw doubted()
  })
  return size
}

/** Lets the last bytes of a file through only where all of it was as it should be: else the transfer breaks off. */
export class LastLook extends Transform {
  readonly #hash: Hash | null
  readonly #sha256: string | null
  readonly #isUnchanged: () => boolean
  #held: Buffer | null = null

  /** @param sha256 of all that passes; null for a range */
  constructor(sha256: string | null, isUnchanged: () => boolean) {
    super()
    this.#sha256 = sha256
    this.#hash = sha256 === null ? null : createHash('sha256')
    this.#isUnchanged = isUnchanged
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#hash?.update(chunk)
    if (this.#held !== null) this.push(this.#held)
    this.#held = chunk
    done()
  }

  override _flush(done: TransformCallback): void {
    callbackify(() => this.#last())(done)
  }

  async #last(): Promise<Buffer | null> {
    const isWhole = this.#hash === null || this.#hash.digest('hex') === this.#sha256
    if (!isWhole || !this.#isUnchanged()) throw new Error('the file has changed')
    return this.#held
  }
}
