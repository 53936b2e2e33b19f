import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { DownloadMember } from '../../core/warehouse/report.ts'
import { IntegrityGate, type ServedFile } from './files.ts'
import { damagedFiles } from './problems.ts'
import { rangeOf, type ByteRange } from './range.ts'
import { sendStream, type SendBudget } from './send.ts'

/** A gzipped file, sent uncompressed to clients that do not accept gzip. */
interface PackedFile extends ServedFile {
  /** Strong tag of the uncompressed bytes. */
  readonly tag: string
  /** Gzip members of the file; null if unknown: then the response has no Content-Length and no ranges. */
  readonly members: readonly DownloadMember[] | null
}

/**
 * Sends a gzipped file uncompressed. For a range, reads only the gzip members that contain it. The caller has
 * already set the headers that describe the file.
 * @throws Problem unsatisfiable-range or damaged-files; errors of gunzip
 */
export async function sendUnpacked(
  req: IncomingMessage,
  res: ServerResponse,
  packed: PackedFile,
  sendBudget: SendBudget,
): Promise<void> {
  if (!packed.isUnchanged()) {
    packed.doubt(`${packed.file} has changed`)
    throw damagedFiles(packed.saveAs)
  }
  const unpackedRange = packed.members === null ? null : unpackedRangeOf(req, res, packed, packed.members)
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  const range =
    unpackedRange === null || packed.members === null ? null : packedRangeOf(packed.members, unpackedRange)
  const release = await packed.hold?.()
  const source = createReadStream(path.join(packed.folder, packed.file), range?.packed ?? {})
  const gunzip = createGunzip()
  const cut = new Cutter(
    range?.skip ?? 0,
    unpackedRange === null ? Infinity : unpackedRange.end - unpackedRange.start + 1,
  )
  const gate = new IntegrityGate(range === null ? packed.sha256 : null, packed.isUnchanged)
  const unpacking = pipeline(source, gate, gunzip, cut)
  async function* verifiedChunks(): AsyncGenerator<Uint8Array> {
    yield* cut as AsyncIterable<Uint8Array>
    // Waits until the checksums are verified and the file is closed.
    await unpacking
  }
  const sending = sendStream(res, verifiedChunks(), sendBudget, () => ({}))
  const ends = await Promise.allSettled([unpacking, sending]).finally(release)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed === undefined || res.destroyed) return
  packed.doubt(`${packed.file} cannot be unpacked`)
  throw failed.reason
}

/** Sets the headers for the body or its range, and returns the range. */
function unpackedRangeOf(
  req: IncomingMessage,
  res: ServerResponse,
  { tag }: PackedFile,
  members: readonly DownloadMember[],
): ByteRange {
  const bytes = members.reduce((sum, [, unpacked]) => sum + unpacked, 0)
  return rangeOf(req, res, tag, bytes)
}

/** Returns which bytes of the file contain a range, and how many uncompressed bytes come before it. */
function packedRangeOf(
  members: readonly DownloadMember[],
  { start, end }: ByteRange,
): { packed: ByteRange; skip: number } | null {
  let [packedAt, at] = [0, 0]
  let [from, to, skip] = [0, 0, 0]
  for (const [packed, unpacked] of members) {
    if (at <= start) [from, skip] = [packedAt, start - at]
    if (at <= end) to = packedAt + packed - 1
    packedAt += packed
    at += unpacked
  }
  const isWhole = from === 0 && to === packedAt - 1
  return isWhole && skip === 0 && end === at - 1 ? null : { packed: { start: from, end: to }, skip }
}

/** Passes on a range of a stream. Reads the rest too, since gzip has its checksums at the end. */
class Cutter extends Transform {
  #skip: number
  #remaining: number

  constructor(skip: number, remaining: number) {
    super()
    this.#skip = skip
    this.#remaining = remaining
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const slice = chunk.subarray(this.#skip).subarray(0, this.#remaining)
    this.#skip = Math.max(0, this.#skip - chunk.length)
    this.#remaining -= slice.length
    if (slice.length > 0) this.push(slice)
    done()
  }
}
