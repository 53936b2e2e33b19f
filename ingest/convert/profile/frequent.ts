import type { Field } from '../../../core/catalog/catalog.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import { numberOf } from '../conversion.ts'
import { type ValueColumn, cellsSql, columnsTogether } from './cells.ts'
import { shortTextSql, textShownMax } from './facts.ts'

export interface Frequent {
  readonly value: string
  readonly rows: number
}

interface FrequentValues {
  readonly top: readonly Frequent[]
  readonly choices?: readonly string[]
}

const topMax = 10
const choicesMax = 100
const distinctMax = 65_536

interface CountedColumn extends ValueColumn {
  readonly distinct: number
}

export async function frequentOf(
  db: Connection,
  columns: readonly CountedColumn[],
  rows: number,
): Promise<Map<Field, FrequentValues>> {
  const frequent = new Map<Field, FrequentValues>()
  const directColumns: CountedColumn[] = []
  for (const column of columns) {
    const counted = column.distinct > distinctMax ? await countedByHash(db, column) : null
    if (counted === null) directColumns.push(column)
    else frequent.set(column.field, frequentAmong(counted))
  }
  for (const columnGroup of columnsTogether(directColumns, rows)) {
    // Counts values directly: they are few, or their hashes did not decide.
    const counts = await countedIn(db, columnGroup)
    for (const [place, column] of columnGroup.entries())
      frequent.set(column.field, frequentAmong(counts[place] ?? []))
  }
  return frequent
}

function frequentAmong(values: readonly Counted[]): FrequentValues {
  const top = values.slice(0, topMax).map(({ value, rows }) => ({ value, rows }))
  if (values.length > choicesMax || values.some(({ value }) => value.length >= textShownMax)) return { top }
  return { top, choices: values.toSorted((a, b) => a.rank - b.rank).map(({ value }) => value) }
}

interface Counted extends Frequent {
  readonly rank: number
}

/**
 * Counts columns of the same type. Returns one more than the limit of choices, so that a field with too many
 * is noticed.
 * @param condition SQL that leaves out values known to be rare
 */
async function countedIn(
  db: Connection,
  columns: readonly ValueColumn[],
  condition = '',
): Promise<Counted[][]> {
  const [first] = columns
  if (first === undefined) throw new RangeError('there is no column')
  const countsSql = `select place as column_index, value, count(*) as number from ${cellsSql(columns)}
    where value is not null ${condition} group by column_index, value`
  const limitClause =
    columns.length === 1
      ? `order by number desc, value limit ${choicesMax + 1}`
      : `qualify row_number() over (partition by column_index order by number desc, value) <= ${choicesMax + 1}`
  const rank = 'row_number() over (partition by column_index order by value)'
  const rows = await db.rows(
    `select column_index, ${shortTextSql(first.field, 'value')}, number, ${rank} from (${countsSql} ${limitClause}) order by column_index, number desc, value`,
  )
  const lists = columns.map((): Counted[] => [])
  for (const [index, value, number, valueRank] of rows)
    lists[numberOf(index)]?.push({ value: String(value), rows: numberOf(number), rank: numberOf(valueRank) })
  return lists
}

/**
 * Counts hashes first, in a fraction of the memory, then only values with a frequent hash.
 * @returns null if the hashes do not determine the most frequent values
 */
async function countedByHash(db: Connection, valueColumn: ValueColumn): Promise<Counted[] | null> {
  const { column, from } = valueColumn
  const [table, limit] = ['frequent_hashes', choicesMax + 1]
  await db.rows(`create or replace temp table ${table} as
    select hash(${column}) as hash, count(*)::uinteger as rows from ${from} where ${column} is not null group by 1`)
  try {
    const [thresholdRow = []] = await db.rows(
      `select min(rows) from (select rows from ${table} order by rows desc limit ${limit})`,
    )
    const frequentHashesSql = `from ${table} where rows >= ${numberOf(thresholdRow[0])}`
    const [hashCountRow = []] = await db.rows(`select count(*) ${frequentHashesSql}`)
    if (numberOf(hashCountRow[0]) > distinctMax) return null
    const [values = []] = await countedIn(
      db,
      [valueColumn],
      `and hash(value) in (select hash ${frequentHashesSql})`,
    )
    // Other values have fewer rows than the threshold.
    const leastFrequent = values[limit - 1]
    return leastFrequent !== undefined && leastFrequent.rows >= numberOf(thresholdRow[0]) ? values : null
  } finally {
    await db.rows(`drop table ${table}`)
  }
}
