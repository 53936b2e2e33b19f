import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../core/errors.ts'
import { layout } from '../core/warehouse/layout.ts'

/** Runs work in a scratch folder of its own on the warehouse's file system, removed whatever happens. */
export async function inScratch<T>(warehouse: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(layout.scratch(warehouse), { recursive: true })
  const folder = await mkdtemp(path.join(layout.scratch(warehouse), `${process.pid}-`))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Removes what killed jobs left behind; folders are named by the process that works in them. */
export async function sweepScratch(warehouse: string): Promise<void> {
  const names = await readdir(layout.scratch(warehouse)).catch(() => [])
  for (const name of names) {
    const owner = Number.parseInt(name, 10)
    if (!isAlive(owner))
      await rm(path.join(layout.scratch(warehouse), name), { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
