import { link, mkdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { codeOf, LockHeld, messageOf } from '../errors.ts'

/**
 * Holds a lock between processes, by the lock that DuckDB keeps on a file that it has open: the system lets go of it
 * with the process, however that ends.
 *
 * @param file is made when missing, and stays
 * @returns lets go
 * @throws LockHeld
 */
export async function holdLock(file: string): Promise<() => void> {
  await mkdir(path.dirname(file), { recursive: true })
  await makeLockFile(file)
  try {
    const instance = await DuckDBInstance.create(file, lockSettings)
    return () => instance.closeSync()
  } catch (error) {
    const found = /lock is held in .*?\(PID (\d+)\)/.exec(messageOf(error))
    if (found !== null || messageOf(error).includes('Could not set lock')) {
      throw new LockHeld(found === null ? null : Number(found[1]))
    }
    throw error
  }
}

const lockSettings = { threads: '1', memory_limit: '16MB' }

/** Whole or not at all, since a file that was cut short by a kill could not be locked ever again. */
async function makeLockFile(file: string): Promise<void> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const draft = `${file}.${process.pid}.draft`
  await rm(draft, { force: true })
  const instance = await DuckDBInstance.create(draft, lockSettings)
  instance.closeSync()
  try {
    await link(draft, file)
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
}
