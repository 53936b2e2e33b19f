import {
  chunkRows,
  encodeChunk,
  RowChunk,
  textsOf,
  type ChunkColumn,
  type Integers,
  type ColumnTexts,
} from '../../core/warehouse/format/row-store.ts'
import { requireSame } from './proof.ts'

/** Consecutive rows of a table, column by column. */
interface Slice {
  readonly columns: readonly ChunkColumn[]
  readonly rows: number
}

/**
 * Encodes rows as chunks of the row store, and decodes each one again.
 * @throws TableFailure if a chunk decodes to other values
 */
export function encodeRows({ columns, rows }: Slice): Buffer[] {
  const areCoded = columns.map((column) => 'codes' in column)
  const textEnds = new Float64Array(columns.length)
  const chunks: Buffer[] = []
  for (let first = 0; first < rows; first += chunkRows) {
    const end = Math.min(rows, first + chunkRows)
    const some = columns.map((column, index): ChunkColumn => {
      if ('codes' in column) return { codes: column.codes.subarray(first, end) }
      if ('integers' in column) return { ...column, integers: column.integers.subarray(first, end) }
      const lengths = column.lengths.subarray(first, end)
      const start = textEnds[index] ?? 0
      const textEnd = lengths.reduce((sum, length) => sum + Math.max(0, length - 1), start)
      textEnds[index] = textEnd
      return { bytes: column.bytes.subarray(start, textEnd), lengths }
    })
    const chunk = encodeChunk(some)
    const decoded = new RowChunk(chunk, end - first, areCoded)
    for (const [field, column] of some.entries())
      requireSame('row store', true, isSame(decoded, field, column))
    chunks.push(chunk)
  }
  return chunks
}

function isSame(chunk: RowChunk, field: number, column: ChunkColumn): boolean {
  if ('codes' in column) return areCodes(chunk, field, column.codes)
  if ('integers' in column)
    return chunk.hasTexts(field) ? areTexts(chunk, field, textsOf(column)) : areIntegers(chunk, field, column)
  return chunk.hasTexts(field) ? areTexts(chunk, field, column) : areDecimals(chunk, field, column)
}

function areCodes(chunk: RowChunk, field: number, codes: ArrayLike<number>): boolean {
  return areEqual(chunk.decode(field), codes)
}

function areIntegers(chunk: RowChunk, field: number, { integers }: Integers): boolean {
  return areEqual(chunk.decode(field), integers)
}

function areTexts(chunk: RowChunk, field: number, { bytes, lengths }: ColumnTexts): boolean {
  return areEqual(chunk.decode(field), lengths) && Buffer.compare(chunk.texts(field).bytes, bytes) === 0
}

/** Compares numbers; NaN equals NaN. */
function areEqual(found: ArrayLike<number>, due: ArrayLike<number>): boolean {
  for (let row = 0; row < due.length; row += 1) {
    const [one, other] = [found[row] ?? -1, due[row] ?? -1]
    if (one !== other && !(Number.isNaN(one) && Number.isNaN(other))) return false
  }
  return found.length === due.length
}

function areDecimals(chunk: RowChunk, field: number, { bytes, lengths }: ColumnTexts): boolean {
  const texts = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let row = 0, start = 0; row < lengths.length; row += 1) {
    const length = lengths[row] ?? 0
    const end = start + Math.max(0, length - 1)
    const due = length === 0 ? null : texts.toString('latin1', start, end)
    if (chunk.decimal(field, row) !== due) return false
    start = end
  }
  return true
}
