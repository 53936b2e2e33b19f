import { access, mkdtemp, readdir } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { acquireLock, removeAbandoned } from '../../../core/duckdb/file-lock.ts'

const lockFile = 'lock'
const isOurs = /^acervo-[A-Za-z0-9]{6}$/

/**
 * Opens a folder for data beyond memory, deleted at exit. Removes folders of killed processes, whose locks
 * are free.
 */
export async function openSpill(): Promise<string> {
  const home = os.tmpdir()
  await sweep(home)
  const folder = await mkdtemp(path.join(home, 'acervo-'))
  // Locked until the process ends, so that no other process removes the folder.
  await acquireLock(path.join(folder, lockFile))
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

async function sweep(home: string): Promise<void> {
  for (const entry of (await readdir(home)).filter((name) => isOurs.test(name))) {
    const folder = path.join(home, entry)
    try {
      await access(path.join(folder, lockFile))
      await removeAbandoned(folder, lockFile)
    } catch {
      // Another process has locked or just created it, or we may not touch it.
    }
  }
}
