import { TableFailure } from '../base/rejects.ts'

/** A text in a source: the file itself, or a file of a zip. */
export interface Member {
  readonly name: string
  /** Its path in a zip; null for the file itself. */
  readonly inner: string | null
  /**
   * Passes the text to `sink` in chunks, then verifies that it is complete.
   * @throws TableFailure if it is damaged, or decompresses to more than allowed
   */
  readonly read: (sink: Sink) => Promise<void>
}

export interface Sink {
  /** Called with each chunk of the file as stored. */
  readonly onPacked: (chunk: Buffer) => void
  readonly onText: (chunk: Buffer) => Promise<void>
}

export interface PackedFile {
  readonly path: string
  /** Name for messages. */
  readonly name: string
  readonly bytes: number
  /** True if nothing marks its end. */
  readonly isUnmeasured?: boolean
}

/** A file of a table's source, with values of all its rows. */
export interface PlacedFile extends PackedFile {
  /** Its path under SOURCES or of its address, whose name may contain values of fields. */
  readonly place: string
  /** Values of all its rows by field, as the source would write them. */
  readonly constants: ReadonlyMap<string, string>
}

export interface UnpackLimits {
  /** Maximum number of bytes that a file may decompress to. */
  readonly unpackedBytesMax: number
}

/** CSV compresses to a hundredth at best; a higher ratio is made to fill the disk. */
const ratioMax = 500
const freely = 64 * 1024 * 1024

/** @throws TableFailure if a text becomes too large, absolutely or relative to its compressed size */
export function unpackBounds(
  file: PackedFile,
  { unpackedBytesMax }: UnpackLimits,
): (text: number, packed: number) => void {
  let unpacked = 0
  return (text, packed) => {
    unpacked += text
    if (unpacked > freely && unpacked > packed * ratioMax) {
      throw new TableFailure(`${file.name} unpacks to more than ${ratioMax} times its size: refused`)
    }
    if (unpacked > unpackedBytesMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${unpackedBytesMax / 1e9} GB: if that is intended, raise UNPACKED_GB`,
      )
    }
  }
}
