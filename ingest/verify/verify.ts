import type { Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { quarantinedAt } from '../../core/warehouse/history.ts'
import { verifyChanges } from '../publish/changes.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import { manifestOf, publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { isAsSummed } from '../../core/warehouse/summed-files.ts'
import { filesInStore, verifyFiles } from '../../core/warehouse/verify-files.ts'
import { readRollbacks } from '../../core/warehouse/state-files.ts'

export interface Verified {
  readonly table: Table
  /** Path below the folder of the table. */
  readonly subject: string
  readonly bytes: number
  readonly fault: string | null
}

/** Compares every file of every snapshot with its hash, and its changes with its rows. */
export async function* verify(store: Store, tables: readonly Table[]): AsyncGenerator<Verified> {
  for (const table of tables) {
    const snapshotIds = await snapshotsIn(store, table)
    const current = await publishedOf(store, table).catch(() => null)
    const pointerFault = await faultOf(async () => {
      const manifest = await publishedOf(store, table)
      if (manifest === null && snapshotIds.length > 0)
        throw new Error('current.json is missing, although there are snapshots')
      if (manifest !== null && !snapshotIds.includes(manifest.snapshot)) {
        throw new Error(`current.json points to ${manifest.snapshot}, which is missing`)
      }
      await readRollbacks(store, table)
    })
    if (snapshotIds.length === 0 && pointerFault === null) continue
    yield { table, subject: 'current.json', bytes: 0, fault: pointerFault }
    const intact = new Map<SnapshotId, Manifest>()
    for (const id of snapshotIds) {
      // Damage of a quarantined snapshot is known, and it was replaced.
      if (id !== current?.snapshot && (await quarantinedAt(store, table, id)) !== null) continue
      let bytes = 0
      const fault = await faultOf(async () => {
        const manifest = await manifestOf(store, table, id)
        if (manifest === null)
          throw new Error('it has no manifest: remove its folder, or publish the table again')
        bytes = filesOf(manifest).reduce((sum, file) => sum + file.bytes, 0)
        await verifyFiles(filesInStore(store, layout.snapshot(table, id)), manifest)
        intact.set(id, manifest)
      })
      // An expired snapshot may have been removed meanwhile.
      const isGone = fault !== null && !(await snapshotsIn(store, table)).includes(id)
      if (!isGone) yield { table, subject: id, bytes, fault }
    }
    for (const [id, manifest] of intact) {
      const changes = manifest.changes?.filter(({ since }) => intact.has(since)) ?? []
      const fault = await faultOf(() => verifyChanges(store, { ...manifest, changes }))
      if (fault === null) continue
      const remainingIds = await snapshotsIn(store, table)
      const isGone = [id, ...changes.map(({ since }) => since)].some(
        (snapshot) => !remainingIds.includes(snapshot),
      )
      if (!isGone) yield { table, subject: id, bytes: 0, fault }
    }
  }
}

/** Damage of a file that belongs to no snapshot; null if it is intact, or missing. */
export async function faultOfSummed(store: Store, name: string): Promise<string | null> {
  return faultOf(async () => {
    // A job may replace the file meanwhile, so a failed check is repeated once.
    if (!(await isAsSummed(store, name)) && !(await isAsSummed(store, name)))
      throw new Error('it is damaged: `acervo ingest` writes it again')
  })
}

async function faultOf(check: () => Promise<void>): Promise<string | null> {
  try {
    await check()
    return null
  } catch (error) {
    return messageOf(error)
  }
}
