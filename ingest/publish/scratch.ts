import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { LockHeld, holdLock } from '../../core/duckdb/file-lock.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { draftEnding } from './durable.ts'

/** This process among all that ever had its number; in containers the numbers come again and again. */
const own = `${process.pid}.${Math.round(performance.timeOrigin)}-`
const lockName = 'lock'

/**
 * Runs work in a scratch folder of its own on the warehouse's file system, removed whatever happens. A lock in it tells
 * other jobs, in other containers too, that it is in use.
 */
export async function inScratch<T>(warehouse: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(layout.scratch(warehouse), { recursive: true })
  const home = await mkdtemp(path.join(layout.scratch(warehouse), own))
  const release = await holdLock(path.join(home, lockName))
  const folder = path.join(home, 'work')
  try {
    await mkdir(folder)
    return await work(folder)
  } finally {
    release()
    await rm(home, { recursive: true, force: true })
  }
}

/** Removes the scratch folders that killed jobs left behind. */
export async function sweepScratch(warehouse: string): Promise<void> {
  for (const name of await namesIn(layout.scratch(warehouse))) {
    // A process does not exclude itself by a lock.
    if (name.startsWith(own)) continue
    const home = path.join(layout.scratch(warehouse), name)
    const hasLock = (await namesIn(home)).includes(lockName)
    // One that was killed before it had its lock; its number is the next best sign of life.
    if (!hasLock && isAlive(Number.parseInt(name, 10))) continue
    try {
      if (hasLock) (await holdLock(path.join(home, lockName)))()
      await rm(home, { recursive: true, force: true })
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error
    }
  }
}

/** Removes the drafts of files that killed jobs left in a folder. Only under the lock of what the folder holds. */
export async function sweepDrafts(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (name.endsWith(draftEnding) || name.endsWith(`${draftEnding}.wal`)) {
      await rm(path.join(folder, name), { force: true })
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

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
