import { stat as statWith, statSync, type Stats } from 'node:fs'
import { stat as statExactly } from 'node:fs/promises'
import { promisify } from 'node:util'
import { codeOf } from '../errors.ts'
import type { FileState } from './stores/store.ts'

// A server asks it of thousands of pointers each second; that of `node:fs/promises` takes twice the time.
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
  return found === null ? null : stateOf(found)
}

/** What a file is like that has not changed within the last so many milliseconds, as exactly as the system tells; null of others. */
export async function settledVersion(file: string, settledMs: number): Promise<string | null> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await statExactly(file, { bigint: true })
  return Date.now() - Number(ctimeNs / 1_000_000n) > settledMs
    ? [dev, ino, mtimeNs, ctimeNs, size].join(' ')
    : null
}

/**
 * The same without letting others have a turn, for a fifth of the time: a start asks it of every file. The same error
 * is thrown.
 */
export function fingerprintNow(file: string): FileState | null {
  const found = statSync(file, { throwIfNoEntry: false })
  return found === undefined ? null : stateOf(found)
}

/** The version alone; one of its own where there is no such file, or where it cannot be looked at. */
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
