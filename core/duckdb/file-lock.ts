import { randomUUID } from 'node:crypto'
import { link, mkdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { codeOf, LockHeld, messageOf } from '../errors.ts'
import { quotedText } from '../sql.ts'

type Release = () => Promise<void>

/** Absolute paths locked by this process, since a system lock excludes only other processes. */
const heldPaths = new Set<string>()

/**
 * Acquires DuckDB's lock on an open file, which the system releases even after a crash.
 * @param file created if missing, and never removed
 * @throws LockHeld if this or another process holds the lock
 */
export async function acquireLock(file: string): Promise<Release> {
  const absolutePath = path.resolve(file)
  if (heldPaths.has(absolutePath)) throw new LockHeld(process.pid)
  heldPaths.add(absolutePath)
  try {
    await mkdir(path.dirname(absolutePath), { recursive: true })
    const detach = (await createLocked(absolutePath)) ?? (await lockExisting(absolutePath))
    return async () => {
      await detach()
      heldPaths.delete(absolutePath)
    }
  } catch (error) {
    heldPaths.delete(absolutePath)
    throw error
  }
}

/**
 * Removes the folder of a killed process. Creates nothing in it, since another process may be removing it
 * too.
 * @param file lock file in the folder
 * @throws LockHeld if the owner still runs
 */
export async function removeAbandoned(folder: string, file: string): Promise<void> {
  const place = path.resolve(folder, file)
  if (heldPaths.has(place)) throw new LockHeld(process.pid)
  let detach: Release
  try {
    // Read-only access fails while another process writes, and creates no file.
    detach = await attach(place, 'read_only')
  } catch (error) {
    if (!(await isThere(place))) return
    throw asHeld(error)
  }
  try {
    await rm(folder, { recursive: true, force: true })
  } finally {
    await detach()
  }
}

/** One database for all locks of this process: creating a database takes 20 ms, attaching a file takes 1 ms. */
let locks: Promise<DuckDBConnection> | undefined
let attached = 0

async function openLocks(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '16MB' })
  return instance.connect()
}

async function attach(file: string, mode: 'read_write' | 'read_only' = 'read_write'): Promise<Release> {
  locks ??= openLocks()
  const connection = await locks
  attached += 1
  const name = `lock${attached}`
  await connection.run(`attach ${quotedText(file)} as ${name} (${mode})`)
  return async () => {
    await connection.run(`detach ${name}`)
  }
}

/**
 * Creates a file that is locked from the start; null if the file exists. Locks a complete draft first: a
 * truncated file could never be locked.
 */
async function createLocked(file: string): Promise<Release | null> {
  if (await isThere(file)) return null
  const draft = `${file}.${randomUUID()}.draft`
  let detach: Release | null = null
  try {
    detach = await attach(draft)
    await link(draft, file)
    return detach
  } catch (error) {
    await detach?.()
    if (codeOf(error) === 'EEXIST') return null
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function lockExisting(file: string): Promise<Release> {
  try {
    return await attach(file)
  } catch (error) {
    throw asHeld(error)
  }
}

function asHeld(error: unknown): unknown {
  const match = /\(PID (\d+)\)/.exec(messageOf(error))
  if (match !== null) return new LockHeld(Number(match[1]))
  return messageOf(error).includes('Could not set lock') ? new LockHeld(null) : error
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
