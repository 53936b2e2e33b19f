import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { acquireLock, removeAbandoned } from '../../core/duckdb/file-lock.ts'
import { codeOf, LockHeld } from '../../core/errors.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'

const lockName = 'lock'
/** Older unlocked folders of another host are abandoned: jobs lock new folders within milliseconds. */
const lockWithinMs = 60_000
/** Containers that share a warehouse may have equal process ids, but different host names. */
const host = createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8)

/**
 * Runs work in a new folder beside the warehouse, which is always removed. A lock shows other jobs that it is
 * in use.
 */
export async function inScratch<T>(
  { scratchFolder }: Pick<Store, 'scratchFolder'>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(scratchFolder, { recursive: true })
  const home = await mkdtemp(path.join(scratchFolder, `${process.pid}-${host}-`))
  const release = await acquireLock(path.join(home, lockName))
  const folder = path.join(home, 'work')
  try {
    await mkdir(folder)
    return await work(folder)
  } finally {
    try {
      // Removes the folder before its lock is released, so that no other job does.
      await rm(home, { recursive: true, force: true })
    } finally {
      await release()
    }
  }
}

export async function sweepScratch({ scratchFolder }: Store): Promise<void> {
  await mkdir(scratchFolder, { recursive: true })
  for (const name of await namesIn(scratchFolder)) {
    const home = path.join(scratchFolder, name)
    const hasLock = (await namesIn(home)).includes(lockName)
    // The job has not locked the folder yet, or was killed before it could.
    if (!hasLock && (await mayBeginIn(home))) continue
    try {
      await (hasLock ? removeAbandoned(home, lockName) : rm(home, { recursive: true, force: true }))
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return []
    throw error
  }
}

async function mayBeginIn(folder: string): Promise<boolean> {
  const [pid, itsHost] = path.basename(folder).split('-')
  if (itsHost === host) return isAlive(Number(pid))
  const stats = await stat(folder).catch(() => null)
  return stats === null || Date.now() - stats.mtimeMs < lockWithinMs
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
