import type { Field, Table } from '../../core/catalog/catalog.ts'
import { quotedName } from '../../core/sql.ts'
import { changeColumns, fieldsWithOld } from '../../core/warehouse/changes.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { storedFields, type Changes, type Manifest } from '../../core/warehouse/manifest.ts'
import { rowBytesOf, type Snapshot } from './snapshot.ts'

/**
 * Changes as a snapshot of their own, so that they are filtered, sorted, paged and written like rows. Its
 * fields are the columns of the changes file.
 */
export interface ChangesSnapshot extends Snapshot {
  readonly changes: KnownChanges
}

/** A comparison; it has no file if both snapshots are the same. */
export interface KnownChanges extends Omit<Changes, 'file'> {
  readonly file: string | null
}

/**
 * Changes between two snapshots, as a snapshot whose rows are the rows that were added, removed or changed.
 * @param since null for the previous snapshot; a first snapshot is compared with itself
 * @returns null if they are not known
 */
export function changesOf(later: Snapshot, since: SnapshotId | null): ChangesSnapshot | null {
  const changes = knownChanges(later.manifest, since)
  const file = later.manifest.files.find((item) => item.file === changes?.file)
  if (changes === null || (file === undefined && changes.file !== null)) return null
  const table = tableOf(later.table, changes)
  const rows = changes.added + changes.removed + changes.changed
  const parts = file === undefined || rows === 0 ? [] : [{ ...file, firstRow: 0, rows }]
  const manifest = changesManifest(later.manifest, table, changes.fields, parts, rows)
  return {
    ...later,
    table,
    manifest,
    changes,
    report: null,
    choices: new Map(),
    rowBytes: rowBytesOf(manifest),
  }
}

function knownChanges(manifest: Manifest, since: SnapshotId | null): KnownChanges | null {
  const { snapshot, previous, changes = [], fields } = manifest
  // A client that has the latest snapshot learns that nothing changed.
  if (since === snapshot || (since === null && previous === null)) {
    const counts = { added: 0, removed: 0, changed: 0, changed_fields: [] }
    return { since: snapshot, file: null, ...counts, fields: fields.map(({ name }) => name), key: null }
  }
  return (since === null ? changes[0] : changes.find((item) => item.since === since)) ?? null
}

/** Snapshots from which changes are known, latest first. */
export function comparableVersions({ changes = [] }: Manifest): SnapshotId[] {
  return changes.map(({ since }) => since)
}

function tableOf(table: Table, { since, fields: names, key }: KnownChanges): Table {
  const { kindColumn, changedColumn, old: oldName } = changeColumns(names)
  const fields = names.flatMap((name) => table.fields.find((field) => field.name === name) ?? [])
  const [first] = fields
  if (first === undefined) throw new RangeError('changes have no field')
  const untitled = {
    title: null,
    synonyms: [],
    unit: null,
    kind: null,
    valueTitles: new Map<string, string>(),
  }
  const changeField = (name: string, type: Field['type'], description: string): Field => ({
    ...first,
    ...untitled,
    name,
    type,
    description,
  })
  const namesWithOld = fieldsWithOld({ fields: names, key })
  const allFields: Field[] = [
    changeField(kindColumn, 'string', 'added, removed or changed'),
    ...fields,
    ...(key === null ? [] : [changeField(changedColumn, 'list', 'Names of the fields that changed.')]),
    ...fields
      .filter(({ name }) => namesWithOld.includes(name))
      .map((field) => ({
        ...field,
        name: oldName(field.name),
        description: `Earlier value of ${field.name}.`,
      })),
  ]
  const isThere = (name: string): boolean => names.includes(name)
  const filters = [kindColumn, ...table.filters.filter(isThere), ...(key === null ? [] : [changedColumn])]
  return {
    ...table,
    // Snapshot ids have capital letters, which no table name of the catalog has.
    name: `${table.name}-changes-since-${since}`,
    fields: allFields,
    filters,
    order: table.order.filter(({ field }) => isThere(field)),
    search: table.search.filter(isThere),
    engine: 'duckdb',
    indexes: { values: [], words: false },
    hasRowStore: false,
    orders: [],
    partition: null,
    defaultColumns: null,
    totals: new Map(),
    defaultFilter: new Map(),
    chart: null,
    measures: [],
    key: null,
  }
}

/** A manifest with which changes are read like the rows of a table. */
function changesManifest(
  later: Manifest,
  table: Table,
  comparedFields: readonly string[],
  parts: Manifest['parts'],
  rows: number,
): Manifest {
  const { format, dataset, snapshot, previous, import_date: importDate, collected_at: collectedAt } = later
  const { definition, tools } = later
  return {
    format,
    dataset,
    table: table.name,
    snapshot,
    previous,
    rows,
    textBytes: Math.ceil((later.textBytes * rows) / Math.max(1, later.rows)),
    parts,
    files: [],
    fields: storedFields(table),
    // The file has the order of its ingest, which the catalog may have changed since.
    order: later.order.filter((term) =>
      comparedFields.some((name) => term.startsWith(`${quotedName(name)} `)),
    ),
    import_date: importDate,
    collected_at: collectedAt,
    sources: [],
    definition,
    tools,
  }
}
