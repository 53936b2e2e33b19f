import { randomInt } from 'node:crypto'

import { quotedText } from '../../../core/sql.ts'
import type { Batch } from '../../source/batches.ts'
import { recordBytesMax } from '../../source/soundness.ts'
import type { ColumnWeights, MatchedField, Conversion } from '../conversion.ts'

/**
 * SQL: the rows of a batch as texts; empty texts are null. All options are set, so that DuckDB guesses
 * nothing. Uses several threads only if no value has line feeds, since threads would split it.
 */
export function plainSql(
  { table, columnCount, weights: fieldColumns }: Conversion,
  { pieces, valueLineFeeds, longestRecordBytes }: Batch,
  isInOrder = false,
): string {
  const { delimiter, quote } = table.source
  const files = pieces.map(({ file }) => quotedText(file))
  // Escaped or added quotes make a line longer than its record.
  const lineBytesMax = 2 * Math.max(longestRecordBytes, lineBytes)
  const names = Array.from({ length: columnCount }, (_, index) => `c${index}: 'VARCHAR'`)
  const readColumns = [...new Set(fieldColumns.map(({ column }) => `c${column}`)), pieceColumn]
  return `(select ${readColumns.join(', ')} from read_csv([${files.join(', ')}],
    auto_detect = false, header = true, delim = ${quotedText(delimiter)}, quote = ${quotedText(quote ?? '')},
    escape = ${quotedText(quote ?? '')}, new_line = '\\n', nullstr = '', strict_mode = true,
    parallel = ${!isInOrder && valueLineFeeds === 0}, filename = '${pieceColumn}', max_line_size = ${lineBytesMax}, buffer_size = ${2 * lineBytesMax},
    columns = {${names.join(', ')}}))`
}

const lineBytes = 8 * 1024 * 1024
const pieceColumn = 'piece'

/** SQL: constant value of a field, which may differ between files; null if empty. */
export function constantSql({ pieces }: Batch): (field: string) => string {
  return (field) => {
    const texts = pieces.map(({ constants }) => constants.get(field) ?? '')
    const [first = ''] = texts
    if (texts.every((text) => text === first)) return filledSql(first)
    const cases = pieces.map(
      ({ file }, index) => `when ${quotedText(file)} then ${filledSql(texts[index] ?? '')}`,
    )
    return `(case ${pieceColumn} ${cases.join(' ')} end)`
  }
}

const filledSql = (text: string): string => (text === '' ? 'null::varchar' : quotedText(text))

/**
 * A line has at most `2 * recordBytesMax` bytes and values, so its weighted sum fits in 63 bits, which DuckDB
 * adds fast.
 */
const weightBits = 63 - Math.log2(2 * (2 * recordBytesMax))

/** Fields that lack a column, since each row of a file has the same value. */
export function constantFieldsOf({ pieces }: Pick<Batch, 'pieces'>): ReadonlySet<string> {
  return new Set(pieces.flatMap(({ constants }) => [...constants.keys()]))
}

/** @param columns number of columns of the source */
export function conversionOf(
  { db, table, scratch }: Pick<Conversion, 'db' | 'table' | 'scratch'>,
  fields: readonly MatchedField[],
  columns: number,
): Conversion {
  return { db, table, fields, columnCount: columns, weights: drawWeights(fields), scratch, parts: null }
}

/**
 * Random weights, so that no source can be crafted to hide a misreading: sums of different readings are equal
 * once in 2^36 times at most.
 */
function drawWeights(fields: readonly MatchedField[]): ColumnWeights[] {
  return fields.flatMap(({ column }) =>
    column === null ? [] : [{ column, filled: drawWeight(), bytes: drawWeight() }],
  )
}

function drawWeight(): number {
  return randomInt(1, 2 ** weightBits)
}

export function rowChecksumSql({ weights }: Conversion): string {
  const terms = weights.map(({ column, filled, bytes }) =>
    cellCountSql(`c${column}`, String(filled), String(bytes)),
  )
  return ['0', ...terms].join(' + ')
}

const cellCountSql = (text: string, isFilledSql: string, bytes: string): string =>
  `coalesce(${isFilledSql} + ${bytes} * strlen(${text}), 0)`

export function expectedChecksum({ columns }: Batch, weights: readonly ColumnWeights[]): bigint {
  return weights.reduce((sum, { column, ...weight }) => {
    const { filled, bytes } = columns[column] ?? { filled: 0, bytes: 0 }
    return sum + BigInt(weight.filled) * BigInt(filled) + BigInt(weight.bytes) * BigInt(bytes)
  }, 0n)
}
