import { duckdbVersion } from '../../../core/duckdb/database.ts'
import type { Index } from '../../../core/warehouse/manifest.ts'
import type { Condition } from '../../query/conditions.ts'
import type { Operator } from '../../query/operators.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Scan, Wanted } from './scan.ts'

/** Which files of a snapshot say where something is, so that its parts need not be read. */

/** Of values that follow each other in an index. */
const lookedUp: ReadonlySet<Operator> = new Set(['eq', 'in', 'range', 'gt', 'gte', 'lt', 'lte', 'isnull'])

/** The index that finds the rows of a condition; undefined where none does. */
export function valueIndex({ manifest }: Snapshot, { field, operator }: Condition): Index | undefined {
  if (!lookedUp.has(operator)) return undefined
  return manifest.indexes?.find((index) => index.kind === 'values' && index.field === field.name)
}

/**
 * The files that hold the words of the parts of a scan; null where not all do, others are searched by now, or another
 * version of DuckDB folded them, which may fold some character in another way than the one that folds the query.
 */
export function wordIndexes({ manifest, table }: Snapshot, { parts }: Scan): string[] | null {
  if (manifest.tools['duckdb'] !== duckdbVersion) return null
  const files = parts.flatMap((part) => {
    const number = manifest.parts.indexOf(part)
    const index = manifest.indexes?.find((one) => one.kind === 'words' && one.part === number)
    return index?.kind === 'words' && index.fields.join('\n') === table.search.join('\n') ? [index.file] : []
  })
  return files.length === parts.length && files.length > 0 ? files : null
}

/** Whether an index leaves few rows of however many there are. */
export function isIndexed(snapshot: Snapshot, { conditions }: Wanted): boolean {
  return conditions.some(
    (condition) =>
      (condition.operator === 'eq' || condition.operator === 'in') &&
      valueIndex(snapshot, condition) !== undefined,
  )
}
