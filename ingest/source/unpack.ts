import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { callbackify } from 'node:util'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import { codeOf, messageOf } from '../../core/errors.ts'
import { TableFailure } from '../rejects.ts'
import { boundsOf, type Member, type PackedFile, type Sink, type UnpackLimits } from './member.ts'
import { kindBytes, requirePacking } from './kinds.ts'
import { zipMembers } from './zip.ts'
import { requireWholeFrame } from './zstd-frame.ts'

/** How a source is packed, told by the end of its name. */
export type Packing = 'gzip' | 'zstd' | 'zip' | null

export const packings: Readonly<Record<string, Packing>> = {
  '.csv': null,
  '.csv.gz': 'gzip',
  '.csv.zst': 'zstd',
  '.csv.zip': 'zip',
}

export function packingOf(name: string): Packing {
  const ends = { '.gz': 'gzip', '.zst': 'zstd', '.zip': 'zip' } as const
  const found = Object.entries(ends).find(([end]) => name.toLowerCase().endsWith(end))
  return found?.[1] ?? null
}

const chunkBytes = 1024 * 1024

/**
 * The texts in a file.
 *
 * @param pattern which files of a zip, with * for any part of a name; null for the only one
 * @throws TableFailure where the file is not what its name says
 */
export async function membersOf(
  file: PackedFile,
  pattern: string | null,
  limits: UnpackLimits,
): Promise<Member[]> {
  const packing = packingOf(file.name)
  requirePacking(await startOf(file.path), packing, file.name)
  if (packing === 'zip') return zipMembers(file, pattern, limits)
  if (packing === null) return [{ name: file.name, read: (sink) => readThrough(file, null, sink, limits) }]
  const unpack = packing === 'gzip' ? zlib.createGunzip : zstdOf(file)
  if (packing === 'zstd') await requireWholeFrame(file)
  return [{ name: file.name, read: (sink) => readThrough(file, unpack(unpackOptions), sink, limits) }]
}

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const start = Buffer.alloc(kindBytes)
    const { bytesRead } = await handle.read(start, 0, kindBytes, 0)
    return start.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** So much is unpacked ahead, by another thread, while what came before is read. */
const unpackOptions = { chunkSize: chunkBytes, readableHighWaterMark: 4 * chunkBytes }

type Unpack = (options: typeof unpackOptions) => Transform & { bytesWritten: number }

/** Node has had it since 22.15. */
function zstdOf({ name }: PackedFile): Unpack {
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: Unpack }
  if (createZstdDecompress !== undefined) return createZstdDecompress
  throw new TableFailure(
    `${name} needs Node 22.15 or newer, and this is ${process.version}: pack it with gzip instead`,
  )
}

async function readThrough(
  file: PackedFile,
  unpack: ReturnType<Unpack> | null,
  sink: Sink,
  limits: UnpackLimits,
): Promise<void> {
  let packed = 0
  const requireBounds = boundsOf(file, limits)
  const measure = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => {
      packed += chunk.length
      sink.onPacked(chunk)
      done(null, chunk)
    },
  })
  const takeText = async (text: Buffer): Promise<void> => {
    // Later than this very call, after which the next text begins to be unpacked.
    await Promise.resolve()
    requireBounds(text.length, packed)
    await sink.onText(text)
  }
  let taking: Promise<void> = Promise.resolve()
  const consume = new Writable({
    highWaterMark: chunkBytes,
    write: (text: Buffer, _encoding, done) => {
      taking = takeText(text)
      callbackify(() => taking)(done)
    },
  })
  const input = createReadStream(file.path, { highWaterMark: chunkBytes })
  try {
    await (unpack === null ? pipeline(input, measure, consume) : pipeline(input, measure, unpack, consume))
  } catch (cause) {
    // What is unpacked ahead may be at fault while a text before it is still being taken.
    await taking.catch(() => undefined)
    throw damaged(file, cause)
  }
  if (unpack !== null) await requireNothingAfter(file, unpack.bytesWritten)
}

function damaged(file: PackedFile, cause: unknown): unknown {
  const isOfUnpacking = /^(Z_|ZSTD_)/.test(codeOf(cause) ?? '')
  if (!isOfUnpacking) return cause
  const message = `${file.name} is damaged or cut off (${messageOf(cause)}): fetch it again`
  return Object.assign(new TableFailure(message), { cause })
}

/** Node stops at the first byte that starts no member; padding by zeros may follow, anything else would be lost. */
async function requireNothingAfter(file: PackedFile, end: number): Promise<void> {
  if (end >= file.bytes) return
  for await (const chunk of createReadStream(file.path, { start: end, highWaterMark: chunkBytes })) {
    if ((chunk as Buffer).some((byte) => byte !== 0)) {
      throw new TableFailure(`${file.name} holds more after the end of its packed data: pack it anew`)
    }
  }
}
