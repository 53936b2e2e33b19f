import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

const readBytes = 1024 * 1024

/** SHA-256 of a file's bytes, as 64 hexadecimal digits. */
export async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: readBytes }), hash)
  return hash.digest('hex')
}
