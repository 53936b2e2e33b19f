import zlib from 'node:zlib'
import { TableFailure } from '../base/rejects.ts'
import type { Member, PackedFile, UnpackLimits } from './member.ts'
import { unpacked, type Unpack } from './unpack.ts'
import { zipMembers } from './zip.ts'
import { requireWholeFrame } from './zstd-frame.ts'

/** How a source may be packed. A new packing is a row here. */
export interface PackingRow {
  /** Of a file's name, in lower case. */
  readonly ending: string
  /** Its first bytes; null where they tell nothing. */
  readonly start: readonly number[] | null
  /** What it is called, as in "is a gzip file". */
  readonly what: string
  /** What to do about one whose name says something else. */
  readonly remedy: string
  /** Whether the file is read from its first byte to its last, so that it can be hashed on the way. */
  readonly isReadThrough: boolean
  /**
   * The texts in it.
   *
   * @param pattern which of several, with * for any part of a name; null for the only one
   * @throws TableFailure where it is not whole
   */
  readonly members: (file: PackedFile, pattern: string | null, limits: UnpackLimits) => Promise<Member[]>
}

export const packings: readonly PackingRow[] = [
  {
    ending: '.gz',
    start: [0x1f, 0x8b],
    what: 'a gzip file',
    remedy: 'let its name end in .gz',
    isReadThrough: true,
    members: async (file, _pattern, limits) => [unpacked(file, zlib.createGunzip, limits)],
  },
  {
    ending: '.zst',
    start: [0x28, 0xb5, 0x2f, 0xfd],
    what: 'a zstd file',
    remedy: 'let its name end in .zst',
    isReadThrough: true,
    members: async (file, _pattern, limits) => {
      const unpack = zstdOf(file)
      await requireWholeFrame(file)
      return [unpacked(file, unpack, limits)]
    },
  },
  {
    ending: '.zip',
    start: [0x50, 0x4b, 0x03, 0x04],
    what: 'a zip or xlsx file',
    remedy: 'let its name end in .zip, or export the sheet as CSV',
    isReadThrough: false,
    members: zipMembers,
  },
]

/** Node has had it since 22.15. */
function zstdOf({ name }: PackedFile): Unpack {
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: Unpack }
  if (createZstdDecompress !== undefined) return createZstdDecompress
  throw new TableFailure(
    `${name} needs Node 22.15 or newer, and this is ${process.version}: pack it with gzip instead`,
  )
}

/** What the end of a file's name says of it; null for plain text. */
export function packingOf(name: string): PackingRow | null {
  return packings.find(({ ending }) => name.toLowerCase().endsWith(ending)) ?? null
}

/** The ends of the names of sources, the plain one first. */
export const sourceEndings: readonly string[] = ['.csv', ...packings.map(({ ending }) => `.csv${ending}`)]
