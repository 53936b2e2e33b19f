import { duckdbVersion } from '../../../../core/duckdb/database.ts'
import type { Index } from '../../../../core/warehouse/manifest.ts'
import type { Condition } from '../../../query/conditions.ts'
import type { Operator } from '../../../query/operators.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import type { Scan, Wanted } from './scan.ts'

/** Which files of a snapshot say where something is, so that its parts need not be read. */

/** Of values that follow each other in an index. */
const lookedUp: ReadonlySet<Operator> = new Set(['eq', 'in', 'range', 'gt', 'gte', 'lt', 'lte', 'isnull'])

/** An index, and what is to hold of its values. */
export interface Lookup {
  readonly index: ValueIndex
  readonly condition: Condition
}

type ValueIndex = Extract<Index, { kind: 'values' }>

/** What finds the rows of a condition; undefined where nothing does. */
export function lookupOf({ manifest }: Snapshot, condition: Condition): Lookup | undefined {
  const { field, operator, values } = condition
  if (!lookedUp.has(operator)) return undefined
  const index = manifest.indexes?.find((one) => one.kind === 'values' && one.field === field.name)
  if (index?.kind !== 'values') return undefined
  const { digits } = index
  if (digits === undefined || operator === 'isnull') return { index, condition }
  // Other texts are no value of the field; what is below or above one of them, the parts tell.
  const known = values.filter((value) => value.length === digits && /^\d+$/.test(value))
  if (operator === 'eq' || operator === 'in')
    return { index, condition: { field, operator: 'in', values: known } }
  return known.length === values.length ? { index, condition } : undefined
}

/** A condition as an index holds the values of its field. */
export function asIndexed({ index, condition }: Lookup): Condition {
  return index.digits === undefined
    ? condition
    : { ...condition, field: { ...condition.field, type: 'integer' } }
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
      lookupOf(snapshot, condition) !== undefined,
  )
}
