import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { draftEnding } from './durable.ts'

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

/** Removes what killed jobs left behind: scratch folders, which are named by their process, and drafts of files. */
export async function sweep(warehouse: string): Promise<void> {
  for (const name of await namesIn(layout.scratch(warehouse))) {
    if (!isAlive(Number.parseInt(name, 10))) {
      await rm(path.join(layout.scratch(warehouse), name), { recursive: true, force: true })
    }
  }
  for (const dataset of await namesIn(warehouse)) {
    if (dataset.startsWith('.')) continue
    await sweepDrafts(path.join(warehouse, dataset))
    for (const table of await namesIn(path.join(warehouse, dataset))) {
      await sweepDrafts(path.join(warehouse, dataset, table))
    }
  }
  await sweepDrafts(warehouse)
}

async function sweepDrafts(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    const [, pid] = /\.(\d+)\.draft$/.exec(name) ?? []
    if (name.endsWith(draftEnding) && pid !== undefined && !isAlive(Number(pid)))
      await rm(path.join(folder, name))
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
  if (!Number.isInteger(pid)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
