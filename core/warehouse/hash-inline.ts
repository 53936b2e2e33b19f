import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

const readBytes = 1024 * 1024

/** SHA-256 for verification, SHA-512 for downloads. */
export interface Sums {
  readonly bytes: number
  readonly sha256: string
  readonly sha512: string
}

export async function hashBytes(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest('hex')
}

export async function hashInline(file: string): Promise<string> {
  return hashBytes(chunksOf(file))
}

export async function sumsInline(file: string): Promise<Sums> {
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
 * Yields the chunks of a local file in reused memory: a consumer that keeps one must copy it. Reads the next
 * chunk while one is processed.
 */
export async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file)
  let reading: Promise<unknown> = Promise.resolve()
  try {
    const { size } = await handle.stat()
    // One byte more than a small file, so that the first read shows its end.
    const length = Math.min(size + 1, readBytes)
    const chunks: Buffer[] = []
    const read = (bufferIndex: number): Promise<Buffer> => {
      const chunk = (chunks[bufferIndex] ??= Buffer.allocUnsafeSlow(length))
      const promise = handle.read(chunk, 0, length).then(({ bytesRead }) => chunk.subarray(0, bytesRead))
      // A consumer that stops early does not await this read: ignore its error, but close the file only
      // afterwards.
      reading = promise.catch(() => undefined)
      return promise
    }
    let next = read(0)
    for (let [offset, bufferIndex] = [0, 1]; ; bufferIndex = 1 - bufferIndex) {
      const chunk = await next
      offset += chunk.length
      const isLast = chunk.length === 0 || (chunk.length < length && offset >= size)
      if (!isLast) next = read(bufferIndex)
      if (chunk.length > 0) yield chunk
      if (isLast) return
    }
  } finally {
    await reading
    await handle.close()
  }
}
