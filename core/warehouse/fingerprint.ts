import { stat as statWith, statSync, type Stats } from 'node:fs'
import { stat as statExactly } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf } from '../errors.ts'
import type { FileState } from './stores/store.ts'

// A server calls it for thousands of pointers each second; the one of `node:fs/promises` takes twice the
// time.
const stat = promisify(statWith)

/**
 * Returns the state of a local file; null if there is none. A rename changes its inode; a change of its bytes
 * changes its time of change, even if its times are set afterwards.
 */
export async function fingerprint(file: string): Promise<FileState | null> {
  const found = await stat(file).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  })
  return found === null ? null : stateOf(found)
}

/**
 * Returns the version of a file that has not changed for some milliseconds, as exactly as the system reports;
 * null for others.
 */
export async function settledVersion(file: string, settledMs: number): Promise<string | null> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await statExactly(file, { bigint: true })
  return Date.now() - Number(ctimeNs / 1_000_000n) > settledMs
    ? [dev, ino, mtimeNs, ctimeNs, size].join(' ')
    : null
}

/** Does the same synchronously, for a fifth of the time: a start calls it for every file. Throws the same error. */
export function fingerprintNow(file: string): FileState | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? null : stateOf(found)
}

/** Returns the version alone; a constant if the file is missing, or cannot be checked. */
export function versionOf(file: string): string {
  try {
    return fingerprintNow(file)?.version ?? 'none'
  } catch {
    return 'none'
  }
}

function stateOf(found: Stats): FileState | null {
  if (!found.isFile()) return null
  const { ino, mtimeMs, ctimeMs, size } = found
  return { bytes: size, version: `${ino} ${mtimeMs} ${ctimeMs} ${size}` }
}
