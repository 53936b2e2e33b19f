import { isUtf8 } from 'node:buffer'

/** Number of leading bytes that form complete characters. */
export function completeLength(chunk: Buffer): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back] as number
    if (byte < 0x80) return chunk.length
    if (byte >= 0xc0) return back < characterLength(byte) ? chunk.length - back : chunk.length
  }
  return chunk.length
}

/** Index, or -1. */
export function firstBadByte(chunk: Buffer): number {
  if (isUtf8(chunk)) return -1
  let offset = 0
  while (offset < chunk.length) {
    const length = characterLength(chunk[offset] as number)
    if (!isUtf8(chunk.subarray(offset, offset + length))) return offset
    offset += length
  }
  return -1
}

export function countBeyondAscii(bytes: Buffer): { characters: number; badBytes: number } {
  let [characters, badBytes] = [0, 0]
  for (let offset = 0; offset < bytes.length;) {
    const byte = bytes[offset] as number
    if (byte < 0x80) {
      offset += 1
      continue
    }
    const length = characterLength(byte)
    let isCharacter = length > 1
    for (let next = 1; next < length; next += 1) isCharacter &&= ((bytes[offset + next] ?? 0) & 0xc0) === 0x80
    if (isCharacter) characters += 1
    else badBytes += 1
    offset += isCharacter ? length : 1
  }
  return { characters, badBytes }
}

function characterLength(firstByte: number): number {
  return firstByte >= 0xf0 ? 4 : firstByte >= 0xe0 ? 3 : firstByte >= 0xc0 ? 2 : 1
}
