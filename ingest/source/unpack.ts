import { createReadStream } from 'node:fs'
import { callbackify } from 'node:util'
import { Transform, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { codeOf, messageOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'
import { unpackCheck, type Member, type PackedFile, type Sink, type UnpackLimits } from './member.ts'

const chunkBytes = 1024 * 1024

/** @param unpack creates the decompressing stream; null for an uncompressed file */
export function unpacked(file: PackedFile, unpack: Unpack | null, limits: UnpackLimits): Member {
  return {
    name: file.name,
    inner: null,
    bytes: file.bytes,
    read: (sink) => readThrough(file, unpack?.(unpackOptions) ?? null, sink, limits),
  }
}

/** Options that let another thread decompress ahead while earlier bytes are scanned. */
const unpackOptions = { chunkSize: chunkBytes, readableHighWaterMark: 4 * chunkBytes }

export type Unpack = (options: typeof unpackOptions) => Transform & { bytesWritten: number }

/**
 * Streams a file, decompressed if `unpack` is given, to the sink. Refuses text beyond the limits, damage, and
 * trailing data.
 */
async function readThrough(
  file: PackedFile,
  unpack: ReturnType<Unpack> | null,
  sink: Sink,
  limits: UnpackLimits,
): Promise<void> {
  let [packedBytes, textBytes] = [0, 0]
  const requireBounds = unpackCheck(file, limits)
  const measure = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => {
      packedBytes += chunk.length
      sink.onPacked(chunk)
      done(null, chunk)
    },
  })
  const deliver = async (text: Buffer): Promise<void> => {
    // The caller continues before the scan, so that another thread decompresses the next chunk meanwhile.
    await Promise.resolve()
    requireBounds(text.length, packedBytes)
    textBytes += text.length
    // `packedBytes` is ahead by the buffers, which can hold a small file completely.
    await sink.onText(text, (unpack?.bytesWritten ?? textBytes) / file.bytes)
  }
  let lastDelivery: Promise<void> = Promise.resolve()
  const consume = new Writable({
    highWaterMark: chunkBytes,
    write: (text: Buffer, _encoding, done) => {
      lastDelivery = deliver(text)
      callbackify(() => lastDelivery)(done)
    },
  })
  const input = createReadStream(file.path, { highWaterMark: chunkBytes })
  try {
    await (unpack === null ? pipeline(input, measure, consume) : pipeline(input, measure, unpack, consume))
  } catch (cause) {
    // Decompression may fail while an earlier chunk is still being scanned.
    await lastDelivery.catch(() => undefined)
    throw isUnpackError(cause) ? damaged(file, cause) : cause
  }
  if (unpack !== null) await requireNothingAfter(file, unpack.bytesWritten)
}

/** Errors of decompression have a code, but no system call. */
function isUnpackError(cause: unknown): boolean {
  const code = codeOf(cause)
  return (
    code !== undefined && !code.startsWith('ERR_STREAM') && !Object.hasOwn(Object(cause) as object, 'syscall')
  )
}

function damaged(file: PackedFile, cause: unknown): TableFailure {
  const message = `${file.name} is damaged or cut off (${messageOf(cause)}): fetch it again`
  return Object.assign(new TableFailure(message), { cause })
}

/** Node ignores bytes after the compressed data, which would be lost silently; zeros are allowed. */
async function requireNothingAfter(file: PackedFile, end: number): Promise<void> {
  if (end >= file.bytes) return
  for await (const chunk of createReadStream(file.path, { start: end, highWaterMark: chunkBytes })) {
    if ((chunk as Buffer).some((byte) => byte !== 0)) {
      throw new TableFailure(`${file.name} has data after the end of its compressed data: compress it again`)
    }
  }
}
