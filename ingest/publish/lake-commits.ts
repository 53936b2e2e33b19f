import path from 'node:path'
import { allTables, tableId, type Catalog, type Dataset, type Table } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { publishedBefore } from '../../core/warehouse/history.ts'
import { isSnapshotId, layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/published.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { commentFields, originOf } from '../../core/warehouse/views.ts'

/** A table as it is from some version on. */
interface Commit {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest
}

/** What a table has in the last version. */
interface LakeTable {
  readonly snapshot: SnapshotId
  /** Names and types of its columns. */
  readonly columns: string
}

/**
 * Commits to the DuckLake that is attached as `lake` whatever was published since its last version.
 *
 * @returns how many commits it took
 */
export async function bringUpToDate(
  store: Store,
  catalog: Catalog,
  db: Connection,
  now: Date,
): Promise<number> {
  const there = await tablesIn(db)
  const commits: Commit[] = []
  const published = new Set<string>()
  for (const table of allTables(catalog)) {
    const dataset = catalog.datasets.get(table.dataset)
    // A damaged one is told by the ingest; what the lake has of it stays.
    const manifest = await publishedOf(store, table).catch(() => null)
    if (dataset === undefined || manifest === null) continue
    published.add(tableId(table))
    if (!holdsFields(manifest, table)) continue
    const due = await dueOf(store, table, manifest, there.get(tableId(table))?.snapshot ?? null)
    commits.push(...due.map((one) => ({ dataset, table, manifest: one })))
  }
  const gone = [...there.keys()].filter((id) => !published.has(id))
  const [[last = null] = []] = await db.rows('select max(snapshot_time)::varchar from lake.snapshots()')
  let newest =
    there.size === 0 || last === null ? new Date(0) : new Date(`${String(last).replace(' ', 'T')}:00`)
  if (there.size === 0) await setTime(db, newest)
  for (const commit of commits.toSorted((a, b) =>
    a.manifest.import_date < b.manifest.import_date ? -1 : 1,
  )) {
    await commitTable(db, store, commit, there.get(tableId(commit.table)) ?? null)
    there.set(tableId(commit.table), lakeTableOf(commit.manifest))
    // What a rollback brings back was imported long ago, and is current from now on.
    const imported = new Date(commit.manifest.import_date)
    newest = imported >= newest ? imported : new Date(Math.max(now.getTime(), newest.getTime() + 1))
    await setTime(db, newest)
  }
  for (const id of gone) {
    await inTransaction(db, `${id} gone`, async () => {
      await db.rows(`drop table ${nameOf(id)}`)
    })
    newest = new Date(Math.max(now.getTime(), newest.getTime() + 1))
    await setTime(db, newest)
  }
  return commits.length + gone.length
}

/** What of a table is to be committed: all that is kept, or what came after what the lake has. */
async function dueOf(
  store: Store,
  table: Table,
  current: Manifest,
  has: SnapshotId | null,
): Promise<Manifest[]> {
  if (current.snapshot === has) return []
  const due = [current]
  for await (const manifest of publishedBefore(store, table, current)) {
    if (manifest.snapshot === has) return due.toReversed()
    due.push(manifest)
  }
  // One that is not among those before it was rolled back, or is not kept any more.
  return has === null ? due.toReversed() : [current]
}

/** What each table has in the last version, by `dataset/table`, from the messages of the commits. */
async function tablesIn(db: Connection): Promise<Map<string, LakeTable>> {
  const rows = await db.rows(
    `select commit_message, commit_extra_info from lake.snapshots() where author = 'acervo' order by snapshot_id`,
  )
  const found = new Map<string, LakeTable>()
  for (const [message, extra] of rows) {
    const [id = '', snapshot = ''] = String(message).split(' ')
    if (!isSnapshotId(snapshot)) found.delete(id)
    else {
      const { columns = '' } = JSON.parse(String(extra)) as { columns?: string }
      found.set(id, { snapshot, columns })
    }
  }
  return found
}

function lakeTableOf({ snapshot, fields }: Manifest): LakeTable {
  return { snapshot, columns: JSON.stringify(fields.map(({ name, stored }) => [name, stored])) }
}

async function commitTable(
  db: Connection,
  store: Store,
  { dataset, table, manifest }: Commit,
  before: LakeTable | null,
): Promise<void> {
  const now = lakeTableOf(manifest)
  const id = tableId(table)
  const name = nameOf(id)
  await inTransaction(
    db,
    `${id} ${manifest.snapshot}`,
    async () => {
      if (before !== null && before.columns !== now.columns) await db.rows(`drop table ${name}`)
      if (before?.columns !== now.columns) await createTable(db, dataset, table, manifest)
      // All of them, so that whole files are retired, and none is rewritten.
      else await db.rows(`delete from ${name}`)
      for (const { file } of manifest.parts) {
        const part = path.join(store.place(layout.snapshot(table, manifest.snapshot)), file)
        await db.rows(
          `call ducklake_add_data_files('lake', ${quotedText(table.name)}, ${quotedText(part)}, schema => ${quotedText(dataset.slug)}, ignore_extra_columns => true)`,
        )
      }
    },
    { snapshot: manifest.snapshot, columns: now.columns },
  )
}

async function createTable(
  db: Connection,
  dataset: Dataset,
  table: Table,
  { fields }: Manifest,
): Promise<void> {
  const name = nameOf(tableId(table))
  const columns = fields.map((field) => `${quotedName(field.name)} ${field.stored}`)
  await db.rows(`create schema if not exists lake.${quotedName(dataset.slug)}`)
  await db.rows(`create table ${name} (${columns.join(', ')})`)
  const about = [table.description ?? `${dataset.name}: ${table.name}.`, ...originOf(dataset)]
  await db.rows(`comment on table ${name} is ${quotedText(about.join(' '))}`)
  const known = new Set(fields.map((field) => field.name))
  const commented = table.fields.filter((field) => known.has(field.name))
  await commentFields(db, name, commented)
}

async function inTransaction(
  db: Connection,
  message: string,
  work: () => Promise<void>,
  extra: Readonly<Record<string, string>> = {},
): Promise<void> {
  await db.rows('begin')
  try {
    await work()
    await db.rows(
      `call lake.set_commit_message('acervo', ${quotedText(message)}, extra_info => ${quotedText(JSON.stringify(extra))})`,
    )
    await db.rows('commit')
  } catch (error) {
    await db.rows('rollback')
    throw error
  }
}

/** When the last version came to be: not when it was written down, but when its rows were imported. */
async function setTime(db: Connection, time: Date): Promise<void> {
  await db.rows(
    `update __ducklake_metadata_lake.ducklake_snapshot set snapshot_time = ${quotedText(time.toISOString())}::timestamptz
     where snapshot_id = (select max(snapshot_id) from __ducklake_metadata_lake.ducklake_snapshot)`,
  )
}

/** The name of a table in SQL, from `dataset/table`. */
function nameOf(id: string): string {
  const [dataset = '', table = ''] = id.split('/')
  return `lake.${quotedName(dataset)}.${quotedName(table)}`
}
