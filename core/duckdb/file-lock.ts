import { randomUUID } from 'node:crypto'
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
  const instance = (await makeHeld(file)) ?? (await hold(file))
  return () => instance.closeSync()
}

/**
 * Removes a folder that was left behind: it is held meanwhile, so that two who sweep do not meet in it.
 *
 * @param file the lock in it
 * @throws LockHeld where it is somebody's
 */
export async function removeLeft(folder: string, file: string): Promise<void> {
  const letGo = await holdLock(path.join(folder, file))
  try {
    await rm(folder, { recursive: true, force: true })
  } finally {
    letGo()
  }
}

const lockSettings = { threads: '1', memory_limit: '16MB' }

/**
 * Null where the file is there. It comes to be whole, since one that was cut short by a kill could not be locked ever
 * again, and held, since whoever sweeps takes one that nobody holds for one that was left behind.
 */
async function makeHeld(file: string): Promise<DuckDBInstance | null> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  if (isThere) return null
  const draft = `${file}.${randomUUID()}.draft`
  let instance: DuckDBInstance | null = null
  try {
    instance = await DuckDBInstance.create(draft, lockSettings)
    await link(draft, file)
    return instance
  } catch (error) {
    instance?.closeSync()
    // Another process was faster.
    if (codeOf(error) === 'EEXIST') return null
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function hold(file: string): Promise<DuckDBInstance> {
  try {
    return await DuckDBInstance.create(file, lockSettings)
  } catch (error) {
    const found = /lock is held in .*?\(PID (\d+)\)/.exec(messageOf(error))
    if (found !== null || messageOf(error).includes('Could not set lock')) {
      throw new LockHeld(found === null ? null : Number(found[1]))
    }
    throw error
  }
}
