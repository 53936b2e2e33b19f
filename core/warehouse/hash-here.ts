import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

/** What `hash.ts` has done in threads of their own. */

const readBytes = 1024 * 1024

/** SHA-256 to verify by, SHA-512 for those who download it. */
export interface Sums {
  readonly bytes: number
  readonly sha256: string
  readonly sha512: string
}

/** SHA-256 of bytes that come piece by piece, as 64 hexadecimal digits. */
export async function hashBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}

/** SHA-256 of a file. */
export async function hashOf(file: string): Promise<string> {
  return hashBytes(chunksOf(file))
}

/** Bytes and sums of a file, in one reading. */
export async function sumsOf(file: string): Promise<Sums> {
  const [short, long] = [createHash('sha256'), createHash('sha512')]
  let bytes = 0
  for await (const chunk of chunksOf(file)) {
    short.update(chunk)
    long.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: short.digest('hex'), sha512: long.digest('hex') }
}

/**
 * The bytes of a file of this machine, each chunk in memory that is used again: who wants to keep one copies it. The next is read
 * while one is looked at.
 */
export async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file)
  let reading: Promise<unknown> = Promise.resolve()
  try {
    const { size } = await handle.stat()
    // Little more than it has, since there may be thousands of small ones; the byte more shows that it has ended.
    const length = Math.min(size + 1, readBytes)
    const chunks: Buffer[] = []
    const read = (turn: number): Promise<Buffer> => {
      const chunk = (chunks[turn] ??= Buffer.allocUnsafeSlow(length))
      const done = handle.read(chunk, 0, length).then(({ bytesRead }) => chunk.subarray(0, bytesRead))
      // Whoever leaves early does not wait for what is under way.
      reading = done.catch(() => undefined)
      return done
    }
    let next = read(0)
    for (let [at, turn] = [0, 1]; ; turn = 1 - turn) {
      const chunk = await next
      at += chunk.length
      const isLast = chunk.length === 0 || (chunk.length < length && at >= size)
      if (!isLast) next = read(turn)
      if (chunk.length > 0) yield chunk
      if (isLast) return
    }
  } finally {
    await reading
    await handle.close()
  }
}
