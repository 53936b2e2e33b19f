import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

const readBytes = 1024 * 1024

/** SHA-256 of a file's bytes, as 64 hexadecimal digits. */
export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: readBytes })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Bytes and sums of a file, in one reading: SHA-256 to verify by, SHA-512 for those who download it. */
export async function sumsOf(file: string): Promise<{ bytes: number; sha256: string; sha512: string }> {
  const [short, long] = [createHash('sha256'), createHash('sha512')]
  let bytes = 0
  for await (const chunk of createReadStream(file, { highWaterMark: readBytes })) {
    short.update(chunk as Buffer)
    long.update(chunk as Buffer)
    bytes += (chunk as Buffer).length
  }
  return { bytes, sha256: short.digest('hex'), sha512: long.digest('hex') }
}
