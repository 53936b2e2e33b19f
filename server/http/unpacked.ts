import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import { sectionStart, type GzipSection } from '../../core/warehouse/format/gzip-sections.ts'
import { IntegrityGate, type ServedFile, type TransferLimits } from './files.ts'
import type { Slot } from '../base/queue.ts'
import { damagedFiles } from './problems.ts'
import { beginRange, type ByteRange } from './range.ts'
import { disconnectSignal, sendStream, type SendBudget } from './send.ts'

interface PackedFile extends ServedFile {
  /** Strong tag of the uncompressed bytes. */
  readonly tag: string
  /** Null if unknown: then no Content-Length and no ranges. */
  readonly sections: readonly GzipSection[] | null
}

/**
 * Sends a gzipped file uncompressed; for a range, unpacks only its sections. The caller has set the headers.
 * @throws Problem unsatisfiable-range or damaged-files; QueueFull; errors of gunzip
 */
export async function sendUnpacked(
  req: IncomingMessage,
  res: ServerResponse,
  packedFile: PackedFile,
  client: string,
  { transfers, sendBudget }: TransferLimits,
): Promise<void> {
  await transfers.during(client, disconnectSignal(res)(), (slot) =>
    transmit(req, res, packedFile, sendBudget, slot),
  )
}

/** Unpacks the file, or sections around a range, while verifying and sending it. */
async function transmit(
  req: IncomingMessage,
  res: ServerResponse,
  packedFile: PackedFile,
  sendBudget: SendBudget,
  slot: Slot,
): Promise<void> {
  if (!packedFile.isUnchanged()) {
    packedFile.onMismatch(`${packedFile.file} has changed`)
    throw damagedFiles(packedFile.saveAs)
  }
  const { sections } = packedFile
  const range = sections === null ? null : wantedRange(req, res, packedFile, sections)
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  const slice = sections === null || range === null ? null : sliceOf(sections, range)
  const release = await packedFile.keepOpen?.()
  const source = createReadStream(path.join(packedFile.folder, packedFile.file), slice?.packed ?? {})
  // Sections have no final deflate block; only the end of the file has one.
  const unpack =
    slice === null ? zlib.createGunzip() : zlib.createInflateRaw({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
  const cut = new Cutter(slice?.skip ?? 0, range === null ? null : range.end - range.start + 1)
  const gate = new IntegrityGate(slice === null ? packedFile.sha256 : null, packedFile.isUnchanged)
  const unpacking = pipeline(source, gate, unpack, cut)
  async function* verifiedChunks(): AsyncGenerator<Uint8Array> {
    yield* cut as AsyncIterable<Uint8Array>
    // Waits until the checksums are verified and the file is closed.
    await unpacking
  }
  const sending = sendStream(res, verifiedChunks(), sendBudget, { slot })
  const outcomes = await Promise.allSettled([unpacking, sending]).finally(release)
  const failure = outcomes.find((end) => end.status === 'rejected')
  if (failure === undefined || res.destroyed) return
  packedFile.onMismatch(`${packedFile.file} cannot be unpacked`)
  throw failure.reason
}

function wantedRange(
  req: IncomingMessage,
  res: ServerResponse,
  { tag }: PackedFile,
  sections: readonly GzipSection[],
): ByteRange {
  const bytes = sections.reduce((sum, [, unpacked]) => sum + unpacked, 0)
  return beginRange(req, res, tag, bytes)
}

/** Sections around a range, and how many of their bytes come before it. */
interface Slice {
  readonly packed: ByteRange
  readonly skip: number
}

function sliceOf(sections: readonly GzipSection[], { start, end }: ByteRange): Slice | null {
  let [from, to, skip, offset] = [0, 0, 0, 0]
  for (const [index, [, unpacked]] of sections.entries()) {
    if (offset <= start) [from, skip] = [index, start - offset]
    if (offset <= end) to = index
    offset += unpacked
  }
  if (start === 0 && end === offset - 1) return null
  const packedRange = { start: sectionStart(sections, from), end: sectionStart(sections, to + 1) - 1 }
  return { packed: packedRange, skip }
}

class Cutter extends Transform {
  #skip: number
  #remaining: number
  readonly #isExact: boolean

  /** @param bytes of the range, which the stream must have; null for everything from `skip` on */
  constructor(skip: number, bytes: number | null) {
    super()
    this.#skip = skip
    this.#remaining = bytes ?? Infinity
    this.#isExact = bytes !== null
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const slice = chunk.subarray(this.#skip).subarray(0, this.#remaining)
    this.#skip = Math.max(0, this.#skip - chunk.length)
    this.#remaining -= slice.length
    if (slice.length > 0) this.push(slice)
    done()
  }

  override _flush(done: TransformCallback): void {
    // A truncated section inflates without an error.
    done(this.#isExact && this.#remaining > 0 ? new Error('the file has fewer bytes than it should') : null)
  }
}
