import { TableFailure } from '../base/rejects.ts'

/** A text in a source: the file itself, or a file of a zip. */
export interface Member {
  readonly name: string
  /** Its path in a zip; null for the file itself. */
  readonly inner: string | null
  /** Number of bytes in the file, compressed if it is. */
  readonly bytes: number
  /**
   * Passes the text to `sink` in chunks, then verifies that it is complete.
   * @throws TableFailure if it is damaged, or decompresses to more than allowed
   */
  readonly read: (sink: Sink) => Promise<void>
}

export interface Sink {
  /** Receives each chunk as stored, before decompression; never called for a zip. */
  readonly onPacked: (chunk: Buffer) => void
  /** @param fraction share of the member that has been passed on with this chunk, 0 to 1 */
  readonly onText: (chunk: Buffer, fraction: number) => Promise<void>
}

export interface PackedFile {
  readonly path: string
  /** Name for messages. */
  readonly name: string
  readonly bytes: number
  /**
   * True if the server marked no end (neither a length nor chunks), so that a truncated file would not be
   * noticed.
   */
  readonly isUnmeasured?: boolean
}

/** A file of a table's source, with values that all of its rows share. */
export interface PlacedFile extends PackedFile {
  /** Path of the file, under SOURCES or in its address; `source.from_name` reads values of fields from it. */
  readonly place: string
  readonly constants: ReadonlyMap<string, string>
}

export interface UnpackLimits {
  /** Maximum number of bytes that a file may decompress to. */
  readonly unpackedBytesMax: number
}

/** CSV shrinks to a hundredth at best. A file beyond this ratio is probably made to fill the disk. */
const ratioMax = 500
const freely = 64 * 1024 * 1024

/**
 * Returns a check of the sizes so far, for each chunk.
 * @throws TableFailure if a text becomes too large, absolutely or relative to its compressed size
 */
export function unpackBounds(
  file: PackedFile,
  { unpackedBytesMax }: UnpackLimits,
): (text: number, packed: number) => void {
  let unpacked = 0
  return (text, packed) => {
    unpacked += text
    if (unpacked > freely && unpacked > packed * ratioMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${ratioMax} times its size, perhaps a zip bomb: if that is intended, unpack it yourself`,
      )
    }
    if (unpacked > unpackedBytesMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${unpackedBytesMax / 1e9} GB: if that is intended, raise UNPACKED_GB`,
      )
    }
  }
}
