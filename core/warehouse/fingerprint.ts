import { stat as statWith } from 'node:fs'
import { promisify } from 'node:util'
import { codeOf } from '../errors.ts'
import type { FileState } from './stores/store.ts'

// Of thousands of tables it is asked at each start and each second; that of `node:fs/promises` takes twice the time.
const stat = promisify(statWith)

/**
 * What a file of this machine is like; null where it is none. A rename gives it another inode; a change of its bytes, however its times are set
 * after, another time of change.
 */
export async function fingerprint(file: string): Promise<FileState | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  if (found?.isFile() !== true) return null
  const { ino, mtimeMs, ctimeMs, size } = found
  return { bytes: size, version: `${ino} ${mtimeMs} ${ctimeMs} ${size}` }
}

/** The version alone; one of its own where there is no such file, or where it cannot be looked at. */
export async function versionOf(file: string): Promise<string> {
  return fingerprint(file).then(
    (found) => found?.version ?? 'none',
    () => 'none',
  )
}
