import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { hashWithChecks, type FileChecks } from '../../core/warehouse/file-checks.ts'
import { versionOf } from '../../core/warehouse/fingerprint.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { filesOf, holdsFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport } from '../../core/warehouse/report.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { filesInFolder, requireFiles } from '../../core/warehouse/whole.ts'
import { blockRowsOf, rowBytesOf } from './block-size.ts'
import { Unfit } from './reasons.ts'
import type { Snapshot } from './snapshot.ts'
import type { KnownSnapshot } from './table-state.ts'

/** What becomes of a snapshot whose files are not what they were. */
export interface Watch {
  readonly takeOut: (snapshot: Snapshot, ...why: Parameters<Snapshot['takeOut']>) => void
  readonly doubt: (snapshot: Snapshot, why: string) => void
}

/**
 * Reads all files of a snapshot, and takes it if they are whole and what the catalog declares.
 *
 * @param known is told what each file was like when it was read
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
  const checks = new Map<string, FileChecks>()
  const files = filesInFolder(folder, async (file) => {
    seen.set(path.basename(file), await versionOf(file))
    return hashAndCheck(file, checks)
  })
  await requireFiles(files, manifest)
  const unread = filesOf(manifest).find(({ file }) => isParquet(file) && !checks.has(file))
  if (unread !== undefined) throw new Unfit(`${unread.file} is no Parquet that this server can read`)
  const rowBytes = rowBytesOf(manifest)
  const report = await readReport(store, table, manifest.snapshot)
  const snapshot: Snapshot = {
    table,
    manifest,
    folder,
    report,
    checks,
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

/** Indexes ended with `.lookup` once. */
function isParquet(file: string): boolean {
  return /\.(parquet|index|lookup)$/.test(file)
}

/** Of a Parquet file the sums of its pieces too, by its name. */
async function hashAndCheck(file: string, checks: Map<string, FileChecks>): Promise<string> {
  if (!isParquet(file)) return hashOf(file)
  // Without a footer it is not what was written, as its hash will show.
  const found = await hashWithChecks(file).catch(() => null)
  if (found === null) return hashOf(file)
  checks.set(path.basename(file), found.checks)
  return found.sha256
}
