import zlib from 'node:zlib'
import { TableFailure } from '../base/rejects.ts'
import type { Member, PackedFile, UnpackLimits } from './member.ts'
import { unpacked, type Unpack } from './unpack.ts'
import { zipMembers } from './zip.ts'
import { requireWholeFrame } from './zstd-frame.ts'

/** A further compression needs one row here. */
export interface PackingRow {
  readonly ending: string
  /** Magic number; null if the format has none. */
  readonly start: readonly number[] | null
  readonly description: string
  /** Advice if the extension says otherwise. */
  readonly remedy: string
  /** True if the file is read from start to end, and can be hashed meanwhile. */
  readonly isReadThrough: boolean
  /**
   * @param pattern file name in a zip, in which `*` matches any characters; null if there is only one text
   * @throws TableFailure if the file is incomplete
   */
  readonly members: (file: PackedFile, pattern: string | null, limits: UnpackLimits) => Promise<Member[]>
}

export const packings: readonly PackingRow[] = [
  {
    ending: '.gz',
    start: [0x1f, 0x8b],
    description: 'a gzip file',
    remedy: 'rename it to end in .gz',
    isReadThrough: true,
    members: async (file, _pattern, limits) => [unpacked(file, zlib.createGunzip, limits)],
  },
  {
    ending: '.zst',
    start: [0x28, 0xb5, 0x2f, 0xfd],
    description: 'a zstd file',
    remedy: 'rename it to end in .zst',
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
    description: 'a zip or xlsx file',
    remedy: 'export the sheet as CSV, or rename an archive to end in .zip',
    isReadThrough: false,
    members: zipMembers,
  },
]

function zstdOf({ name }: PackedFile): Unpack {
  const { createZstdDecompress } = zlib as unknown as { createZstdDecompress?: Unpack }
  if (createZstdDecompress !== undefined) return createZstdDecompress
  throw new TableFailure(
    `${name} needs Node 22.15 or newer, and this is ${process.version}: compress it with gzip instead`,
  )
}

export function packingOf(name: string): PackingRow | null {
  return packings.find(({ ending }) => name.toLowerCase().endsWith(ending)) ?? null
}

export const sourceEndings: readonly string[] = ['.csv', ...packings.map(({ ending }) => `.csv${ending}`)]
