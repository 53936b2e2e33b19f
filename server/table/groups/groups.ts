import type { Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { baseOf, type Term } from '../../query/date-parts.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { dictionarySize } from '../indexes/dictionaries.ts'
import type { Measure } from '../../query/measures.ts'
import { unscaled, type DoubleSum, roundedQuotient, scaledText } from './exact.ts'

export interface Grouping {
  /** Rows with equal values form a group; without terms, there is always one group. */
  readonly terms: readonly Term[]
  readonly measures: readonly Measure[]
}

export interface Groups {
  readonly count: number
  readonly rows: number
  /** Canonical texts: an array over the groups for each term, then for each measure. */
  readonly columns: readonly (readonly (string | null)[])[]
  readonly bytes: number
}

const shortBytes = 40

/** Approximate bytes of a group; texts without a dictionary may be long. */
export function valueBytesOf(snapshot: Snapshot, { terms, measures }: Grouping): number {
  const { rows, textBytes } = snapshot.manifest
  const ofText = ({ type, name }: Field): number =>
    typeRow(type).wire.kind === 'text' && dictionarySize(snapshot, name) === 0
      ? textBytes / Math.max(1, rows)
      : 0
  const fields = [
    ...terms.map(baseOf),
    ...measures.flatMap(({ aggregate, field }) => (aggregate === 'min' || aggregate === 'max' ? field : [])),
  ]
  const texts = fields.reduce((sum, field) => sum + ofText(field), 0)
  return texts + (terms.length + measures.length) * shortBytes
}

export function groupsOf(rows: number, columns: Groups['columns'], count: number): Groups {
  const bytes = columns.reduce(
    (sum, values) => sum + values.reduce((total, value) => total + shortBytes + (value?.length ?? 0), 0),
    shortBytes,
  )
  return { rows, columns, count, bytes }
}

/** No group; a single one without terms. */
export function groupsOfNoRows(grouping: Grouping): Groups {
  const { terms, measures } = grouping
  const isOne = terms.length === 0
  const ofMeasures = measures.map(({ aggregate }) =>
    ['rows', 'count', 'distinct'].includes(aggregate) ? '0' : null,
  )
  return groupsOf(
    0,
    isOne ? ofMeasures.map((value) => [value]) : [...terms, ...measures].map(() => []),
    Number(isOne),
  )
}

/**
 * Removes groups of few rows, and the last column.
 * @param groups with the number of rows as their last column
 */
export function withoutSmallGroups({ columns }: Groups, min: number): Groups {
  const sizes = columns.at(-1)?.map(Number) ?? []
  const isShown = (_: unknown, group: number): boolean => (sizes[group] ?? 0) >= min
  const shownSizes = sizes.filter(isShown)
  const rows = shownSizes.reduce((sum, size) => sum + size, 0)
  return groupsOf(
    rows,
    columns.slice(0, -1).map((values) => values.filter(isShown)),
    shownSizes.length,
  )
}

export function canonicalText({ type }: Pick<Field, 'type'>, text: string): string {
  return type === 'float' ? doubleText(Number(text)) : text
}

function doubleText(number: number): string
function doubleText(number: number | null): string | null
function doubleText(number: number | null): string | null {
  const { csvOfJson } = typeRow('float')
  if (number === null || !Number.isFinite(number) || csvOfJson === null) return null
  return csvOfJson(String(number === 0 ? 0 : number), { precision: 0, scale: 0 })
}

/**
 * Sum or average of integers or decimals.
 * @param units sum of the values as whole numbers, without their decimal point
 */
export function exactText(
  { aggregate, field, column }: Measure,
  units: bigint,
  count: number,
): string | null {
  if (count === 0 || field === null) return null
  if (aggregate === 'sum') return scaledText(units, column.scale)
  return quotientText(field, column, units, count)
}

/** Mean of the two values in the middle, which may be the same. */
export function medianText({ field, column }: Measure, low: string, high: string): string | null {
  if (field === null) return null
  if (field.type !== 'float') return quotientText(field, column, unscaled(low) + unscaled(high), 2)
  const [lowNumber, highNumber] = [Number(low), Number(high)]
  // Halves only values whose sum is infinite, since halves of tiny values are not exact.
  const sum = lowNumber + highNumber
  return doubleText(Number.isFinite(sum) ? sum / 2 : lowNumber / 2 + highNumber / 2)
}

/** Double nearest to the exact sum or average. */
export function floatText({ aggregate }: Measure, sum: DoubleSum, count: number): string | null {
  return count === 0 ? null : doubleText(sum.dividedBy(aggregate === 'sum' ? 1 : count))
}

function quotientText(field: Field, column: Field, scaledSum: bigint, count: number): string {
  const further = column.scale - (field.type === 'decimal' ? field.scale : 0)
  return scaledText(roundedQuotient(scaledSum * 10n ** BigInt(further), BigInt(count)), column.scale)
}
