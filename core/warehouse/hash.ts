import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const readBytes = 1024 * 1024

/** SHA-256 of bytes that come piece by piece, as 64 hexadecimal digits. */
export async function hashBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}

/** SHA-256 of a file of this machine. */
export async function hashOf(file: string): Promise<string> {
  return hashBytes(bytesOf(file))
}

/** Bytes and sums of a file of this machine, in one reading: SHA-256 to verify by, SHA-512 for those who download it. */
export async function sumsOf(file: string): Promise<{ bytes: number; sha256: string; sha512: string }> {
  const [short, long] = [createHash('sha256'), createHash('sha512')]
  let bytes = 0
  for await (const chunk of bytesOf(file)) {
    short.update(chunk)
    long.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: short.digest('hex'), sha512: long.digest('hex') }
}

function bytesOf(file: string): AsyncIterable<Uint8Array> {
  return createReadStream(file, { highWaterMark: readBytes }) as AsyncIterable<Uint8Array>
}
