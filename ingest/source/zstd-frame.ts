import { open, type FileHandle } from 'node:fs/promises'
import { TableFailure } from '../base/rejects.ts'
import type { PackedFile } from './member.ts'

const magicBytes = 4
const blockHeaderBytes = 3
const checksumBytes = 4
const runLength = 1
const contentSizeBytes = [0, 2, 4, 8] as const
const dictionaryBytes = [0, 1, 2, 4] as const

/**
 * Checks the blocks of a zstd file (RFC 8878, 3.1.1), since Node 22 accepts a truncated one. Without a
 * checksum, no version of Node detects a flipped bit.
 * @throws TableFailure unless the file is one complete frame with a checksum
 */
export async function requireWholeFrame({ path, name, bytes }: PackedFile): Promise<void> {
  const cutOff = new TableFailure(`${name} is damaged or cut off: fetch it again`)
  const handle = await open(path)
  try {
    const [descriptor = 0] = await read(handle, magicBytes, 1)
    const isSingleSegment = (descriptor & 0b10_0000) !== 0
    if ((descriptor & 0b100) === 0) {
      throw new TableFailure(
        `${name} has no checksum, so damage could not be detected: compress it with zstd --check`,
      )
    }
    const sizeFieldBytes = contentSizeBytes[(descriptor >> 6) as 0 | 1 | 2 | 3] || (isSingleSegment ? 1 : 0)
    let offset =
      magicBytes +
      1 +
      (isSingleSegment ? 0 : 1) +
      dictionaryBytes[(descriptor & 0b11) as 0 | 1 | 2 | 3] +
      sizeFieldBytes
    for (let isLast = false; !isLast;) {
      const [low, middle, high] = await read(handle, offset, blockHeaderBytes)
      if (low === undefined || middle === undefined || high === undefined) throw cutOff
      const header = low | (middle << 8) | (high << 16)
      isLast = (header & 1) === 1
      offset += blockHeaderBytes + (((header >> 1) & 0b11) === runLength ? 1 : header >> 3)
    }
    offset += checksumBytes
    if (offset > bytes) throw cutOff
    if (offset < bytes)
      throw new TableFailure(`${name} has data after its first zstd frame: compress it again as one`)
  } finally {
    await handle.close()
  }
}

async function read(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await handle.read(buffer, 0, length, offset)
  return buffer.subarray(0, bytesRead)
}
