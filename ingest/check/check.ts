import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { NewerManifest, storedFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { asFailure, type Reject } from '../base/rejects.ts'
import { referencedTables } from '../job/expectations.ts'
import type { Findings, Learn, Outcome } from '../job/report.ts'
import { inScratch } from '../publish/scratch.ts'
import { ingestIfChanged } from '../run/decide.ts'
import type { IngestOptions } from '../run/options.ts'
import { expectedFiles } from '../source/find.ts'

interface FieldChange {
  readonly field: string
  /** Null if the field is new. */
  readonly before: string | null
  readonly after: string | null
}

export interface CheckedTable {
  readonly table: string
  /** `missing`: there never was a source; `held`: held back after a rollback. */
  readonly result: 'new' | 'changed' | 'unchanged' | 'held' | 'missing' | 'failed'
  readonly sources: readonly string[]
  readonly rows: number | null
  readonly rows_before: number | null
  readonly fields: readonly FieldChange[]
  readonly rejected_rows: number
  readonly rejects: readonly (Reject & { readonly file: string })[]
  readonly reject_count: number
  /** Null unless the check of the table failed. */
  readonly problem: string | null
  /** Null if there is none, or the problem says it. */
  readonly remedy: string | null
  readonly warnings: readonly string[]
}

interface CheckOptions extends IngestOptions {
  readonly scratchFolder: string
  readonly hasClickHouse: boolean
}

/**
 * Converts sources as an ingest does, and compares them with the published snapshots.
 * @param report receives each result; a table follows the tables that its expectations refer to
 */
export async function check(
  tables: readonly Table[],
  options: CheckOptions,
  report: (checked: CheckedTable) => void,
): Promise<void> {
  await inScratch(options, async (folder) => {
    const unpublishedFiles = new Map<string, readonly string[]>()
    for (const [index, table] of inReferenceOrder(tables).entries()) {
      const scratch = path.join(folder, String(index))
      await mkdir(scratch)
      report(await checkTable(table, { ...options, scratch, unpublished: unpublishedFiles }))
      const isNeeded = tables.some((referrer) => referencedTables(referrer).has(tableId(table)))
      if (!isNeeded) await rm(scratch, { recursive: true })
    }
  })
}

/** Each table follows the tables that its expectations refer to; there are no cycles. */
function inReferenceOrder(tables: readonly Table[]): Table[] {
  const orderedTables = new Set<Table>()
  const add = (table: Table): void => {
    const targets = referencedTables(table)
    for (const remaining of tables)
      if (!orderedTables.has(remaining) && targets.has(tableId(remaining))) add(remaining)
    orderedTables.add(table)
  }
  for (const table of tables) add(table)
  return [...orderedTables]
}

async function checkTable(
  table: Table,
  options: CheckOptions & { readonly scratch: string; readonly unpublished: Map<string, readonly string[]> },
): Promise<CheckedTable> {
  const { store, unpublished } = options
  const progress = options.progress(table)
  const warnings: string[] = []
  if (table.engine === 'clickhouse' && !options.hasClickHouse)
    warnings.push('an ingest of this table needs CLICKHOUSE_URL, which is not set here')
  let findings: Partial<Findings> = {}
  let before: Manifest | null = null
  const decideOutcome = async (): Promise<Outcome> => {
    let isDamaged = false
    before = await publishedOf(store, table).catch((error: unknown) => {
      if (error instanceof NewerManifest) throw error
      isDamaged = true
      const damage = messageOf(error)
      warnings.push(`the published snapshot is damaged, and an ingest publishes the table again: ${damage}`)
      return null
    })
    const published = { manifest: before, isDamaged, damagedIds: [], previous: null }
    const learn: Learn = (additions) => {
      findings = { ...findings, ...additions }
      // Tables that refer to this one are checked against these rows.
      if (additions.parts !== undefined) unpublished.set(tableId(table), additions.parts)
    }
    return ingestIfChanged(table, published, { ...options, publish: false, tableProgress: progress, learn })
  }
  try {
    return checkedTable(await decideOutcome(), before, findings, warnings, options)
  } catch (error) {
    const failure = asFailure(error, options.memoryBytes)
    return checkedTable({ status: 'failed', table, failure, report: '' }, before, findings, warnings, options)
  } finally {
    progress.end()
  }
}

const results = {
  unchanged: 'unchanged',
  held: 'held',
  skipped: 'missing',
  kept: 'unchanged',
  failed: 'failed',
} as const

function checkedTable(
  outcome: Outcome,
  before: Manifest | null,
  findings: Partial<Findings>,
  warnings: readonly string[],
  { sources }: CheckOptions,
): CheckedTable {
  const { status, table } = outcome
  const failure = status === 'failed' ? outcome.failure : null
  const sourceNames = (findings.sources ?? [expectedFiles(sources, table)]).map(withoutQuery)
  const hasFailedRows = failure !== null && failure.rejects.length > 0
  const { rejectedRows = 0, rejects = [] } = findings
  return {
    table: tableId(table),
    result:
      status === 'published' || status === 'publishable'
        ? before === null
          ? 'new'
          : 'changed'
        : results[status],
    sources: sourceNames,
    rows: status === 'unchanged' ? outcome.manifest.rows : (findings.rows ?? null),
    rows_before: before?.rows ?? null,
    fields: before === null ? [] : fieldChanges(before, table),
    rejected_rows: rejectedRows,
    rejects: withFullNames(sourceNames, hasFailedRows ? failure.rejects : rejects),
    reject_count: hasFailedRows ? failure.rejectCount : rejectedRows,
    problem: failure && withoutQuery(failure.message.replace('; nothing was published', '')),
    remedy: failure?.remedy ?? null,
    warnings: [
      ...warnings,
      ...(findings.warnings ?? []),
      ...(status === 'held'
        ? [
            `an ingest holds this source back, since it is that of the snapshot ${outcome.withdrawn}, which was rolled back; \`--accept-drift\` publishes it again`,
          ]
        : []),
    ],
  }
}

function withFullNames(sources: readonly string[], rejects: readonly Reject[]): CheckedTable['rejects'] {
  const [first = ''] = sources
  const complete = ({ file }: Reject): string =>
    file === undefined ? first : (sources.find((source) => source.endsWith(`/${file}`)) ?? file)
  return rejects.map((reject) => ({ ...reject, file: complete(reject) }))
}

/** A query may contain a secret, and a report may become a public comment. */
function withoutQuery(text: string): string {
  return text.replaceAll(/\S+/g, (word) => {
    const start = word.indexOf('?')
    if (start === -1 || !word.includes('://')) return word
    return `${word.slice(0, start)}?...${/[,;:]$/.exec(word)?.[0] ?? ''}`
  })
}

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
