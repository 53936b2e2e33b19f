import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

const readBytes = 1024 * 1024

/** SHA-256 of bytes that come piece by piece, as 64 hexadecimal digits. */
export async function hashBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}

/** SHA-256 of a file of this machine. */
export async function hashOf(file: string): Promise<string> {
  return hashBytes(chunksOf(file))
}

/** Bytes and sums of a file of this machine, in one reading: SHA-256 to verify by, SHA-512 for those who download it. */
export async function sumsOf(file: string): Promise<{ bytes: number; sha256: string; sha512: string }> {
  const [short, long] = [createHash('sha256'), createHash('sha512')]
  let bytes = 0
  for await (const chunk of chunksOf(file)) {
    short.update(chunk)
    long.update(chunk)
    bytes += chunk.length
  }
  return { bytes, sha256: short.digest('hex'), sha512: long.digest('hex') }
}

/** The bytes of a file of this machine, each time in the same memory: who wants to keep a chunk copies it. */
export async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    // Little more than it has, since there may be thousands of small ones; the byte more shows that it has ended.
    const chunk = Buffer.allocUnsafeSlow(Math.min(size + 1, readBytes))
    for (let at = 0; ;) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length)
      at += bytesRead
      if (bytesRead > 0) yield chunk.subarray(0, bytesRead)
      if (bytesRead === 0 || (bytesRead < chunk.length && at >= size)) return
    }
  } finally {
    await handle.close()
  }
}
