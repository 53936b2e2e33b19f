import { createReadStream } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import path from 'node:path'
import { Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { DownloadMember } from '../../core/warehouse/report.ts'
import { LastLook, type ServedFile } from './files.ts'
import { damagedFiles } from './problems.ts'
import { rangeOf, type ByteRange } from './range.ts'
import { sendStream, type SendBudget } from './send.ts'

/** A gzipped file for whoever does not take it packed. */
interface PackedFile extends ServedFile {
  /** Strong, of the unpacked bytes. */
  readonly tag: string
  /** Of its gzip members; null where they are not known: then it comes in chunks, and whole. */
  readonly members: readonly DownloadMember[] | null
}

/**
 * Sends a gzipped file unpacked, whole or a range of it, of which only the members that hold it are read. The headers
 * that tell what it is are set already.
 *
 * @throws Problem unsatisfiable-range or damaged-files; what gunzip says of bytes that are not whole, with the
 *   connection cut
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
  const wanted = packed.members === null ? null : wantedRangeOf(req, res, packed, packed.members)
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  const range = wanted === null || packed.members === null ? null : packedRangeOf(packed.members, wanted)
  const letGo = await packed.hold?.()
  const source = createReadStream(path.join(packed.folder, packed.file), range?.packed ?? {})
  const gunzip = createGunzip()
  const cut = new Cutter(range?.skip ?? 0, wanted === null ? Infinity : wanted.end - wanted.start + 1)
  const look = new LastLook(range === null ? packed.sha256 : null, packed.isUnchanged)
  const unpacking = pipeline(source, look, gunzip, cut)
  async function* wholeChunks(): AsyncGenerator<Uint8Array> {
    yield* cut as AsyncIterable<Uint8Array>
    // By then the check sums are compared and the file is closed.
    await unpacking
  }
  const sending = sendStream(res, wholeChunks(), sendBudget, () => ({}))
  const ends = await Promise.allSettled([unpacking, sending]).finally(letGo)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed === undefined || res.destroyed) return
  packed.doubt(`${packed.file} does not unpack`)
  throw failed.reason
}

/** Says how much comes, and which part of it where a range is asked for. */
function wantedRangeOf(
  req: IncomingMessage,
  res: ServerResponse,
  { tag }: PackedFile,
  members: readonly DownloadMember[],
): ByteRange {
  const bytes = members.reduce((sum, [, unpacked]) => sum + unpacked, 0)
  return rangeOf(req, res, tag, bytes)
}

/** Which bytes of the file hold what is wanted, and how many unpacked ones come before it. */
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

/** Lets some bytes of a stream through. The others are read all the same, since check sums stand at the end. */
class Cutter extends Transform {
  #skip: number
  #left: number

  constructor(skip: number, left: number) {
    super()
    this.#skip = skip
    this.#left = left
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    const wanted = chunk.subarray(this.#skip).subarray(0, this.#left)
    this.#skip = Math.max(0, this.#skip - chunk.length)
    this.#left -= wanted.length
    if (wanted.length > 0) this.push(wanted)
    done()
  }
}
