import { open, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import zlib from 'node:zlib'
import { typeRow } from '../../core/catalog/field-types.ts'
import {
  codedValuesMax,
  codesOf,
  countCodes,
  deflated,
  Directory,
  directoryBytes,
  directoryOf,
  groupRows,
  groupsIn,
  packGroup,
  sectionGroups,
  sectionRows,
  sectionsIn,
  unpackGroup,
  type Codes,
  type Piece,
  type Shape,
} from '../../core/warehouse/codes/layout.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { quotedText } from '../../core/sql.ts'
import { TableFailure } from '../rejects.ts'
import { numberOf, sortedRowsSql, sortedSql, type Work } from './convert.ts'
import { readSql, requireSame, sumOf } from './proof.ts'

/** What was written of fields that have few different values; null where none has. */
export interface WrittenCodes {
  readonly file: string
  readonly dictionary: string
  readonly fields: readonly { readonly name: string; readonly values: number }[]
}

/** A field on its way: index among the fields of the table, and how many different values it has. */
interface CodedField {
  readonly index: number
  readonly name: string
  readonly values: number
}

/** Sections whose codes are in memory at once. */
const sliceSections = 2

/**
 * Writes the different values of some fields in their order, the dictionary, and of each row the numbers of its values
 * in there: see `core/warehouse/codes/layout.ts`. Both are read back and compared with the sorted rows.
 *
 * @param indexes of the fields that are said to have few different values; those that have too many are left out
 * @throws TableFailure where the proof fails
 */
export async function writeCodes(
  work: Work,
  folder: string,
  rows: number,
  indexes: readonly number[],
): Promise<WrittenCodes | null> {
  const fields: CodedField[] = []
  for (const index of indexes) {
    const field = await number(work, index)
    if (field !== null) fields.push(field)
  }
  if (fields.length === 0 || rows === 0) return null
  await writeDictionary(work, folder, fields)
  const file = path.join(folder, fileNames.codes)
  const handle = await open(file, 'wx+')
  try {
    const bytes = await writeSections(work, handle, rows, fields)
    await proveCodes(work, handle, { rows, bytes, values: fields.map(({ values }) => values) }, fields)
  } finally {
    await handle.close()
  }
  for (const field of fields) await work.db.rows(`drop table ${numbersOf(field)}`)
  return {
    file: fileNames.codes,
    dictionary: fileNames.dictionary,
    fields: fields.map(({ name, values }) => ({ name, values })),
  }
}

const numbersOf = ({ index }: Pick<CodedField, 'index'>): string => `codes_${index}`

/** Gives each different value of a field its number; null where there are too many. */
async function number(work: Work, index: number): Promise<CodedField | null> {
  const { db, fields } = work
  const field = fields[index]?.field
  if (field === undefined) throw new RangeError(`the table has no field ${index}`)
  const table = numbersOf({ index })
  await db.rows(`create or replace temp table ${table} as
    select value, ${typeRow(field.type).rendered('value')} as text, rows,
      (row_number() over (order by value nulls last) - 1)::uinteger as code
    from (select f${index} as value, count(*) as rows from ${sortedSql(work)} group by 1)`)
  const [row = []] = await db.rows(`select count(value) from ${table}`)
  const values = numberOf(row[0])
  if (values <= codedValuesMax) return { index, name: field.name, values }
  await db.rows(`drop table ${table}`)
  return null
}

async function writeDictionary(work: Work, folder: string, fields: readonly CodedField[]): Promise<void> {
  const values = fields.map(
    (field, place) =>
      `select ${place}::usmallint as field, code, text as value, rows from ${numbersOf(field)} where value is not null`,
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

/** @returns bytes of the file */
async function writeSections(
  work: Work,
  handle: FileHandle,
  rows: number,
  fields: readonly CodedField[],
): Promise<number> {
  const pieces: Omit<Piece, 'start'>[] = []
  let at = 0
  const append = async (bytes: Uint8Array): Promise<void> => {
    await handle.write(bytes, 0, bytes.length, at)
    at += bytes.length
  }
  const slice = sliceSections * sectionRows
  for (let first = 0; first < rows; first += slice) {
    const columns = await readCodes(work, fields, first, Math.min(slice, rows - first))
    for (let from = 0; from < Math.min(slice, rows - first); from += sectionRows) {
      const packed = fields.flatMap(({ values }, place) => {
        const groups = groupsOf(columns[place], from)
        const counts = countCodes(groups, values)
        const plain = [new Uint8Array(counts.buffer), ...groups.map(packGroup)]
        return plain.map(deflated)
      })
      for (const piece of await Promise.all(packed)) {
        pieces.push({ length: piece.length, sum: zlib.crc32(piece) })
        await append(piece)
      }
    }
  }
  await append(directoryOf(pieces))
  return at
}

/** The groups of a section that begins at a row of what was read. */
function groupsOf(codes: Codes | undefined, from: number): Codes[] {
  const groups: Codes[] = []
  for (let group = 0; group < sectionGroups; group += 1) {
    const some = codes?.subarray(from + group * groupRows, from + (group + 1) * groupRows)
    if (some !== undefined && some.length > 0) groups.push(some)
  }
  return groups
}

/** Of each field, the codes of consecutive rows. */
async function readCodes(
  work: Work,
  fields: readonly CodedField[],
  first: number,
  rows: number,
): Promise<Codes[]> {
  const joins = fields.map(
    (field) =>
      `left join ${numbersOf(field)} on sorted.f${field.index} is not distinct from ${numbersOf(field)}.value`,
  )
  // A value that is nowhere among the numbers would show in the proof; a null may be.
  const codes = fields.map((field) => `coalesce(${numbersOf(field)}.code, ${field.values})::uinteger`)
  // Joined rows come as they like.
  const [positions = new Uint32Array(), ...columns] = await work.db.numberColumns(
    `select (file_row_number - ${first})::uinteger, ${codes.join(', ')}
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
 * Two sums of each group over what the codes stand for: of the hash of a value, times the number of its row from 1. All
 * numbers stay below 2^53.
 */
async function proveCodes(
  work: Work,
  handle: FileHandle,
  shape: Shape,
  fields: readonly CodedField[],
): Promise<void> {
  const end = await bytesOf(handle, shape.bytes - directoryBytes(shape), directoryBytes(shape))
  const directory = Directory.read(end, shape)
  if (directory === null) throw new TableFailure('the proof of the codes failed; nothing was published')
  for (const [place, field] of fields.entries()) {
    const hashes = await hashesOf(work, field)
    const due = await sumsOf(work, field)
    const found = new Float64Array(due.length)
    for (let section = 0; section < sectionsIn(shape.rows); section += 1) {
      const groups: Codes[] = []
      for (
        let group = section * sectionGroups;
        group < Math.min(groupsIn(shape.rows), (section + 1) * sectionGroups);
        group += 1
      ) {
        const codes = unpackGroup(await pieceOf(handle, directory.group(place, group)), field.values)
        groups.push(codes)
        for (const half of [0, 1]) found[2 * group + half] = weigh(codes, hashes[half])
      }
      const counts = countCodes(groups, field.values)
      const written = await pieceOf(handle, directory.counts(place, section))
      requireSame(
        `counts of "${field.name}"`,
        Buffer.from(counts.buffer).toString('base64'),
        Buffer.from(written).toString('base64'),
      )
    }
    requireSame(`codes of "${field.name}"`, due.join(' '), found.join(' '))
  }
}

function weigh(codes: Codes, hashes: Uint32Array | undefined): number {
  let sum = 0
  for (let row = 0; row < codes.length; row += 1) sum += (hashes?.[codes[row] ?? 0] ?? 0) * (row + 1)
  return sum
}

const halves = (value: string): string[] =>
  [0, 24].map((shift) => `((hash(${value}) >> ${shift}) & 16777215)`)

/** Of each code, two parts of the hash of its value. */
async function hashesOf({ db, fields }: Work, field: CodedField): Promise<Uint32Array[]> {
  const { type } = fields[field.index]?.field ?? {}
  if (type === undefined) throw new RangeError(`the table has no field ${field.index}`)
  const [codes = new Uint32Array(), ...found] = await db.numberColumns(
    `select code::uinteger, ${halves('value')
      .map((half) => `${half}::uinteger`)
      .join(', ')}
      from (select value, code from ${numbersOf(field)} where value is not null
        union all select null, ${field.values})`,
  )
  return found.map((hashes) => {
    const byCode = new Uint32Array(field.values + 1)
    for (let row = 0; row < codes.length; row += 1) byCode[codes[row] ?? 0] = hashes[row] ?? 0
    return byCode
  })
}

/** Two numbers a group, from the sorted rows. */
async function sumsOf(work: Work, { index }: CodedField): Promise<Float64Array> {
  const sums = halves(`f${index}`).map(
    (half) => `sum(${half}::bigint * (file_row_number % ${groupRows} + 1))::double`,
  )
  const rows = await work.db.rows(
    `select ${sums.join(', ')} from ${sortedSql(work)} group by file_row_number // ${groupRows} order by file_row_number // ${groupRows}`,
  )
  return Float64Array.from(rows.flat(), Number)
}

async function pieceOf(handle: FileHandle, { start, length, sum }: Piece): Promise<Uint8Array> {
  const bytes = await bytesOf(handle, start, length)
  if (zlib.crc32(bytes) !== sum)
    throw new TableFailure('codes were not written as they are; nothing was published')
  return zlib.inflateRawSync(bytes)
}

async function bytesOf(handle: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  await handle.read(bytes, 0, length, start)
  return bytes
}
