import { readFile } from 'node:fs/promises'
import type { Table } from '../../core/catalog/catalog.ts'
import { codeOf, messageOf } from '../../core/errors.ts'
import { setAsideAt } from '../../core/warehouse/damaged.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { filesOf, readManifest, requireFiles } from '../../core/warehouse/manifest.ts'
import { manifestOf, snapshotsOnDisk } from '../../core/warehouse/on-disk.ts'
import { readWithdrawn } from '../../core/warehouse/withdrawn.ts'
import { viewsSumLine } from '../publish/views.ts'

/** What one snapshot, or what points to it, turned out to be. */
export interface Verified {
  readonly table: Table
  /** Path below the folder of the table. */
  readonly what: string
  /** Of the files that were read. */
  readonly bytes: number
  /** Null where all is as it was written. */
  readonly fault: string | null
}

/** Reads every file of every snapshot of the tables again, and compares it with what was written. */
export async function* verify(warehouse: string, tables: readonly Table[]): AsyncGenerator<Verified> {
  for (const table of tables) {
    const ids = await snapshotsOnDisk(warehouse, table)
    const current = await readManifest(layout.pointer(warehouse, table)).catch(() => null)
    const pointer = await faultOf(async () => {
      const manifest = await readManifest(layout.pointer(warehouse, table))
      if (manifest === null && ids.length > 0)
        throw new Error('current.json is gone, though there are snapshots')
      if (manifest !== null && !ids.includes(manifest.snapshot)) {
        throw new Error(`current.json points to ${manifest.snapshot}, which is not there`)
      }
      await readWithdrawn(warehouse, table)
    })
    if (ids.length === 0 && pointer === null) continue
    yield { table, what: 'current.json', bytes: 0, fault: pointer }
    for (const id of ids) {
      // Its damage is known, and mended by the snapshot that took its place.
      if (id !== current?.snapshot && (await setAsideAt(warehouse, table, id)) !== null) continue
      let bytes = 0
      const fault = await faultOf(async () => {
        const manifest = await manifestOf(warehouse, table, id)
        if (manifest === null)
          throw new Error('it has no manifest: remove its folder, or publish the table anew')
        bytes = filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0)
        await requireFiles(layout.snapshot(warehouse, table, id), manifest)
      })
      // One that was over its time may have been removed meanwhile.
      const isGone = fault !== null && !(await snapshotsOnDisk(warehouse, table)).includes(id)
      if (!isGone) yield { table, what: id, bytes, fault }
    }
  }
}

/** Why the views are not what the last job made; null where they are, or where there are none. */
export async function faultOfViews(warehouse: string): Promise<string | null> {
  return faultOf(async () => {
    // A job may put others in their place between two looks.
    if (!(await areViewsSound(warehouse)) && !(await areViewsSound(warehouse)))
      throw new Error('it is not as it was written: `make ingest` makes it anew')
  })
}

async function areViewsSound(warehouse: string): Promise<boolean> {
  const sums = await readFile(layout.viewsSum(warehouse), 'utf8').catch(absent)
  const found = await hashOf(layout.views(warehouse)).catch(absent)
  if (sums === '') return found === ''
  // There are sums of the new and the old one where a job was killed while they changed places.
  const hashes = sums.split(viewsSumLine(warehouse, '')).slice(0, -1)
  return (
    hashes.includes(found) &&
    hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)) &&
    sums === hashes.map((hash) => viewsSumLine(warehouse, hash)).join('')
  )
}

function absent(error: unknown): string {
  if (codeOf(error) === 'ENOENT') return ''
  throw error
}

async function faultOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    return messageOf(error)
  }
}
