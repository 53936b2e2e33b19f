import path from 'node:path'
import { typeRow } from '../../core/catalog/field-types.ts'
import {
  codedBytesMax,
  codedValuesMax,
  codesOf,
  groupRows,
  groupsIn,
  type Codes,
} from '../../core/warehouse/format/codes.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { quotedText } from '../../core/sql.ts'
import { numberOf, sortedRowsSql, sortedSql, type Work } from './convert.ts'
import { readSql, requireSame, sumOf } from './proof.ts'

/** A field that has few different values, each of which has its number, its code, while a table is written. */
export interface CodedField {
  /** Among the fields of the table. */
  readonly index: number
  readonly name: string
  /** How many different ones, without null. */
  readonly values: number
}

/** Holds `value`, its `text`, how many `rows` have it, and its `code`. */
const tableOf = ({ index }: Pick<CodedField, 'index'>): string => `codes_${index}`

/** @param indexes of the fields that are said to have few different values; those that have too many, or too long ones, are left out */
export async function numberValues(work: Work, indexes: readonly number[]): Promise<CodedField[]> {
  const fields: CodedField[] = []
  for (const index of indexes) {
    const field = work.fields[index]?.field
    if (field === undefined) throw new RangeError(`the table has no field ${index}`)
    const table = tableOf({ index })
    await work.db.rows(`create or replace temp table ${table} as
      select value, ${typeRow(field.type).rendered('value')} as text, rows,
        (row_number() over (order by value nulls last) - 1)::uinteger as code
      from (select f${index} as value, count(*) as rows from ${sortedSql(work)} group by 1)`)
    const fitting = await whatFits(work, index, field.name)
    if (fitting !== null) fields.push(fitting)
  }
  return fields
}

/** Returns a field whose values are numbered; null if they are too many or too long, and are forgotten. */
async function whatFits({ db }: Work, index: number, name: string): Promise<CodedField | null> {
  const table = tableOf({ index })
  const [row = []] = await db.rows(`select count(value), coalesce(sum(strlen(text)), 0) from ${table}`)
  const [values = 0, bytes = 0] = row.map(numberOf)
  if (values <= codedValuesMax && bytes <= codedBytesMax) return { index, name, values }
  await db.rows(`drop table ${table}`)
  return null
}

export async function forgetValues({ db }: Work, fields: readonly CodedField[]): Promise<void> {
  for (const field of fields) await db.rows(`drop table ${tableOf(field)}`)
}

/** Writes all different values in their order, and reads them back. */
export async function writeDictionary(
  work: Work,
  folder: string,
  fields: readonly CodedField[],
): Promise<void> {
  const values = fields.map(
    (field, place) =>
      `select ${place}::usmallint as field, code, text as value, rows from ${tableOf(field)} where value is not null`,
  )
  const all = `(select *, row_number() over (order by field, code) - 1 as row from (${values.join(' union all ')}))`
  await work.db.rows(`copy (select field, value, rows from ${all} order by row)
    to ${quotedText(path.join(folder, fileNames.dictionary))} (format parquet, codec zstd, row_group_size ${groupRows})`)
  requireSame(
    'dictionary',
    await sumOf(work, all, 'field, value, rows, row'),
    await sumOf(work, readSql(folder, fileNames.dictionary), 'field, value, rows, file_row_number'),
  )
}

/** Returns the codes of consecutive rows, of each field. */
export async function readCodes(
  work: Work,
  fields: readonly CodedField[],
  first: number,
  rows: number,
): Promise<Codes[]> {
  const codes: Codes[] = []
  for (let from = 0; from < fields.length; from += joinsMax)
    codes.push(...(await readSomeCodes(work, fields.slice(from, from + joinsMax), first, rows)))
  return codes
}

/** Fields of a statement: each is a join, which takes memory. */
const joinsMax = 24

async function readSomeCodes(
  work: Work,
  fields: readonly CodedField[],
  first: number,
  rows: number,
): Promise<Codes[]> {
  const joins = fields.map(
    (field) =>
      `left join ${tableOf(field)} on sorted.f${field.index} is not distinct from ${tableOf(field)}.value`,
  )
  // A value that is nowhere among the numbers would show in the proof; a null may be.
  const codes = fields.map((field) => `coalesce(${tableOf(field)}.code, ${field.values})::uinteger`)
  // Joined rows come as they like.
  const [positions = new Uint32Array(), ...columns] = await work.db.numberColumns(
    `select ${[`(file_row_number - ${first})::uinteger`, ...codes].join(', ')}
      from (select * from ${sortedRowsSql(work, first, rows)}) as sorted ${joins.join(' ')}`,
  )
  return fields.map(({ values }, place) => {
    const placed = codesOf(values, rows)
    const found = columns[place] ?? new Uint32Array()
    for (let row = 0; row < found.length; row += 1) placed[positions[row] ?? 0] = found[row] ?? 0
    return placed
  })
}

/**
 * Sums that the codes of a field must have: two of each group over the values that they stand for, of a part of the hash of a value
 * times the number of its row from 1. All numbers stay below 2^53.
 */
export interface DueSums {
  /** Two per group, from the sorted rows. */
  readonly sums: Float64Array
  /** By code, two parts of the hash of its value. */
  readonly hashes: readonly Uint32Array[]
}

const halves = (value: string): string[] =>
  [0, 24].map((shift) => `((hash(${value}) >> ${shift}) & 16777215)`)

/** Returns the sums by the index of the field, from one reading of the rows for all. */
export async function dueSums(
  work: Work,
  fields: readonly CodedField[],
  rows: number,
): Promise<Map<number, DueSums>> {
  if (fields.length === 0) return new Map()
  const weighed = fields.flatMap(({ index }) =>
    halves(`f${index}`).map((half) => `sum(${half}::bigint * (file_row_number % ${groupRows} + 1))::double`),
  )
  const sums = fields.map(() => new Float64Array(2 * groupsIn(rows)))
  const found = await work.db.rows(
    `select file_row_number // ${groupRows}, ${weighed.join(', ')} from ${sortedSql(work)} group by 1`,
  )
  for (const [group, ...own] of found) {
    for (const [place, field] of sums.entries()) {
      field[2 * numberOf(group)] = Number(own[2 * place])
      field[2 * numberOf(group) + 1] = Number(own[2 * place + 1])
    }
  }
  const due = new Map<number, DueSums>()
  for (const [place, field] of fields.entries())
    due.set(field.index, { sums: sums[place] ?? new Float64Array(), hashes: await hashesOf(work, field) })
  return due
}

/** Of each code, two parts of the hash of its value. */
async function hashesOf({ db }: Work, field: CodedField): Promise<Uint32Array[]> {
  const hashed = halves('value').map((half) => `${half}::uinteger`)
  const [codes = new Uint32Array(), ...found] = await db.numberColumns(
    `select code::uinteger, ${hashed.join(', ')} from (select value, code from ${tableOf(field)} where value is not null
      union all select null, ${field.values})`,
  )
  return found.map((column) => {
    const byCode = new Uint32Array(field.values + 1)
    for (let row = 0; row < codes.length; row += 1) byCode[codes[row] ?? 0] = column[row] ?? 0
    return byCode
  })
}

/** The two sums of a group, of its codes as they were read back. */
export function sumsOf(codes: Codes, { hashes }: DueSums): number[] {
  return hashes.map((hashed) => {
    let sum = 0
    for (let row = 0; row < codes.length; row += 1) sum += (hashed[codes[row] ?? 0] ?? 0) * (row + 1)
    return sum
  })
}
