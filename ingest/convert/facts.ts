import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { ValueFacts } from '../../core/warehouse/manifest.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import { tableOf, type CodedField } from './dictionary.ts'

/** A column that is looked at. */
export interface FactsColumn {
  readonly field: Field
  readonly column: string
  /** How many rows each value stands for; null where each is one. */
  readonly weight: string | null
}

/**
 * What is told of the values of columns, in one reading.
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
  const terms = columns.flatMap(({ field, column, weight }) => {
    const filled =
      weight === null
        ? `count(${column})`
        : `coalesce(sum(${weight}) filter (where ${column} is not null), 0)`
    // Of what is made of parts none is the least.
    const hasEnds = typeRow(field.type).wire.kind !== 'json'
    const ends = hasEnds ? [`min(${column})::varchar`, `max(${column})::varchar`] : ['null', 'null']
    return [filled, `hex((approx_count_distinct(${column}) export_state)::blob)`, ...ends]
  })
  const rows = await db.rows(
    `select ${[partition ?? 'null', ...terms].join(', ')} from ${from}${partition === null ? '' : ' group by 1'}`,
  )
  return new Map(
    rows.map(([value, ...found]) => [
      textOf(value),
      columns.map((_, index) => {
        const [filled, registers, min, max] = found.slice(4 * index, 4 * index + 4)
        return {
          filled: numberOf(filled),
          registers: String(registers),
          min: textOf(min),
          max: textOf(max),
        }
      }),
    ]),
  )
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

/** SQL: the least and the greatest of some rows, as columns `low` and `high`; null where there is none. */
function endsSql(field: Field, facts: readonly ValueFacts[]): string {
  const { stored } = typeRow(field.type)
  // Texts may hold anything.
  const literal = (text: string | null): string =>
    text === null
      ? `null::${stored(field)}`
      : `decode(unhex('${Buffer.from(text).toString('hex')}'))::${stored(field)}`
  // Texts are in the order of their bytes, here too: the longest may be far too long for a statement of all.
  const ends = facts.flatMap(({ min, max }) => [min, max])
  const due = stored(field) === 'VARCHAR' ? extremesOf(ends) : ends
  const values = due.map((text) => `(${literal(text)})`)
  return `(select min(value) as low, max(value) as high from (values ${values.join(', ')}) as ends(value))`
}

function extremesOf(texts: readonly (string | null)[]): (string | null)[] {
  const all = texts.flatMap((text) => (text === null ? [] : [Buffer.from(text)]))
  let [low, high] = [all[0] ?? null, all[0] ?? null]
  for (const text of all) {
    if (low === null || Buffer.compare(text, low) < 0) low = text
    if (high === null || Buffer.compare(text, high) > 0) high = text
  }
  return [low?.toString() ?? null, high?.toString() ?? null]
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

export async function endsOf(db: Connection, field: Field, facts: readonly ValueFacts[]): Promise<Ends> {
  const { measure, wire } = typeRow(field.type)
  if (wire.kind === 'json') return { min: null, max: null, bounds: [0, 0] }
  const bounds = measure === null ? ['null', 'null'] : [measure.number('low'), measure.number('high')]
  const terms = [shown(field, 'low'), shown(field, 'high'), ...bounds]
  const [row = []] = await db.rows(`select ${terms.join(', ')} from ${endsSql(field, facts)}`)
  const [min, max, low, high] = row
  return {
    min: min === null ? null : String(min),
    max: max === null ? null : String(max),
    bounds: [Number(low), Number(high)],
  }
}

/** Where the values of a field are: one in each row, or each once with how many rows have it. */
export interface ValueSource {
  readonly from: string
  readonly column: string
  /** Null where each row is one. */
  readonly rows: string | null
}

export function sourceOf(work: Work, index: number, counted: readonly CodedField[]): ValueSource {
  const known = counted.find((field) => field.index === index)
  return known === undefined
    ? { from: sortedSql(work), column: `f${index}`, rows: null }
    : { from: tableOf(known), column: 'value', rows: 'rows' }
}

/** SQL: the rows of parts, as they are sorted. */
export function goneSql(fields: Work['fields'], parts: readonly string[]): string {
  const columns = fields.map(({ field }, index) => `${quotedName(field.name)} as f${index}`)
  return `(select ${columns.join(', ')} from read_parquet([${parts.map(quotedText).join(', ')}]))`
}
