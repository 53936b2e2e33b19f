import { open } from 'node:fs/promises'
import { kindBytes, requirePacking } from './kinds.ts'
import type { Member, PackedFile, UnpackLimits } from './member.ts'
import { packingOf } from './packings.ts'
import { unpacked } from './unpack.ts'

/**
 * Returns the texts in a file.
 * @param pattern name with `*` for any part; null for a single text
 * @throws TableFailure if the file is not of the kind of its name
 */
export async function membersOf(
  file: PackedFile,
  pattern: string | null,
  limits: UnpackLimits,
): Promise<Member[]> {
  const packing = packingOf(file.name)
  requirePacking(await startOf(file.path), packing, file.name)
  return packing === null ? [unpacked(file, null, limits)] : packing.members(file, pattern, limits)
}

async function startOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    const start = Buffer.alloc(kindBytes)
    const { bytesRead } = await handle.read(start, 0, kindBytes, 0)
    return start.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
