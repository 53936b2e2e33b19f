import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../catalog/catalog.ts'
import { codeOf } from '../errors.ts'
import { layout, type SnapshotId } from './layout.ts'
import { requireFiles } from './manifest.ts'
import { manifestOf } from './on-disk.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/**
 * Whether a snapshot is not as it was written.
 *
 * @throws Error of the system where its files cannot be read, which may pass and says nothing of them
 */
export async function isDamaged(warehouse: string, table: TableName, id: SnapshotId): Promise<boolean> {
  try {
    const manifest = await manifestOf(warehouse, table, id)
    if (manifest === null) return true
    await requireFiles(layout.snapshot(warehouse, table, id), manifest)
    return false
  } catch (error) {
    if (codeOf(error) !== undefined) throw error
    return true
  }
}

/** When a job last found a snapshot damaged and set out to put another in its place; null where none did. */
export async function setAsideAt(warehouse: string, table: TableName, id: SnapshotId): Promise<Date | null> {
  try {
    return new Date(await readFile(path.join(layout.snapshot(warehouse, table, id), layout.setAside), 'utf8'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
