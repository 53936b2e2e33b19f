import { readSync } from 'node:fs'

/** Returns null if the file ends before the range. */
export function readExactly(descriptor: number, start: number, length: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(length)
  for (let readBytes = 0; readBytes < length;) {
    const read = readSync(descriptor, bytes, readBytes, length - readBytes, start + readBytes)
    if (read === 0) return null
    readBytes += read
  }
  return bytes
}
