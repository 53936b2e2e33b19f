import path from 'node:path'
import type { Field } from '../../../../core/catalog/catalog.ts'
import type { Plan } from '../../engine/plan.ts'
import { quotedText } from '../../../../core/sql.ts'
import type { Condition } from '../../../query/conditions.ts'
import { compareValues, equalValues, readValue } from '../../../query/values.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'

/** A row group, and what the values of the field lie between, which leads the order. */
interface Zone {
  /** Position of its first row, and of the one after its last. */
  readonly from: number
  readonly to: number
  /** Null where the file does not tell, or where all values are null. */
  readonly min: string | null
  readonly max: string | null
  readonly nulls: number | null
}

/** In the order of the rows. */
export type ZoneMap = readonly Zone[]

/** Positions from `from` up to `to`, without it. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Reads the statistics of the field from the footers of all parts, group by group. */
export function planZoneMap(snapshot: Snapshot, field: Field): Plan {
  const { parts, fields } = snapshot.manifest
  const column = fields.findIndex(({ name }) => name === field.name)
  return planStatistics(
    snapshot,
    parts.map(({ file }) => file),
    column,
  )
}

/** The same of an index of values, which are its first column. */
export function planIndexZoneMap(snapshot: Snapshot, file: string): Plan {
  return planStatistics(snapshot, [file], 0)
}

function planStatistics(snapshot: Snapshot, names: readonly string[], column: number): Plan {
  const files = names.map((name) => quotedText(path.join(snapshot.folder, name)))
  return {
    sql: `select file_name, row_group_num_rows, stats_min_value, stats_max_value, stats_null_count, path_in_schema
      from parquet_metadata([${files.join(', ')}]) where column_id = $1 order by file_name, row_group_id`,
    parameters: [column],
    reads: { snapshot, files: names },
  }
}

/**
 * @param rows the answer to `planZoneMap`
 * @param digits of texts that the file has as numbers
 */
export function zoneMapOf(field: Field, rows: readonly (readonly unknown[])[], digits = 0): ZoneMap {
  let from = 0
  const bound = (text: unknown): string | null =>
    typeof text === 'string' ? readValue(field, text.padStart(digits, '0')) : null
  return rows.map(([, count, min, max, nulls]) => {
    const zone = {
      from,
      to: from + Number(count),
      min: bound(min),
      max: bound(max),
      nulls: nulls === null ? null : Number(nulls),
    }
    from = zone.to
    return zone
  })
}

/** All positions that can be right by the conditions on the leading field: its values ascend or descend throughout. */
export function spanOf(zones: ZoneMap, field: Field, conditions: readonly Condition[]): Span {
  const own = conditions
    .filter((condition) => condition.field.name === field.name)
    .map((condition) =>
      condition.operator === 'eq' || condition.operator === 'in'
        ? { ...condition, values: equalValues(field, condition.values) }
        : condition,
    )
  const left = zones.filter((zone) => own.every((condition) => canHold(zone, condition)))
  return { from: left[0]?.from ?? 0, to: left.at(-1)?.to ?? 0 }
}

/** Whether a zone can have a row of which a condition holds. */
function canHold({ from, to, min, max, nulls }: Zone, { field, operator, values }: Condition): boolean {
  const [first = '', last = first] = [values[0], values.at(-1)]
  const isAllNull = nulls === to - from
  if (operator === 'isnull') return values[0] === 'true' ? nulls !== 0 : !isAllNull
  if (operator === 'ne') return true
  if (isAllNull) return false
  if (min === null || max === null) return true
  const compare = (a: string, b: string): number => compareValues(field, a, b)
  switch (operator) {
    case 'range':
      return compare(max, first) >= 0 && compare(min, last) <= 0
    case 'eq':
    case 'in':
      return values.some((value) => compare(max, value) >= 0 && compare(min, value) <= 0)
    case 'gt':
    case 'gte':
      return compare(max, first) >= 0
    case 'lt':
    case 'lte':
      return compare(min, first) <= 0
    default:
      // Of a part of a text the bounds tell nothing.
      return true
  }
}
