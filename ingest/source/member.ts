import { TableFailure } from '../base/rejects.ts'

/** A text in a source: the file itself, or one in a zip. */
export interface Member {
  readonly name: string
  /** Path in a zip; null for the file itself. */
  readonly inner: string | null
  readonly bytes: number
  /**
   * Passes the text to `sink`, then verifies that it is complete.
   * @throws TableFailure if it is damaged, or decompresses to more than allowed
   */
  readonly read: (sink: Sink) => Promise<void>
}

export interface Sink {
  /** Receives chunks before decompression; never called for a zip. */
  readonly onPacked: (chunk: Buffer) => void
  /** @param fraction share of the member up to this chunk, 0 to 1 */
  readonly onText: (chunk: Buffer, fraction: number) => Promise<void>
}

export interface PackedFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  /** True if the server marked no end, so that truncation would not be noticed. */
  readonly isUnmeasured?: boolean
}

export interface PlacedFile extends PackedFile {
  /** Path under SOURCES or in an address, from which `source.from_name` reads values. */
  readonly place: string
  readonly constants: ReadonlyMap<string, string>
}

export interface UnpackLimits {
  readonly unpackedBytesMax: number
}

/** CSV shrinks to a hundredth at best; beyond this ratio, a file is probably made to fill the disk. */
const ratioMax = 500
const ratioCheckBytesMin = 64 * 1024 * 1024

/**
 * Returns a function to call for each chunk of text, with all compressed bytes so far.
 * @throws TableFailure if the text is too large
 */
export function unpackCheck(
  file: PackedFile,
  { unpackedBytesMax }: UnpackLimits,
): (textBytes: number, packedSoFar: number) => void {
  let unpackedSoFar = 0
  return (textBytes, packedSoFar) => {
    unpackedSoFar += textBytes
    if (unpackedSoFar > ratioCheckBytesMin && unpackedSoFar > packedSoFar * ratioMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${ratioMax} times its size, perhaps a zip bomb: if that is intended, unpack it yourself`,
      )
    }
    if (unpackedSoFar > unpackedBytesMax) {
      throw new TableFailure(
        `${file.name} unpacks to more than ${unpackedBytesMax / 1e9} GB: if that is intended, raise UNPACKED_GB`,
      )
    }
  }
}
