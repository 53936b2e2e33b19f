import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { fingerprint, versionOf } from '../../core/warehouse/fingerprint.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { filesOf, holdsFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport } from '../../core/warehouse/report.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { readVerified } from '../../core/warehouse/verified.ts'
import { requireFiles, type SnapshotFiles } from '../../core/warehouse/whole.ts'
import { blockRowsOf, rowBytesOf } from './block-size.ts'
import { Checks } from './checks.ts'
import { Unfit } from './reasons.ts'
import type { Snapshot } from './snapshot.ts'
import type { KnownSnapshot } from './table-state.ts'

/** What becomes of a snapshot whose files are not what they were. */
export interface Watch {
  readonly takeOut: (snapshot: Snapshot, ...why: Parameters<Snapshot['takeOut']>) => void
  readonly doubt: (snapshot: Snapshot, why: string) => void
}

/**
 * Takes a snapshot if its files are whole and what the catalog declares; those are read that are not what they were
 * when they were last found whole.
 *
 * @param known is told what each file is like
 * @throws Unfit, DamagedFile, or whatever keeps a file from being read
 */
export async function openSnapshot(
  store: Store,
  table: Table,
  manifest: Manifest,
  { seen }: Pick<KnownSnapshot, 'seen'>,
  watch: Watch,
): Promise<Snapshot> {
  if (!holdsFields(manifest, table)) {
    throw new Unfit(
      `its fields are not those of the catalog: \`make ingest TABLES=${tableId(table)}\` publishes it anew; ` +
        'restart the server after a change of the catalog',
    )
  }
  const folder = await store.local(layout.snapshot(table, manifest.snapshot))
  const verified = await readVerified(store, table, manifest.snapshot)
  const checks = new Checks(folder, manifest)
  const files: SnapshotFiles = {
    bytes: async (file) => {
      const found = await fingerprint(path.join(folder, file))
      seen.set(file, found?.version ?? 'none')
      return found?.bytes ?? null
    },
    hash: (file) => checks.hash(file),
  }
  await requireFiles(files, manifest, (file) => seen.get(file) === verified.get(file) && checks.isKept(file))
  const unread = filesOf(manifest).find(({ file }) => !checks.has(file))
  if (unread !== undefined) throw new Unfit(`${unread.file} is no Parquet that this server can read`)
  const rowBytes = rowBytesOf(manifest)
  const report = await readReport(store, table, manifest.snapshot)
  const snapshot: Snapshot = {
    table,
    manifest,
    folder,
    report,
    checksOf: (file) => checks.of(file),
    takeOut: (error) => watch.takeOut(snapshot, error),
    doubt: (why) => watch.doubt(snapshot, why),
    isUnchanged: async (file) => (await versionOf(path.join(folder, file))) === seen.get(file),
    choices: new Map(
      report?.fields.flatMap(({ name, choices }) =>
        choices === undefined ? [] : [[name, choices] as const],
      ),
    ),
    lastModified: new Date(manifest.import_date).toUTCString(),
    rowBytes,
    blockRows: blockRowsOf(rowBytes),
  }
  return snapshot
}
