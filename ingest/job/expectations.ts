import path from 'node:path'
import { allTables, hidesRows, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { Database } from '../../core/duckdb/database.ts'
import { layout } from '../../core/warehouse/layout.ts'
import { holdsFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import type { PinnedFile, Store } from '../../core/warehouse/stores/store.ts'
import { TableFailure, type Reject } from '../base/rejects.ts'
import type { Conversion } from '../convert/conversion.ts'
import { brokenRows, brokenRules, type ReferencedFiles } from '../convert/expectations.ts'
import type { Job } from './job.ts'
import { locateRecords, type CastSource } from './read-and-cast.ts'

/**
 * @returns false if expectations are broken, but lines are unknown, since partitions were reused
 * @throws TableFailure with the rows at fault
 */
export async function requireExpectations(
  job: Job,
  { conversion, intake, reusable }: CastSource & { readonly conversion: Conversion },
): Promise<boolean> {
  const { table, files, referenced } = job
  const rules = await brokenRules(conversion, filesIn(referenced))
  if (rules.length === 0) return true
  if (reusable !== null) return false
  const count = rules.reduce((sum, rule) => sum + rule.count, 0)
  const broken = await brokenRows(conversion, intake.staged, rules)
  const records = broken.flatMap(({ record, earlierRecord }) =>
    earlierRecord === null ? [record] : [record, earlierRecord],
  )
  const locate = await locateRecords(job, files, new Set(records))
  const rejects = broken.map(({ record, earlierRecord, field, text, reason }): Reject => {
    const earlier = earlierRecord === null ? null : locate(earlierRecord)
    const place =
      earlier === null
        ? ''
        : `: line ${earlier.line}${earlier.file === undefined ? '' : ` of ${earlier.file}`} has it too`
    return { ...locate(record), field, text: hidesRows(table) ? null : text, reason: `${reason}${place}` }
  })
  const phrase = `${valuesOf(count)} ${count === 1 ? 'breaks' : 'break'}`
  throw new TableFailure(`${phrase} an expectation of the catalog; nothing was published`, rejects, {
    count,
    remedy: `correct the source, or change ${table.key === null ? '' : '`key` or '}\`expect\` in the catalog`,
  })
}

interface ReferenceOptions {
  readonly catalog: Catalog
  readonly store: Store
  readonly unpublished: Job['referenced']
  readonly scratch: string
  readonly limits: { readonly memory: string; readonly threads: number }
}

/**
 * Tests references to other tables, which may have changed since this table was published.
 * @throws TableFailure if a referenced value is missing
 */
export async function requireReferences(
  table: Table,
  { snapshot, parts }: Manifest,
  { catalog, store, unpublished, scratch, limits }: ReferenceOptions,
): Promise<void> {
  if (referencedTables(table).size === 0 || parts.length === 0) return
  const referencedFiles = await pinReferenced(table, { catalog, store }, unpublished)
  const partPaths = partFiles(table, snapshot, parts)
  const release = await store.pin(partPaths)
  let rowsBefore = 0
  const placedParts = parts.map(({ rows }, index) => {
    const firstRow = rowsBefore
    rowsBefore += rows
    return { path: store.place(partPaths[index]?.key ?? ''), firstRow, rows }
  })
  const files = [...[...referencedFiles.files.values()].flat(), ...placedParts.map((part) => part.path)]
  const folders = new Set(files.map((file) => path.dirname(file)))
  const database = await Database.open({ ...limits, scratch, folders: [...folders] })
  const db = await database.connect()
  try {
    const expectations = table.expectations.filter(({ kind }) => kind === 'references')
    const fields = table.fields.map((field) => ({ field, column: null }))
    const tableWithReferences = { ...table, expectations }
    const conversion = {
      db,
      table: tableWithReferences,
      fields,
      // No CSV file is read, so it has no columns to compare.
      columnCount: 0,
      weights: [],
      scratch,
      parts: placedParts,
    }
    const broken = await brokenRules(conversion, filesIn(referencedFiles.files))
    if (broken.length === 0) return
    const faults = broken.map(({ rule: { names, reason }, count }) => {
      const reasons = count === 1 ? reason : reason.replace(/^is /, 'are ')
      return `${valuesOf(count)} of "${names.join()}" ${reasons}`
    })
    throw new TableFailure(
      `a table that an expectation refers to has changed: ${faults.join('; ')}. The published snapshot stays; correct either source`,
    )
  } finally {
    db.close()
    database.close()
    release()
    referencedFiles.release()
  }
}

const valuesOf = (count: number): string => (count === 1 ? 'a value' : `${count.toLocaleString('en')} values`)

function filesIn(referencedFiles: Job['referenced']): ReferencedFiles {
  return (target) => referencedFiles.get(`${target.dataset}/${target.table}`) ?? null
}

/** Tables that expectations refer to, other than the table itself. */
export function referencedTables(table: Table): Set<string> {
  const targets = table.expectations.flatMap((expectation) =>
    expectation.kind === 'references'
      ? [tableId({ dataset: expectation.target.dataset, name: expectation.target.table })]
      : [],
  )
  return new Set(targets.filter((id) => id !== tableId(table)))
}

interface Referenced {
  /** By `dataset/table`. */
  readonly files: Job['referenced']
  /** Unpins the files, so that a remote store may evict its local copies. */
  readonly release: () => void
}

/**
 * Fetches the rows of referenced tables.
 * @param unpublished files that replace the published ones, by `dataset/table`
 * @throws TableFailure if a table is not published with its current fields
 */
export async function pinReferenced(
  table: Table,
  { catalog, store }: { readonly catalog: Catalog; readonly store: Store },
  unpublished: Job['referenced'],
): Promise<Referenced> {
  const files = new Map<string, readonly string[]>()
  const pinnedFiles: PinnedFile[] = []
  for (const id of referencedTables(table)) {
    const parts = unpublished.has(id) ? [] : await publishedParts(id, catalog, store)
    files.set(id, unpublished.get(id) ?? parts.map(({ key }) => store.place(key)))
    pinnedFiles.push(...parts)
  }
  return { files, release: await store.pin(pinnedFiles) }
}

async function publishedParts(id: string, catalog: Catalog, store: Store): Promise<PinnedFile[]> {
  const target = allTables(catalog).find((table) => tableId(table) === id)
  const manifest = target === undefined ? null : await publishedOf(store, target)
  if (target === undefined || manifest === null || !holdsFields(manifest, target))
    throw new TableFailure(
      `${id}, which an expectation refers to, is not published with its current fields: run \`acervo ingest ${id}\` first`,
    )
  return partFiles(target, manifest.snapshot, manifest.parts)
}

function partFiles(table: Table, snapshot: Manifest['snapshot'], parts: Manifest['parts']): PinnedFile[] {
  const folder = layout.snapshot(table, snapshot)
  return parts.map(({ file, bytes, sha256 }) => ({ key: `${folder}/${file}`, bytes, sha256 }))
}
