import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database } from '../../core/duckdb/database.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import {
  changeColumns,
  changedListSql,
  fieldsWithOld,
  statesSql,
  type ChangesFile,
} from '../../core/warehouse/changes.ts'
import { fileNames, layout, rowGroupRows, type SnapshotId } from '../../core/warehouse/layout.ts'
import { holdsAll } from '../../core/warehouse/schema-change.ts'
import {
  masksOf,
  orderTerms,
  storedFields,
  type Changes,
  type Manifest,
} from '../../core/warehouse/manifest.ts'
import { manifestOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { partFormat } from '../convert/parquet.ts'
import { requireSame } from '../convert/proof.ts'
import { numberOf, type Conversion } from '../convert/conversion.ts'

/**
 * Writes the rows by which a new snapshot differs from earlier ones: see `core/warehouse/changes.ts`.
 * Snapshots are compared as multisets of rows, by a hash of 16 bytes each. The key then matches the few rows
 * that occur more often in one snapshot. Files of changes contain such rows too, so changes since an earlier
 * snapshot combine two files: up to the previous snapshot, and since it.
 */

interface ChangesOptions {
  readonly store: Store
  readonly previous: SnapshotId
  readonly folder: string
  readonly parts: readonly string[]
  readonly rows: number
  /** Parts of the previous snapshot by their new names, with their keys in the warehouse. */
  readonly reused: ReadonlyMap<string, { readonly key: string }>
}

type ComparedFields = Manifest['fields']

/** SQL: rows with the compared fields as columns c0, c1, ... */
type Side = (fields: ComparedFields) => string

interface Comparison extends Pick<Changes, 'since' | 'file'> {
  readonly fields: ComparedFields
  readonly later: Side
  readonly earlier: Side
}

/** Maximum number of earlier snapshots since which a snapshot has changes. */
const changeFilesMax = 16

/**
 * Writes changes since the previous snapshot, then since each earlier one from which the previous one has changes.
 * @returns null if the previous snapshot is unreadable, or has no field in common
 * @throws TableFailure if earlier rows and changes do not give the new rows; FileUnavailable if earlier rows
 * cannot be fetched
 */
export async function writeChanges(
  conversion: Conversion,
  options: ChangesOptions,
): Promise<Changes[] | null> {
  const { table } = conversion
  const { store, previous, folder, parts, reused } = options
  const before = await manifestOf(store, table, previous).catch(() => null)
  const fields = before === null ? [] : comparedFields(table, before)
  if (before === null || fields.length === 0) return null
  const retainedIds = await snapshotsIn(store, table)
  const earlierChanges = (before.changes ?? [])
    .filter(({ since }) => retainedIds.includes(since))
    .slice(0, changeFilesMax - 1)
  const previousFolder = layout.snapshot(table, before.snapshot)
  const inPreviousFolder = (file: string): string => path.join(store.place(previousFolder), file)
  // Reused parts have unchanged rows.
  const unchanged = new Set([...reused.values()].map(({ key }) => key))
  const addedFiles = parts.filter((file) => !reused.has(file)).map((file) => path.join(folder, file))
  const removedParts = before.parts.filter(({ file }) => !unchanged.has(`${previousFolder}/${file}`))
  const comparedFiles = [
    ...removedParts,
    ...before.files.filter(({ file }) => earlierChanges.some((earlierChange) => earlierChange.file === file)),
  ]
  const release = await store.pin(
    comparedFiles.map((file) => ({ ...file, key: `${previousFolder}/${file.file}` })),
  )
  try {
    const latestChanges = await writeDifference(conversion, folder, {
      since: before.snapshot,
      file: fileNames.changes(null),
      fields,
      later: partsSide(addedFiles),
      earlier: partsSide(removedParts.map(({ file }) => inPreviousFolder(file))),
    })
    const writtenChanges = [latestChanges]
    for (const earlierChange of earlierChanges) {
      const common = fields.filter(({ name }) => earlierChange.fields.includes(name))
      if (common.length === 0) continue
      const bothSteps = [
        { ...earlierChange, file: inPreviousFolder(earlierChange.file) },
        { ...latestChanges, file: path.join(folder, latestChanges.file) },
      ]
      const { since } = earlierChange
      const sides = { later: stepsSide(bothSteps, 'new'), earlier: stepsSide(bothSteps, 'old') }
      const comparison = { since, file: fileNames.changes(since), fields: common, ...sides }
      const changes = await writeDifference(conversion, folder, comparison)
      // With more changes than rows, reading all rows is cheaper.
      if (changes.added + changes.removed + changes.changed <= options.rows) writtenChanges.push(changes)
      else await rm(path.join(folder, changes.file))
    }
    return writtenChanges
  } finally {
    release()
  }
}

/**
 * Fields that an earlier snapshot has in the same type or a narrower one. Leaves out a field published
 * without its present mask, whose earlier values must not be published again.
 */
function comparedFields(table: Table, before: Pick<Manifest, 'fields' | 'masks'>): ComparedFields {
  const [masks, maskedBefore = {}] = [masksOf(table), before.masks]
  const maskIn = (list: typeof masks, name: string): string | null =>
    Object.hasOwn(list, name) ? (list[name] ?? null) : null
  return storedFields(table).flatMap((field) => {
    const earlierField = before.fields.find(({ name }) => name === field.name)
    const mask = maskIn(masks, field.name)
    const isHidden = mask !== null && mask !== maskIn(maskedBefore, field.name)
    return earlierField !== undefined && !isHidden && holdsAll(field.stored, earlierField.stored) ? field : []
  })
}

function partsSide(files: readonly string[]): Side {
  return (fields) => {
    const columns = fields.map((field, index) => columnSql(field, index, quotedName(field.name)))
    if (files.length > 0)
      return `select ${columns.join(', ')} from read_parquet([${files.map(quotedText).join(', ')}])`
    return `select ${fields.map((field, index) => columnSql(field, index, 'null')).join(', ')} where false`
  }
}

function stepsSide(steps: readonly ChangesFile[], state: 'old' | 'new'): Side {
  return (fields) => {
    const columns = fields.map((field, index) => columnSql(field, index, quotedName(field.name)))
    return steps
      .map((step) => `select ${columns.join(', ')} from (${statesSql(step, state)})`)
      .join(' union all ')
  }
}

function columnSql({ stored }: ComparedFields[number], index: number, value: string): string {
  return `${value}::${stored} as c${index}`
}

function columnsOf(fields: ComparedFields): string[] {
  return fields.map((_, index) => `c${index}`)
}

const verifyMemory = '500MB'

/**
 * Verifies that the rows of each earlier snapshot, with the changes since, are the rows of a snapshot.
 * @throws TableFailure if they are not
 */
export async function verifyChanges(store: Store, manifest: Manifest): Promise<void> {
  const { dataset, table, fields, files, changes = [] } = manifest
  const name = { dataset, name: table }
  for (const { since, ...changesFile } of changes) {
    const before = await manifestOf(store, name, since).catch(() => null)
    if (before === null) continue
    const [folder, folderBefore] = [layout.snapshot(name, manifest.snapshot), layout.snapshot(name, since)]
    const rowFiles = files.filter(({ file }) => file === changesFile.file)
    const filesToPin = [
      ...[...manifest.parts, ...rowFiles].map((file) => ({ ...file, key: `${folder}/${file.file}` })),
      ...before.parts.map((file) => ({ ...file, key: `${folderBefore}/${file.file}` })),
    ]
    // The warehouse may be read-only.
    const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-verify-'))
    let release: (() => void) | null = null
    let database: Database | null = null
    let db: Connection | null = null
    try {
      release = await store.pin(filesToPin)
      database = await Database.open({
        memory: verifyMemory,
        threads: 2,
        scratch,
        folders: [store.localFolder],
      })
      db = await database.connect()
      const sideOf = (partsFolder: string, parts: Manifest['parts']): Side =>
        partsSide(parts.map(({ file }) => path.join(store.place(partsFolder), file)))
      const sides = {
        fields: fields.filter((field) => changesFile.fields.includes(field.name)),
        later: sideOf(folder, manifest.parts),
        earlier: sideOf(folderBefore, before.parts),
      }
      const file = path.join(store.place(folder), changesFile.file)
      await requireBalance(db, sides, { ...changesFile, file })
    } finally {
      db?.close()
      database?.close()
      release?.()
      await rm(scratch, { recursive: true })
    }
  }
}

async function writeDifference(
  conversion: Conversion,
  folder: string,
  comparison: Comparison,
): Promise<Changes> {
  const { db, table } = conversion
  const { since, file, fields, later, earlier } = comparison
  const names = fields.map(({ name }) => name)
  const columns = columnsOf(fields)
  const hashed = (side: Side): string =>
    `select *, hash(${columns.join(', ')}) as row_hash from (${side(fields)})`
  await db.rows(`create or replace temp table difference as
    select row_hash, sum(times) as times from (
      select row_hash, 1 as times from (${hashed(later)}) union all select row_hash, -1 from (${hashed(earlier)}))
    group by row_hash having sum(times) <> 0`)
  const surplus = (side: Side, sign: '' | '-'): string =>
    `select ${columns.join(', ')} from (${hashed(side)}) join difference using (row_hash) where ${sign}times > 0
     qualify row_number() over (partition by row_hash) <= ${sign}times`
  await db.rows(`create or replace temp table later_rows as ${surplus(later, '')}`)
  await db.rows(`create or replace temp table earlier_rows as ${surplus(earlier, '-')}`)
  const key = await matchingKey(db, table.key, names)
  const fieldsAndKey = { fields: names, key }
  await db.rows(`copy (${changedRowsSql(conversion, fields, key)})
    to ${quotedText(path.join(folder, file))} ${partFormat(conversion, rowGroupRows)}`)
  for (const name of ['difference', 'later_rows', 'earlier_rows']) await db.rows(`drop table ${name}`)
  const changesFile = { ...fieldsAndKey, file: path.join(folder, file) }
  await requireBalance(db, comparison, changesFile)
  return { since, file, ...(await countsOf(db, changesFile)), ...fieldsAndKey }
}

/** Returns the key if it is unique on both sides; else null, and rows are compared as a whole. */
async function matchingKey(
  db: Connection,
  key: readonly string[] | null,
  names: readonly string[],
): Promise<string[] | null> {
  if (key === null || !key.every((name) => names.includes(name))) return null
  const columns = key.map((name) => `c${names.indexOf(name)}`)
  // The key may be declared for the later rows only.
  const [[repeats] = []] = await db.rows(`select count(*) from (
    select 1 from earlier_rows group by ${columns.join(', ')}
    having count(*) > 1 or ${columns.map((column) => `any_value(${column}) is null`).join(' or ')})`)
  return numberOf(repeats) === 0 ? [...key] : null
}

/**
 * Selects changes from the temporary tables later_rows and earlier_rows, matched by key; without a key, rows
 * are only added or removed.
 */
function changedRowsSql(
  { table }: Conversion,
  fields: ComparedFields,
  key: readonly string[] | null,
): string {
  const names = fields.map(({ name }) => name)
  const { kindColumn, changedColumn, old } = changeColumns(names)
  const column = (name: string): string => `c${names.indexOf(name)}`
  const orders = orderTerms({ ...table, order: table.order.filter(({ field }) => names.includes(field)) })
  const tieBreakers = (key ?? names).map(quotedName)
  if (key === null) {
    const columns = names.map((name) => `${column(name)} as ${quotedName(name)}`).join(', ')
    return `select * from (
      select 'added' as ${quotedName(kindColumn)}, ${columns} from later_rows
      union all select 'removed', ${columns} from earlier_rows) order by ${[...orders, ...tieBreakers].join(', ')}`
  }
  const bothSql = 'later.has_row and earlier.has_row'
  const fieldsWithOldValues = fieldsWithOld({ fields: names, key })
  const changedSql = (name: string): string =>
    `later.${column(name)} is distinct from earlier.${column(name)}`
  const changedNames = fieldsWithOldValues.map(
    (name) => `case when ${changedSql(name)} then ${quotedText(name)} end`,
  )
  const columns = [
    `case when earlier.has_row is null then 'added' when later.has_row is null then 'removed' else 'changed' end as ${quotedName(kindColumn)}`,
    ...names.map(
      (name) =>
        `case when later.has_row then later.${column(name)} else earlier.${column(name)} end as ${quotedName(name)}`,
    ),
    `case when ${bothSql} then to_json(list_filter([${changedNames.join(', ')}]::varchar[], lambda name: name is not null))::varchar end as ${quotedName(changedColumn)}`,
    ...fieldsWithOldValues.map(
      (name) =>
        `case when ${bothSql} and ${changedSql(name)} then earlier.${column(name)} end as ${quotedName(old(name))}`,
    ),
  ]
  const keys = key.map((name) => `later.${column(name)} = earlier.${column(name)}`)
  return `select * from (select ${columns.join(', ')} from (select *, true as has_row from later_rows) as later
    full join (select *, true as has_row from earlier_rows) as earlier on ${keys.join(' and ')})
    order by ${[...orders, ...tieBreakers].join(', ')}`
}

/** @throws TableFailure unless the changes explain the differences in number and sum of hashes of rows */
async function requireBalance(
  db: Connection,
  { fields, later, earlier }: Omit<Comparison, 'since' | 'file'>,
  changesFile: ChangesFile,
): Promise<void> {
  const columns = columnsOf(fields)
  const sumsOf = (side: Side): string =>
    `select count(*) as rows, coalesce(sum(hash(${columns.join(', ')})), 0) as hashes from (${side(fields)})`
  const differenceOf = async (left: Side, right: Side): Promise<unknown> => {
    const [row = []] =
      await db.rows(`select (one.rows - other.rows)::varchar, (one.hashes - other.hashes)::varchar
      from (${sumsOf(left)}) as one, (${sumsOf(right)}) as other`)
    return row.join(' ')
  }
  requireSame(
    'changes',
    await differenceOf(later, earlier),
    await differenceOf(stepsSide([changesFile], 'new'), stepsSide([changesFile], 'old')),
  )
}

async function countsOf(
  db: Connection,
  { file, fields, key }: ChangesFile,
): Promise<Pick<Changes, 'added' | 'removed' | 'changed' | 'changed_fields'>> {
  const { kindColumn, changedColumn } = changeColumns(fields)
  const from = `read_parquet(${quotedText(file)})`
  const counts = new Map(
    (await db.rows(`select ${quotedName(kindColumn)}, count(*) from ${from} group by all`)).map(
      ([kind, rows]) => [kind, numberOf(rows)],
    ),
  )
  const byField =
    key === null
      ? []
      : await db.rows(`select name, count(*) from (
      select unnest(${changedListSql(changedColumn)}) as name from ${from}) group by all`)
  const rowsOf = new Map(byField.map(([name, rows]) => [name, numberOf(rows)]))
  return {
    added: counts.get('added') ?? 0,
    removed: counts.get('removed') ?? 0,
    changed: counts.get('changed') ?? 0,
    changed_fields: fields
      .map((name) => ({ name, rows: rowsOf.get(name) ?? 0 }))
      .filter(({ rows }) => rows > 0)
      .toSorted((a, b) => b.rows - a.rows),
  }
}
