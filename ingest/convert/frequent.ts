import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { FrequentTexts } from '../../core/warehouse/manifest.ts'
import { cellsSql, columnsTogether, type Column, type ValueSource } from './cells.ts'
import { numberOf, sortedSql, type Work } from './convert.ts'
import { goneSql, shown, textShownMax } from './facts.ts'
import type { ProfileBefore } from './partition-facts.ts'

export interface Frequent {
  readonly value: string
  readonly rows: number
}

/** The most frequent values, and all of them where they are few. */
interface FrequentValues {
  readonly top: readonly Frequent[]
  readonly choices?: readonly string[]
  /** For the next ingest; null where that must count again. */
  readonly texts: FrequentTexts | null
}

const topMax = 10
/** The ancestor's number, up to which it offered values to choose from. */
const choicesMax = 100
/** Those that are counted, so that the next ingest has some more to begin with. */
const countedMax = 200
/** Up to so many different values are counted with no thought of memory. */
const distinctAtHand = 65_536

interface CountedColumn extends Column {
  /** About how many different values it has. */
  readonly distinct: number
}

/** @param rows of the table */
export async function frequentOf(
  work: Work,
  columns: readonly CountedColumn[],
  rows: number,
  before: ProfileBefore | null,
): Promise<Map<Field, FrequentValues>> {
  const { db } = work
  const frequent = new Map<Field, FrequentValues>()
  const others: CountedColumn[] = []
  for (const column of columns) {
    const { field, source, distinct } = column
    const isEach = source.rows === null
    const since = before === null || !isEach ? null : await frequentSince(work, field, source, before)
    const counted =
      since === null && isEach && distinct > distinctAtHand ? await countedByHash(db, column) : null
    if (since !== null) frequent.set(field, { top: topOf(since.values), texts: since })
    else if (counted === null) others.push(column)
    else frequent.set(field, frequentAmong(column, counted))
  }
  for (const together of columnsTogether(others, rows)) {
    const counted = await countedIn(db, together)
    for (const [place, column] of together.entries())
      frequent.set(column.field, frequentAmong(column, counted[place] ?? []))
  }
  return frequent
}

function frequentAmong({ field, source }: Column, found: readonly Counted[]): FrequentValues {
  const values = found.map(({ value, rows }): [string, number] => [value, rows])
  const top = topOf(values)
  const areShort = found.every(({ value }) => value.length < textShownMax)
  if (found.length <= choicesMax) {
    if (!areShort) return { top, texts: null }
    return {
      top,
      choices: found.toSorted((a, b) => a.place - b.place).map(({ value }) => value),
      texts: null,
    }
  }
  const isKept = source.rows === null && typeRow(field.type).isText && areShort
  return { top, texts: isKept ? { values, others: values.at(-1)?.[1] ?? 0 } : null }
}

const topOf = (values: readonly (readonly [string, number])[]): Frequent[] =>
  values.slice(0, topMax).map(([value, rows]) => ({ value, rows }))

interface Counted extends Frequent {
  /** In the order of values. */
  readonly place: number
}

/**
 * Counts the values of columns that can be counted together, and returns the most frequent of each.
 *
 * @param condition SQL that leaves out values which are not among the most frequent
 */
async function countedIn(db: Connection, columns: readonly Column[], condition = ''): Promise<Counted[][]> {
  const [first] = columns
  if (first === undefined) throw new RangeError('there is no column')
  const counted = `select place, value, sum(weight)::bigint as number from ${cellsSql(columns)}
    where value is not null ${condition} group by place, value`
  const most =
    columns.length === 1
      ? `order by number desc, value limit ${countedMax}`
      : `qualify row_number() over (partition by place order by number desc, value) <= ${countedMax}`
  const order = 'row_number() over (partition by place order by value)'
  const rows = await db.rows(
    `select place, ${shown(first.field, 'value')}, number, ${order} from (${counted} ${most}) order by place, number desc, value`,
  )
  const found = columns.map((): Counted[] => [])
  for (const [place, value, number, nth] of rows)
    found[numberOf(place)]?.push({ value: String(value), rows: numberOf(number), place: numberOf(nth) })
  return found
}

/**
 * Counts only the values whose hash occurs often enough, since hashes take a fraction of the memory of values.
 *
 * @returns null where hashes do not tell which these are
 */
async function countedByHash(db: Connection, own: Column): Promise<Counted[] | null> {
  const { column, from } = own.source
  const table = 'frequent_hashes'
  await db.rows(`create or replace temp table ${table} as
    select hash(${column}) as hash, count(*)::uinteger as rows from ${from} where ${column} is not null group by 1`)
  try {
    const [least = []] = await db.rows(
      `select min(rows) from (select rows from ${table} order by rows desc limit ${countedMax})`,
    )
    const often = `from ${table} where rows >= ${numberOf(least[0])}`
    const [hashes = []] = await db.rows(`select count(*) ${often}`)
    if (numberOf(hashes[0]) > distinctAtHand) return null
    const [found = []] = await countedIn(db, [own], `and hash(value) in (select hash ${often})`)
    // Of values that share a hash each may occur less often than it.
    const last = found[countedMax - 1]
    return last !== undefined && last.rows >= numberOf(least[0]) ? found : null
  } finally {
    await db.rows(`drop table ${table}`)
  }
}

/**
 * By what the snapshot before knows of its most frequent texts: counted is what is gone, and what is new. Any other text
 * has as many rows as the bound of before and the most that are new of one of them.
 *
 * @returns null where that does not tell which the most frequent are
 */
async function frequentSince(
  { db, fields }: Work,
  field: Field,
  { column }: ValueSource,
  { frequent, read, gone }: ProfileBefore,
): Promise<FrequentTexts | null> {
  const known =
    frequent !== undefined && Object.hasOwn(frequent, field.name) ? frequent[field.name] : undefined
  if (known === undefined) return null
  const texts = known.values.map(([value]) => value)
  const among = '(select unnest($1::varchar[]))'
  const countsIn = async (from: string): Promise<Map<string, number>> => {
    const rows = await db.rows(
      `select ${column}, count(*) from ${from} where ${column} in ${among} group by 1`,
      [texts],
    )
    return new Map(rows.map(([value, count]) => [String(value), numberOf(count)]))
  }
  const from = sortedSql(read)
  const less = gone.length === 0 ? new Map<string, number>() : await countsIn(goneSql(fields, gone))
  const more = await countsIn(from)
  // By their hashes, since texts that share one only make the bound higher.
  const [most = []] = await db.rows(
    `select coalesce(max(rows), 0) from (select count(*) as rows from ${from}
      where ${column} is not null and ${column} not in ${among} group by hash(${column}))`,
    [texts],
  )
  const others = known.others + numberOf(most[0])
  const values = known.values
    .map(([value, rows]): [string, number] => [value, rows - (less.get(value) ?? 0) + (more.get(value) ?? 0)])
    .filter(([, rows]) => rows > 0)
    .toSorted(([value, rows], [other, some]) => some - rows || typeRow(field.type).compare(value, other))
  const least = values[topMax - 1]?.[1] ?? 0
  // Where there may be few of them, all are told.
  return least > others && values.length > choicesMax ? { values, others } : null
}
