import { open } from 'node:fs/promises'
import { kindBytes, requirePacking } from './kinds.ts'
import type { Member, PackedFile, UnpackLimits } from './member.ts'
import { packingOf } from './packings.ts'
import { unpacked } from './unpack.ts'

/**
 * @param pattern file name in a zip, in which `*` matches any characters; null if there is only one text
 * @throws TableFailure if the content is not of the kind that its extension names
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
