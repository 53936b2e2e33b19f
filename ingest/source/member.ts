import { TableFailure } from '../base/rejects.ts'

/** A text in a source: the file itself, or one of the files of a zip. */
export interface Member {
  readonly name: string
  /** Its path in the file, where that is a zip. */
  readonly inner: string | null
  /**
   * Hands the text to `sink` in chunks, then checks that it is whole.
   *
   * @throws TableFailure where it is damaged, or unpacks to more than it may
   */
  readonly read: (sink: Sink) => Promise<void>
}

export interface Sink {
  /** Of the file as it lies there. */
  readonly onPacked: (chunk: Buffer) => void
  readonly onText: (chunk: Buffer) => Promise<void>
}

export interface PackedFile {
  readonly path: string
  /** How it is named to people. */
  readonly name: string
  readonly bytes: number
  /** Whether nothing tells that it came to its end. */
  readonly isUnmeasured?: boolean
}

/** A file of a table's source, and what is known of all its rows. */
export interface PlacedFile extends PackedFile {
  /** Its path under SOURCES, or that of its address, by which its name may tell fields. */
  readonly place: string
  /** Field -> the value of all its rows, as the source would write it. */
  readonly constants: ReadonlyMap<string, string>
}

export interface UnpackLimits {
  /** Text that a file may unpack to, in bytes. */
  readonly unpackedBytesMax: number
}

/** CSV packs to a hundredth at the very best; beyond this a file is made to fill the disk. */
const ratioMax = 500
const freely = 64 * 1024 * 1024

/** @throws TableFailure where a text grows past what it may, in itself or to its packed size */
export function boundsOf(
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
        `${file.name} unpacks to more than ${unpackedBytesMax / 1e9} GB: set UNPACKED_GB to more if it is meant`,
      )
    }
  }
}
