import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { readHashes } from '../../core/warehouse/state-files.ts'
import { NewerManifest, storedFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import type { Progress } from '../base/progress.ts'
import { asFailure, TableFailure, type Reject } from '../base/rejects.ts'
import { convertSource, requireLikeness } from '../job/convert-and-publish.ts'
import { referencedTables, requireReferences } from '../job/expectations.ts'
import { stopwatch } from '../job/job.ts'
import { sourceTotals, warningsOf } from '../job/source-totals.ts'
import { inScratch } from '../publish/scratch.ts'
import { definitionFor, duckdbLimits, obtainFor, rolledBackWith, withJob } from '../run/open-job.ts'
import type { IngestOptions } from '../run/options.ts'
import { expectedFiles } from '../source/find.ts'
import { SourceHashes } from '../source/hashes.ts'
import type { ObtainedFile } from '../source/obtain.ts'

/** A field whose entry differs between the catalog and the published snapshot. */
interface FieldChange {
  readonly field: string
  /** Type in the published snapshot; null if the field is new. */
  readonly before: string | null
  /** Type in the catalog; null if the field was removed. */
  readonly after: string | null
}

/** Result of a table: what an ingest would do with it. */
export interface CheckedTable {
  /** `dataset/table`. */
  readonly table: string
  /** `missing`: there is no source, and never was. */
  readonly result: 'new' | 'changed' | 'unchanged' | 'missing' | 'failed'
  /** Files of the source, or where one was expected. */
  readonly sources: readonly string[]
  /** Rows that an ingest would publish; null if that is unknown. */
  readonly rows: number | null
  /** Rows of the published snapshot; null if there is none. */
  readonly rows_before: number | null
  readonly fields: readonly FieldChange[]
  /** Rows that `max_rejects` leaves out. */
  readonly rejected_rows: number
  /** First values or rows at fault. */
  readonly rejects: readonly (Reject & { readonly file: string })[]
  readonly reject_count: number
  /** Why nothing would be published; null if the table is published or unchanged. */
  readonly problem: string | null
  /** Advice about the rejects; null if there are none, or the problem says it. */
  readonly remedy: string | null
  readonly warnings: readonly string[]
}

interface CheckOptions extends IngestOptions {
  /** Absolute folder for temporary files. */
  readonly scratchFolder: string
  /** True if an ingest could fill ClickHouse. */
  readonly hasClickHouse: boolean
}

/**
 * Converts the sources of tables as an ingest does, and compares them with the published snapshots, but
 * publishes nothing.
 * @param report receives each result; a table follows the tables that its expectations refer to
 */
export async function check(
  tables: readonly Table[],
  options: CheckOptions,
  report: (checked: CheckedTable) => void,
): Promise<void> {
  await inScratch(options, async (folder) => {
    const unpublished = new Map<string, readonly string[]>()
    for (const [index, table] of inReferenceOrder(tables).entries()) {
      const scratch = path.join(folder, String(index))
      await mkdir(scratch)
      report(await resultOf(table, { ...options, scratch, unpublished }))
      const isNeeded = tables.some((other) => referencedTables(other).has(tableId(table)))
      if (!isNeeded) await rm(scratch, { recursive: true })
    }
  })
}

/** Returns tables so that each follows the tables that its expectations refer to; there are no cycles. */
function inReferenceOrder(tables: readonly Table[]): Table[] {
  const ordered = new Set<Table>()
  const add = (table: Table): void => {
    const targets = referencedTables(table)
    for (const other of tables) if (!ordered.has(other) && targets.has(tableId(other))) add(other)
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered]
}

interface TableOptions extends CheckOptions {
  readonly scratch: string
  /** Converted rows of tables, by `dataset/table`, to which later references refer. */
  readonly unpublished: Map<string, readonly string[]>
}

async function resultOf(table: Table, options: TableOptions): Promise<CheckedTable> {
  const progress = options.progress(table)
  const result: CheckedTable = {
    table: tableId(table),
    result: 'failed',
    sources: [withoutQuery(expectedFiles(options.sources, table))],
    rows: null,
    rows_before: null,
    fields: [],
    rejected_rows: 0,
    rejects: [],
    reject_count: 0,
    problem: null,
    remedy: null,
    warnings: [],
  }
  try {
    await examine(table, options, progress, (facts) => Object.assign(result, facts))
    return result
  } catch (error) {
    const { message, rejects, rejectCount, remedy } = asFailure(error, options.memoryBytes)
    const rejected =
      rejects.length === 0 ? {} : { ...rejectsIn(result.sources, rejects), reject_count: rejectCount }
    return {
      ...result,
      ...rejected,
      result: 'failed',
      remedy,
      problem: withoutQuery(message.replace('; nothing was published', '')),
    }
  } finally {
    progress.end()
  }
}

/** Returns rejects with the complete names of their files. */
function rejectsIn(sources: readonly string[], rejects: readonly Reject[]): Pick<CheckedTable, 'rejects'> {
  const [first = ''] = sources
  const complete = ({ file }: Reject): string =>
    file === undefined ? first : (sources.find((source) => source.endsWith(`/${file}`)) ?? file)
  return { rejects: rejects.map((reject) => ({ ...reject, file: complete(reject) })) }
}

/** Receives facts about a table as they become known, so that a failure keeps the earlier ones. */
type Learn = (facts: Partial<CheckedTable>) => void

/** @throws TableFailure if an ingest would publish nothing */
async function examine(table: Table, options: TableOptions, progress: Progress, learn: Learn): Promise<void> {
  const { store, scratch, unpublished, hasClickHouse, acceptsDrift = false } = options
  const warnings: string[] = []
  if (table.engine === 'clickhouse' && !hasClickHouse)
    warnings.push('an ingest of this table needs CLICKHOUSE_URL, which is not set here')
  const before = await publishedOf(store, table).catch((error: unknown) => {
    if (error instanceof NewerManifest) throw error
    warnings.push(
      `the published snapshot is damaged, and an ingest publishes the table again: ${messageOf(error)}`,
    )
    return null
  })
  learn({ warnings })
  if (before !== null) learn({ rows_before: before.rows, fields: fieldChanges(before, table) })
  const isAsDeclared = before?.definition === definitionFor(table, options)
  const known = isAsDeclared ? before.sources : []
  const obtained = await obtainFor(table, options, { scratch, known, progress })
  if (obtained === 'missing') {
    if (before !== null)
      throw new TableFailure(`the source is missing: there is no ${expectedFiles(options.sources, table)}`)
    return learn({ result: 'missing' })
  }
  const sources =
    obtained === 'unchanged'
      ? known.map(({ address, name }) => withoutQuery(address ?? name))
      : obtained.map((file) => nameOf(file, options))
  learn({ sources })
  const unchanged = async (published: Manifest): Promise<void> => {
    await requireReferences(table, published, { ...options, limits: duckdbLimits(options, table) })
    learn({ result: 'unchanged', rows: published.rows })
  }
  if (obtained === 'unchanged') {
    if (before === null) throw new Error('the source is unchanged, but the table is not published')
    return unchanged(before)
  }
  const hashes = await SourceHashes.of(obtained, await readHashes(store, table), {
    now: options.now(),
    settledMs: options.settledMs,
    believedMs: options.believedMs,
  })
  if (isAsDeclared && (await hashes.areOf(before.sources, obtained, table.source))) return unchanged(before)
  const withdrawn = acceptsDrift ? null : await rolledBackWith(hashes, table, options)
  if (withdrawn !== null)
    warnings.push(
      `an ingest holds this source back, since it is that of the snapshot ${withdrawn}, which was rolled back; \`--accept-drift\` publishes it again`,
    )
  const own = { obtained, before, reusable: null, previous: null, scratch, progress, unpublished }
  await withJob(table, own, options, (job) =>
    convertSource(job, stopwatch(job), async (converted) => {
      const { folder, plan, rows, rejects } = converted
      const parts = plan.parts.map(({ file }) => path.join(folder, file))
      unpublished.set(tableId(table), parts)
      const all = sourceTotals(job, converted)
      const rejected = all.records + all.rejectedRows - rows
      warnings.push(...warningsOf(job, converted.read))
      learn({
        rows,
        rejected_rows: rejected,
        ...rejectsIn(sources, rejects),
        reject_count: rejected,
      })
      const drift = await requireLikeness(job, converted)
      warnings.push(...drift.map((line) => `accepted: ${line}`))
      learn({ result: before === null ? 'new' : 'changed' })
    }),
  )
}

function nameOf({ file, validators }: ObtainedFile, { sources }: IngestOptions): string {
  return validators === null ? path.join(sources, file.place) : withoutQuery(validators.address)
}

/** Removes queries of addresses, which may contain a secret: a report may become a public comment. */
function withoutQuery(text: string): string {
  return text.replaceAll(/\S+/g, (word) => {
    const start = word.indexOf('?')
    if (start === -1 || !word.includes('://')) return word
    return `${word.slice(0, start)}?...${/[,;:]$/.exec(word)?.[0] ?? ''}`
  })
}

/** Returns fields whose type differs between a snapshot and the catalog. */
function fieldChanges(before: Manifest, table: Table): FieldChange[] {
  const [old, current] = [typesOf(before.fields), typesOf(storedFields(table))]
  return [...new Set([...old.keys(), ...current.keys()])].flatMap((field) => {
    const change = { field, before: old.get(field) ?? null, after: current.get(field) ?? null }
    return change.before === change.after ? [] : [change]
  })
}

function typesOf(fields: Manifest['fields']): ReadonlyMap<string, string> {
  return new Map(
    fields.map(({ name, type, stored }) => [name, type === 'decimal' ? stored.toLowerCase() : type]),
  )
}
