import path from 'node:path'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedText } from '../../../core/sql.ts'
import {
  type Codes,
  codedBytesMax,
  codedValuesMax,
  emptyCodes,
  groupCount,
  groupRows,
} from '../../../core/warehouse/format/codes.ts'
import { fileNames } from '../../../core/warehouse/layout.ts'
import { readSql, requireSame, sumOf } from '../proof.ts'
import { type Conversion, numberOf, sortedRowsSql, sortedSql } from '../conversion.ts'

/** Field with few distinct values, numbered by their codes. */
export interface CodedField {
  readonly index: number
  readonly name: string
  readonly values: number
}

const tableOf = ({ index }: Pick<CodedField, 'index'>): string => `codes_${index}`

/**
 * Numbers the distinct values of fields, unless these are too many or too long.
 * @param indexes fields with few distinct values by estimate
 */
export async function numberValues(
  conversion: Conversion,
  indexes: readonly number[],
): Promise<CodedField[]> {
  const fields: CodedField[] = []
  for (const index of indexes) {
    const field = conversion.fields[index]?.field
    if (field === undefined) throw new RangeError(`the table has no field ${index}`)
    const table = tableOf({ index })
    await conversion.db.rows(`create or replace temp table ${table} as
      select value, ${typeRow(field.type).rendered('value')} as text, rows,
        (row_number() over (order by value nulls last) - 1)::uinteger as code
      from (select f${index} as value, count(*) as rows from ${sortedSql(conversion)} group by 1)`)
    const fitting = await whatFits(conversion, index, field.name)
    if (fitting !== null) fields.push(fitting)
  }
  return fields
}

async function whatFits({ db }: Conversion, index: number, name: string): Promise<CodedField | null> {
  const table = tableOf({ index })
  const [row = []] = await db.rows(`select count(value), coalesce(sum(strlen(text)), 0) from ${table}`)
  const [values = 0, bytes = 0] = row.map(numberOf)
  if (values <= codedValuesMax && bytes <= codedBytesMax) return { index, name, values }
  await db.rows(`drop table ${table}`)
  return null
}

export async function dropValueTables({ db }: Conversion, fields: readonly CodedField[]): Promise<void> {
  for (const field of fields) await db.rows(`drop table ${tableOf(field)}`)
}

/** Writes the distinct values in order, and reads them back. */
export async function writeDictionary(
  conversion: Conversion,
  folder: string,
  fields: readonly CodedField[],
): Promise<void> {
  const values = fields.map(
    (field, place) =>
      `select ${place}::usmallint as field, code, text as value, rows from ${tableOf(field)} where value is not null`,
  )
  const tableSql = `(select *, row_number() over (order by field, code) - 1 as row from (${values.join(' union all ')}))`
  await conversion.db.rows(`copy (select field, value, rows from ${tableSql} order by row)
    to ${quotedText(path.join(folder, fileNames.dictionary))} (format parquet, codec zstd, row_group_size ${groupRows})`)
  requireSame(
    'dictionary',
    await sumOf(conversion, tableSql, 'field, value, rows, row'),
    await sumOf(conversion, readSql(folder, fileNames.dictionary), 'field, value, rows, file_row_number'),
  )
}

export async function readCodes(
  conversion: Conversion,
  fields: readonly CodedField[],
  first: number,
  rows: number,
): Promise<Codes[]> {
  const codes: Codes[] = []
  for (let from = 0; from < fields.length; from += joinsMax)
    codes.push(...(await readSomeCodes(conversion, fields.slice(from, from + joinsMax), first, rows)))
  return codes
}

/** Each field of a statement is a join, which takes memory. */
const joinsMax = 24

async function readSomeCodes(
  conversion: Conversion,
  fields: readonly CodedField[],
  first: number,
  rows: number,
): Promise<Codes[]> {
  const joins = fields.map(
    (field) =>
      `left join ${tableOf(field)} on sorted.f${field.index} is not distinct from ${tableOf(field)}.value`,
  )
  // Null has the highest code. A missing value would get it too, which verification detects.
  const codes = fields.map((field) => `coalesce(${tableOf(field)}.code, ${field.values})::uinteger`)
  // A join returns rows in any order, so each row has its position.
  const [positions = new Uint32Array(), ...columns] = await conversion.db.numberColumns(
    `select ${[`(file_row_number - ${first})::uinteger`, ...codes].join(', ')}
      from (select * from ${sortedRowsSql(conversion, first, rows)}) as sorted ${joins.join(' ')}`,
  )
  return fields.map(({ values }, place) => {
    const codesByRow = emptyCodes(values, rows)
    const column = columns[place] ?? new Uint32Array()
    for (let row = 0; row < column.length; row += 1) codesByRow[positions[row] ?? 0] = column[row] ?? 0
    return codesByRow
  })
}

/**
 * Checksums of the values of a field, which its codes must reproduce. Each group of rows has two, one for
 * each part of a value's hash. A checksum adds up this part times the row number in the group (from 1), and
 * stays below 2^53.
 */
interface ExpectedSums {
  readonly sums: Float64Array
  /** Two parts of the hash of each value, by its code. */
  readonly hashes: readonly Uint32Array[]
}

const hashHalves = (value: string): string[] =>
  [0, 24].map((shift) => `((hash(${value}) >> ${shift}) & 16777215)`)

/** Sums hashes of the values in each group of rows, weighted by position so that swapped values show. */
export async function expectedSums(
  conversion: Conversion,
  fields: readonly CodedField[],
  rows: number,
): Promise<Map<number, ExpectedSums>> {
  if (fields.length === 0) return new Map()
  const weightedSums = fields.flatMap(({ index }) =>
    hashHalves(`f${index}`).map(
      (half) => `sum(${half}::bigint * (file_row_number % ${groupRows} + 1))::double`,
    ),
  )
  const sums = fields.map(() => new Float64Array(2 * groupCount(rows)))
  const sumRows = await conversion.db.rows(
    `select file_row_number // ${groupRows}, ${weightedSums.join(', ')} from ${sortedSql(conversion)} group by 1`,
  )
  for (const [group, ...groupSums] of sumRows) {
    for (const [place, fieldSums] of sums.entries()) {
      fieldSums[2 * numberOf(group)] = Number(groupSums[2 * place])
      fieldSums[2 * numberOf(group) + 1] = Number(groupSums[2 * place + 1])
    }
  }
  const sumsByField = new Map<number, ExpectedSums>()
  for (const [place, field] of fields.entries())
    sumsByField.set(field.index, {
      sums: sums[place] ?? new Float64Array(),
      hashes: await hashesOf(conversion, field),
    })
  return sumsByField
}

async function hashesOf({ db }: Conversion, field: CodedField): Promise<Uint32Array[]> {
  const hashed = hashHalves('value').map((half) => `${half}::uinteger`)
  const [codes = new Uint32Array(), ...columns] = await db.numberColumns(
    `select code::uinteger, ${hashed.join(', ')} from (select value, code from ${tableOf(field)} where value is not null
      union all select null, ${field.values})`,
  )
  return columns.map((column) => {
    const byCode = new Uint32Array(field.values + 1)
    for (let row = 0; row < codes.length; row += 1) byCode[codes[row] ?? 0] = column[row] ?? 0
    return byCode
  })
}

/** The two sums of a group, from its codes as read back. */
export function codeSums(codes: Codes, { hashes }: ExpectedSums): number[] {
  return hashes.map((hashed) => {
    let sum = 0
    for (let row = 0; row < codes.length; row += 1) sum += (hashed[codes[row] ?? 0] ?? 0) * (row + 1)
    return sum
  })
}
