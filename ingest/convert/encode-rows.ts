import { chunkRows, encodeChunk, RowChunk, type ChunkColumn } from '../../core/warehouse/format/row-store.ts'
import { requireSame } from './proof.ts'

/** Consecutive rows of a table, column by column. */
export interface Slice {
  readonly columns: readonly ChunkColumn[]
  readonly rows: number
}

/**
 * Encodes rows as chunks of the row store, and decodes each one again.
 *
 * @throws TableFailure if a chunk is decoded to other values
 */
export function encodeRows({ columns, rows }: Slice): Buffer[] {
  const areCoded = columns.map((column) => 'codes' in column)
  const textEnds = new Float64Array(columns.length)
  const chunks: Buffer[] = []
  for (let first = 0; first < rows; first += chunkRows) {
    const end = Math.min(rows, first + chunkRows)
    const some = columns.map((column, index): ChunkColumn => {
      if ('codes' in column) return { codes: column.codes.subarray(first, end) }
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
  if ('codes' in column) {
    for (let row = 0; row < column.codes.length; row += 1)
      if (chunk.code(field, row) !== column.codes[row]) return false
    return true
  }
  const { bytes, lengths } = column
  if (!chunk.hasTexts(field)) return areDecimals(chunk, field, column)
  const texts = chunk.texts(field)
  for (let row = 0, start = 0; row < lengths.length; row += 1) {
    const end = texts.ends[row] ?? 0
    const length = chunk.isNull(field, row) ? 0 : 1 + end - start
    if (length !== lengths[row]) return false
    start = end
  }
  return Buffer.compare(texts.bytes, bytes) === 0
}

function areDecimals(
  chunk: RowChunk,
  field: number,
  { bytes, lengths }: Exclude<ChunkColumn, { codes: unknown }>,
): boolean {
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
