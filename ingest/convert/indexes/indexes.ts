import { writeRowStores } from './row-store.ts'
import path from 'node:path'
import { bothOf } from '../../../core/in-order.ts'
import { foldedSql } from '../../../core/folding.ts'
import { quotedText } from '../../../core/sql.ts'
import { isBisected } from '../../../core/warehouse/format/positions.ts'
import { fileNames } from '../../../core/warehouse/layout.ts'
import type { FieldProfile } from '../profile/profile.ts'
import { readSql, requireSame, sumOf } from '../proof.ts'
import { type WrittenPart, type Conversion, sortedRowsSql } from '../conversion.ts'
import { writeCodes } from './codes.ts'
import { dropValueTables, numberValues, writeDictionary } from './dictionary.ts'
import { type WrittenOrder, writeOrders } from './orders.ts'

/** Files beside the parts for fast access. Without them, answers are the same, but slower. */
interface WrittenIndex {
  readonly kind: 'words'
  readonly fields: readonly string[]
  readonly file: string
  readonly part: number
}

const wordGroupRows = 16_384

export interface ServerFiles {
  readonly indexes: readonly WrittenIndex[]
  readonly dictionary: WrittenDictionary | null
  readonly codes: readonly string[] | null
  readonly orders: readonly WrittenOrder[]
  /** One for each part; null if the table has none. */
  readonly rowStores: readonly string[] | null
}

type WrittenDictionary = readonly { readonly name: string; readonly values: number }[]

/**
 * Writes and proves all files for the server.
 * @param otherDb second connection, since indexes and row stores are written at the same time
 * @param codedDistinctMax a field with more distinct values has no codes, but an order by its values
 * @throws TableFailure if a verification fails
 */
export async function writeServerFiles(
  conversion: Conversion,
  otherDb: Conversion['db'],
  folder: string,
  parts: readonly WrittenPart[],
  existingFiles: ReadonlySet<string>,
  profiles: readonly FieldProfile[],
  codedDistinctMax: number,
): Promise<ServerFiles> {
  const [indexFiles, rowStores] = await bothOf(
    writeIndexes(conversion, folder, parts, existingFiles, profiles, codedDistinctMax),
    writeRowStores({ ...conversion, db: otherDb }, folder, parts, existingFiles),
  )
  return { ...indexFiles, rowStores }
}

/**
 * Writes dictionary, codes, orders and word indexes, as far as the catalog requests them and the values suit
 * them.
 */
async function writeIndexes(
  conversion: Conversion,
  folder: string,
  parts: readonly WrittenPart[],
  existingFiles: ReadonlySet<string>,
  profiles: readonly FieldProfile[],
  codedDistinctMax: number,
): Promise<Omit<ServerFiles, 'rowStores'>> {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const { indexes, search, hasRowStore } = conversion.table
  const indexedFields = new Set([...indexes.values, ...(indexes.words ? search : [])])
  const lowCardinalityFields = conversion.fields.flatMap(({ field }, index) => {
    const distinct = profiles[index]?.distinct_estimate ?? 0
    const isFew = distinct <= Math.min(codedDistinctMax, Math.max(distinctAlways, rows * codedShare))
    return isFew && indexedFields.has(field.name) ? [index] : []
  })
  const codedFields = rows === 0 ? [] : await numberValues(conversion, lowCardinalityFields)
  if (codedFields.length > 0) await writeDictionary(conversion, folder, codedFields)
  await writeCodes(conversion, path.join(folder, fileNames.codes), rows, codedFields)
  const codedNames = new Set(codedFields.map(({ name }) => name))
  // Orders and word indexes let queries skip parts, so a single part needs none.
  const hasOnePart = parts.length < 2
  const needsOrder = (name: string): boolean =>
    !codedNames.has(name) && conversion.fields.some(({ field }) => field.name === name && isBisected(field))
  const orderedFilters = hasOnePart || !hasRowStore ? [] : indexes.values.filter(needsOrder)
  const orders = await writeOrders(conversion, folder, rows, codedFields, orderedFilters)
  await dropValueTables(conversion, codedFields)
  return {
    indexes: hasOnePart ? [] : await writeWords(conversion, folder, parts, existingFiles, codedNames),
    dictionary: codedFields.length === 0 ? null : codedFields.map(({ name, values }) => ({ name, values })),
    codes: codedFields.length === 0 ? null : codedFields.map(({ name }) => name),
    orders,
  }
}

/** Share of distinct values among the rows; with more, codes would save nothing. */
const codedShare = 1 / 4
const distinctAlways = 1000

async function writeWords(
  conversion: Conversion,
  folder: string,
  parts: readonly WrittenPart[],
  existingFiles: ReadonlySet<string>,
  codedNames: ReadonlySet<string>,
): Promise<WrittenIndex[]> {
  const { table, fields, db } = conversion
  if (!table.indexes.words || table.search.every((name) => codedNames.has(name))) return []
  const texts = table.search.map((name) => `f${fields.findIndex(({ field }) => field.name === name)}`)
  // No word contains a line feed, so none matches across two fields.
  const words = `concat_ws(chr(10), ${texts.map(foldedSql).join(', ')})`
  const wordIndexes: WrittenIndex[] = []
  for (const [part, { firstRow, rows: count }] of parts.entries()) {
    const file = fileNames.wordIndex(part)
    wordIndexes.push({ kind: 'words', fields: table.search, file, part })
    if (existingFiles.has(file)) continue
    // Folds the texts once, since this is most of the work.
    await db.rows(`create or replace temp table words as select ${words} as words,
      file_row_number - ${firstRow} as position from ${sortedRowsSql(conversion, firstRow, count)}`)
    await db.rows(`copy (select words from words order by position) to ${quotedText(path.join(folder, file))}
      (format parquet, codec lz4_raw, row_group_size ${wordGroupRows})`)
    const sums = (from: string, position: string): Promise<string> =>
      sumOf(conversion, from, `words, ${position}`)
    requireSame(
      'index of words',
      await sums('words', 'position'),
      await sums(readSql(folder, file), 'file_row_number'),
    )
  }
  await db.rows('drop table if exists words')
  return wordIndexes
}
