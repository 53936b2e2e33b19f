import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { ValueFacts } from '../../core/warehouse/manifest.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { cellsSql, type Column, type ValueSource } from './cells.ts'
import { fieldsAtOnce, numberOf, type Work } from './convert.ts'
import { tableOf, type CodedField } from './dictionary.ts'

/** A column and how its rows are weighted. */
export interface FactsColumn {
  readonly field: Field
  readonly column: string
  /** Column with the number of rows of each value; null if there is one row per value. */
  readonly weight: string | null
}

/**
 * Returns the facts, and the numbers of distinct values, of columns that are counted together: of a short wide table, where each column costs more in
 * the plan of a statement than its values do.
 *
 * @param columns all of one type
 */
export async function factsTogether(
  db: Connection,
  columns: readonly Column[],
): Promise<ReadonlyMap<Field, { readonly facts: ValueFacts; readonly distinct: number }>> {
  const [first] = columns
  if (first === undefined) return new Map()
  const rows = await db.rows(
    `select place, count(distinct value), ${factsSql({ field: first.field, column: 'value', weight: null })}
      from ${cellsSql(columns)} group by place`,
  )
  return new Map(
    rows.flatMap(([place, distinct, ...facts]) => {
      const field = columns[numberOf(place)]?.field
      return field === undefined
        ? []
        : [[field, { facts: factsAt(facts, 0), distinct: numberOf(distinct) }] as const]
    }),
  )
}

/**
 * Returns the facts of columns. Reads the rows once, or once for each group of columns of a wide table, to bound memory.
 *
 * @param from SQL
 * @param partition SQL of a text by which the rows are told apart; null for all together
 * @returns by partition, of each column
 */
export async function factsIn(
  db: Connection,
  from: string,
  columns: readonly FactsColumn[],
  partition: string | null,
): Promise<Map<string | null, ValueFacts[]>> {
  const found = new Map<string | null, ValueFacts[]>()
  for (let first = 0; first < columns.length; first += fieldsAtOnce) {
    const some = columns.slice(first, first + fieldsAtOnce)
    const terms = [partition ?? 'null', ...some.map(factsSql)]
    const rows = await db.rows(
      `select ${terms.join(', ')} from ${from}${partition === null ? '' : ' group by 1'}`,
    )
    for (const [value, ...told] of rows) {
      const facts = some.map((_, index) => factsAt(told, 4 * index))
      found.set(textOf(value), [...(found.get(textOf(value)) ?? []), ...facts])
    }
  }
  return found
}

function factsSql({ field, column, weight }: FactsColumn): string {
  const filled =
    weight === null
      ? `count(${column})`
      : `coalesce(sum(case when ${column} is not null then ${weight} end), 0)`
  // JSON values have no order.
  const hasEnds = typeRow(field.type).wire.kind !== 'json'
  const ends = hasEnds ? `min(${column})::varchar, max(${column})::varchar` : 'null, null'
  return `${filled}, hex((approx_count_distinct(${column}) export_state)::blob), ${ends}`
}

function factsAt(told: readonly unknown[], at: number): ValueFacts {
  const [filled, registers, min, max] = told.slice(at, at + 4)
  return { filled: numberOf(filled), registers: String(registers), min: textOf(min), max: textOf(max) }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The same of more rows: of HyperLogLog each register is the greatest of all. */
export function registersOf(facts: readonly ValueFacts[]): Uint8Array {
  const registers = new Uint8Array(64)
  for (const fact of facts)
    for (const [place, rank] of Buffer.from(fact.registers, 'hex').entries())
      registers[place] = Math.max(registers[place] ?? 0, rank)
  return registers
}

/**
 * About how many different values there are, as `approx_count_distinct` of DuckDB says it: Ertl's estimate, "New cardinality
 * estimation algorithms for HyperLogLog sketches" (2017), algorithm 6.
 */
export function distinctOf(registers: Uint8Array): number {
  const size = registers.length
  const bits = 64 - Math.log2(size)
  const counts = new Float64Array(bits + 2)
  for (const rank of registers) counts[rank] = (counts[rank] ?? 0) + 1
  let sum = size * tau((size - (counts[bits + 1] ?? 0)) / size)
  for (let rank = bits; rank >= 1; rank -= 1) sum = (sum + (counts[rank] ?? 0)) / 2
  sum += size * sigma((counts[0] ?? 0) / size)
  return Math.round((size * size) / (2 * Math.LN2 * sum))
}

function sigma(share: number): number {
  if (share === 1) return Infinity
  let [power, factor, sum, before] = [share, 1, share, NaN]
  while (before !== sum) {
    power *= power
    before = sum
    sum += power * factor
    factor += factor
  }
  return sum
}

function tau(share: number): number {
  if (share === 0 || share === 1) return 0
  let [root, factor, sum, before] = [share, 1, 1 - share, NaN]
  while (before !== sum) {
    root = Math.sqrt(root)
    before = sum
    factor /= 2
    sum -= (1 - root) ** 2 * factor
  }
  return sum / 3
}

/** Rows of values above `from` up to `to`; the first range has its start too. */
export interface Range {
  readonly from: string
  readonly to: string
  readonly rows: number
}

/** Longer texts are shown in part. */
export const textShownMax = 200

/** SQL. */
export function shown(field: Field, value: string): string {
  const text = typeRow(field.type).rendered(value)
  return `case when length(${text}) > ${textShownMax} then left(${text}, ${textShownMax}) || '…' else ${text} end`
}

/** The least and the greatest, as they are shown, and as numbers. */
export interface Ends {
  readonly min: string | null
  readonly max: string | null
  readonly bounds: readonly [number, number]
}

/** Tells the ends of each field, by what is known of some of its rows. */
export async function endsOf(
  db: Connection,
  known: readonly { readonly field: Field; readonly facts: readonly ValueFacts[] }[],
): Promise<Ends[]> {
  const found = known.map((): Ends => ({ min: null, max: null, bounds: [0, 0] }))
  const alike = new Map<string, number[]>()
  for (const [place, { field }] of known.entries()) {
    const { measure, wire, stored } = typeRow(field.type)
    if (wire.kind === 'json') continue
    const numbers = measure === null ? ['null', 'null'] : [measure.number('low'), measure.number('high')]
    const sql = `select place, ${[shown(field, 'low'), shown(field, 'high'), ...numbers].join(', ')} from (
      select place, min(value) as low, max(value) as high from (
        select unnest($1::varchar[])::integer as place, unnest($2::varchar[])::${stored(field)} as value) group by place)`
    alike.set(sql, [...(alike.get(sql) ?? []), place])
  }
  for (const [sql, places] of alike) {
    const ends = places.flatMap((place) =>
      (known[place]?.facts ?? []).flatMap(({ min, max }) =>
        [min, max].flatMap((text) => (text === null ? [] : [[String(place), text] as const])),
      ),
    )
    const rows = await db.rows(sql, [ends.map(([place]) => place), ends.map(([, text]) => text)])
    for (const [place, min, max, low, high] of rows)
      found[numberOf(place)] = { min: String(min), max: String(max), bounds: [Number(low), Number(high)] }
  }
  return found
}

/** @param sorted SQL of the rows, for fields whose values are not counted yet */
export function sourceOf(sorted: string, index: number, counted: readonly CodedField[]): ValueSource {
  const known = counted.find((field) => field.index === index)
  return known === undefined
    ? { from: sorted, column: `f${index}`, rows: null }
    : { from: tableOf(known), column: 'value', rows: 'rows' }
}

/** SQL: the rows of parts, as they are sorted. */
export function goneSql(fields: Work['fields'], parts: readonly string[]): string {
  const columns = fields.map(({ field }, index) => `${quotedName(field.name)} as f${index}`)
  return `(select ${columns.join(', ')} from read_parquet([${parts.map(quotedText).join(', ')}]))`
}
