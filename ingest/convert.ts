import path from 'node:path'
import type { Table } from '../core/catalog/catalog.ts'
import { typeRow } from '../core/catalog/field-types.ts'
import type { Connection } from '../core/warehouse/duckdb.ts'
import { layout } from '../core/warehouse/layout.ts'
import { orderTerms } from '../core/warehouse/manifest.ts'
import { quotedName, quotedText } from '../core/warehouse/sql.ts'
import type { MatchedField } from './check.ts'
import type { Progress } from './progress.ts'
import { rejectsKeptMax } from './rejects.ts'
import { recordBytesMax } from './scan.ts'

/**
 * Text to typed, ordered Parquet. Inside the work database columns are named by number (c0, c1 for texts,
 * f0, f1 for values), so that no name of a source can collide with one of ours.
 */

/**
 * Rows of a row group, which is what a page must decode, and of a part, whose footer a query must walk. Measured
 * on tables of 3, 18 and 45 fields (README, Performance); both are whole multiples of a server's block.
 */
const rowGroupRows = 16_384
export const partRowsDefault = 16 * rowGroupRows

/** `count` in DuckDB's answers is a bigint. */
export const numberOf = (value: unknown): number => Number(value)

/**
 * Reads the plain form of a source into the table `staged`, every value as text, empty as null.
 * The reader is told everything: whatever it may guess, it may guess wrong.
 */
export async function stage(db: Connection, plainFile: string, table: Table, columns: number): Promise<void> {
  const names = Array.from({ length: columns }, (_, index) => `c${index}: 'VARCHAR'`)
  await db.rows(`create table staged as select * from read_csv(${quotedText(plainFile)},
    auto_detect = false, header = true, delim = ${quotedText(table.source.delimiter)}, quote = '"', escape = '"',
    new_line = '\\n', nullstr = '', strict_mode = true, parallel = false,
    max_line_size = ${2 * recordBytesMax}, buffer_size = ${4 * recordBytesMax},
    columns = {${names.join(', ')}})`)
}

/** A value that its declared type does not allow. */
export interface BadValue {
  /** Record of the source, from 0. */
  readonly record: number
  readonly field: string
  readonly text: string
  readonly reason: string
}

/** All values of `staged` that are not what their field declares; the first ones whole, in the order of the source. */
export async function badValues(
  db: Connection,
  fields: readonly MatchedField[],
): Promise<{ count: number; values: BadValue[] }> {
  const suspects = fields.filter(({ field }) => typeRow(field.type).pattern(field) !== null)
  if (suspects.length === 0) return { count: 0, values: [] }
  const counts = suspects.map((matched) => `count(*) filter (where ${isBad(matched)})`)
  const found = (await db.rows(`select ${counts.join(', ')} from staged`))[0]?.map(numberOf) ?? []
  const values: BadValue[] = []
  for (const [index, matched] of suspects.entries()) {
    if (found[index] === 0) continue
    const reason = `is not ${typeRow(matched.field.type).expects(matched.field)}`
    const rows = await db.rows(
      `select rowid, c${matched.column} from staged where ${isBad(matched)} order by rowid limit ${rejectsKeptMax}`,
    )
    values.push(
      ...rows.map(([record, text]) => ({
        record: numberOf(record),
        field: matched.field.name,
        text: String(text),
        reason,
      })),
    )
  }
  return {
    count: found.reduce((sum, count) => sum + count, 0),
    values: values.toSorted((a, b) => a.record - b.record).slice(0, rejectsKeptMax),
  }
}

function isBad({ field, column }: MatchedField): string {
  const type = typeRow(field.type)
  const [text, pattern] = [`c${column}`, type.pattern(field) ?? '']
  const value = type.value(`try_cast(${text} as ${type.stored(field)})`)
  const finite = field.type === 'float' ? ` and isfinite(${value})` : ''
  const right = `regexp_full_match(${text}, ${quotedText(pattern)})
    and ${type.rendered(value)} = ${type.canonical(text, field)}${finite}`
  return `${text} is not null and not coalesce(${right}, false)`
}

/** Casts and sorts `staged` into the table `sorted`, whose rowid is the position of a row. */
export async function sort(db: Connection, table: Table, fields: readonly MatchedField[]): Promise<void> {
  const casts = fields.map(({ field, column }, index) => {
    const type = typeRow(field.type)
    return `${type.value(`cast(c${column} as ${type.stored(field)})`)} as f${index}`
  })
  const keys = orderTerms(table, (field) => `f${fields.findIndex((matched) => matched.field.name === field)}`)
  await db.rows(
    `create table sorted as select ${casts.join(', ')} from staged order by ${[...keys, 'staged.rowid asc'].join(', ')}`,
  )
}

export interface WrittenPart {
  readonly file: string
  readonly firstRow: number
  readonly rows: number
}

/** Writes `sorted` to Parquet parts of `partRows` rows in a folder. */
export async function writeParts(
  db: Connection,
  fields: readonly MatchedField[],
  folder: string,
  rows: number,
  partRows: number,
  progress: Progress,
): Promise<WrittenPart[]> {
  const columns = fields.map(({ field }, index) => `f${index} as ${quotedName(field.name)}`)
  const parts: WrittenPart[] = []
  for (let firstRow = 0; firstRow < rows; firstRow += partRows) {
    const file = layout.part(parts.length)
    const count = Math.min(partRows, rows - firstRow)
    // Qualified, since a field may be named rowid too.
    await db.rows(`copy (select ${columns.join(', ')} from sorted
      where sorted.rowid between ${firstRow} and ${firstRow + count - 1} order by sorted.rowid)
      to ${quotedText(path.join(folder, file))} (format parquet, codec zstd, row_group_size ${rowGroupRows})`)
    parts.push({ file, firstRow, rows: count })
    progress.advance({ fraction: (firstRow + count) / rows, rows: firstRow + count })
  }
  return parts
}
