import { readSync } from 'node:fs'

/** Returns null if the file ends before the range. */
export function readExactly(descriptor: number, start: number, length: number): Buffer | null {
  const bytes = Buffer.allocUnsafe(length)
  for (let filled = 0; filled < length;) {
    const read = readSync(descriptor, bytes, filled, length - filled, start + filled)
    if (read === 0) return null
    filled += read
  }
  return bytes
}
