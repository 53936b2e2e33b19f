import path from 'node:path'
import zlib from 'node:zlib'
import { open, rm } from 'node:fs/promises'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../../core/sql.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import { inAlphabet, rowJson } from '../../../core/warehouse/format/row-json.ts'
import {
  type IndexedText,
  chunkRows,
  encodeIndex,
  encodeText,
  RowIndex,
  indexedChunks,
  indexedRows,
  inflateTexts,
  textBytesMax,
  textChunks,
} from '../../../core/warehouse/format/row-store.ts'
import { fileNames } from '../../../core/warehouse/layout.ts'
import { requireSame } from '../proof.ts'
import { LF } from '../../source/record.ts'
import type { WrittenPart, Conversion } from '../conversion.ts'
import { ChunkWriter } from './chunk-writer.ts'

/**
 * Writes the row stores of parts that have none, and reads them back.
 * @returns file names; null if the table has no row store
 * @throws TableFailure if a verification fails
 */
export async function writeRowStores(
  conversion: Conversion,
  folder: string,
  parts: readonly WrittenPart[],
  existingFiles: ReadonlySet<string>,
): Promise<string[] | null> {
  if (!conversion.table.hasRowStore || parts.length === 0) return null
  const names = parts.map((_, number) => fileNames.rowStore(number))
  for (const [number, part] of parts.entries()) {
    const name = names[number] ?? ''
    if (!existingFiles.has(name)) await writeRowStore(conversion, folder, part, name)
  }
  return names
}

/**
 * Writes the rows of a part as compressed texts, then an index for each `indexedChunks` texts; reads all
 * back.
 */
async function writeRowStore(
  conversion: Conversion,
  folder: string,
  part: WrittenPart,
  name: string,
): Promise<void> {
  const writer = await ChunkWriter.open(path.join(folder, name))
  try {
    const encodedIndexes: Buffer[] = []
    let [pendingTexts, rows, bytes]: [IndexedText[], number, number] = [[], 0, 0]
    for await (const texts of textsIn(linesOf(conversion, path.join(folder, part.file), part))) {
      await writer.add(texts.map(({ text }) => (text.length === 0 ? text : encodeText(text))))
      for (const { sum, ends } of texts) {
        pendingTexts.push({ sum, ends })
        rows += ends.length
        bytes += ends.at(-1) ?? 0
        if (pendingTexts.length < indexedChunks) continue
        encodedIndexes.push(encodeIndex(pendingTexts))
        pendingTexts = []
      }
    }
    requireSame('number of rows in the row store', part.rows, rows)
    if (pendingTexts.length > 0) encodedIndexes.push(encodeIndex(pendingTexts))
    await writer.add(encodedIndexes)
    requireSame('bytes of the row store', bytes, provenBytes(await writer.finish(), rows))
  } finally {
    await writer.close()
  }
}

async function* linesOf(conversion: Conversion, part: string, { file }: WrittenPart): AsyncGenerator<Buffer> {
  const fields = inAlphabet(conversion.fields.map(({ field }) => field))
  const from = `read_parquet(${quotedText(part)}, file_row_number = true) as part`
  const target = path.join(conversion.scratch, `${file}.json`)
  for (const { first, end } of await spansOf(conversion, from)) {
    await conversion.db
      .rows(`copy (select ${rowJson(fields)} from ${from} where file_row_number between ${first} and ${end - 1})
      to ${quotedText(target)} (format csv, header false, quote '', escape '')`)
    yield* blocksOf(target)
    await rm(target)
  }
}

const vectorRows = 2048
const valueBytes = 100
const memoryFactor = 20

interface Span {
  readonly first: number
  end: number
  /** True if all threads may render rows at the same time. */
  readonly hasShortTexts: boolean
}

/**
 * Divides the rows into spans that fit in memory: large ones for all threads or, where texts are long, small
 * ones for one thread.
 */
async function spansOf(conversion: Conversion, from: string): Promise<Span[]> {
  const texts = conversion.fields.flatMap(({ field }) =>
    typeRow(field.type).stored(field) === 'VARCHAR' ? [`coalesce(strlen(${quotedName(field.name)}), 0)`] : [],
  )
  const vectorSizes = await conversion.db.rows(
    `select min(file_row_number), count(*), sum(${['0', ...texts].join(' + ')})
      from ${from} group by file_row_number // ${vectorRows} order by 1`,
  )
  const [[threads, memory] = []] = await conversion.db.rows(
    `select current_setting('threads'), current_setting('memory_limit')`,
  )
  const bytesMax = bytesOf(String(memory)) / memoryFactor
  const spans: Span[] = []
  for (const vector of vectorSizes) {
    const [first = 0, rows = 0, textBytes = 0] = vector.map(Number)
    const bytes = textBytes + rows * conversion.fields.length * valueBytes
    if (bytes * Number(threads) <= bytesMax) {
      const last = spans.at(-1)
      if (last?.hasShortTexts === true) last.end = first + rows
      else spans.push({ first, end: first + rows, hasShortTexts: true })
      continue
    }
    // A span of fewer rows than a vector uses one thread.
    const rowsAtOnce = Math.max(1, Math.min(rows, Math.floor((rows * bytesMax) / bytes)))
    for (let start = first; start < first + rows; start += rowsAtOnce)
      spans.push({ first: start, end: Math.min(first + rows, start + rowsAtOnce), hasShortTexts: false })
  }
  return spans
}

function bytesOf(text: string): number {
  const [size = '', unit = ''] = text.split(' ')
  return Number(size) * 1024 ** Math.max(0, ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'].indexOf(unit))
}

/** Each block overwrites the one before. */
async function* blocksOf(file: string): AsyncGenerator<Buffer> {
  const handle = await open(file)
  try {
    const block = Buffer.allocUnsafe(blockBytes)
    for (;;) {
      const { bytesRead } = await handle.read(block, 0, blockBytes)
      if (bytesRead === 0) return
      yield block.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

const blockBytes = 1024 * 1024

interface RowsText extends IndexedText {
  readonly text: Buffer
}

/**
 * Reads a row store as the server does.
 * @returns size of all texts in bytes
 * @throws TableFailure if a text is not what its index describes
 */
function provenBytes(file: ChunkFile, rows: number): number {
  let bytes = 0
  for (let first = 0; first < rows; first += indexedRows) {
    const indexedCount = Math.min(indexedRows, rows - first)
    // Indexes follow the texts of all rows.
    const index = new RowIndex(file.read(textChunks(rows) + first / indexedRows), indexedCount)
    for (let textIndex = 0; textIndex < textChunks(indexedCount); textIndex += 1) {
      const size = index.size(textIndex)
      bytes += size
      const storedBytes = file.read(first / chunkRows + textIndex)
      // The store has no bytes of a larger text.
      if (size > textBytesMax) continue
      const inflated = inflateTexts(storedBytes, size)
      requireSame('texts of the row store', index.sum(textIndex), zlib.crc32(inflated.subarray(0, -1)))
      const end = Math.min(indexedCount, (textIndex + 1) * chunkRows)
      for (let row = textIndex * chunkRows; row < end; row += 1)
        if (inflated[index.start(row)] !== openBrace || inflated[index.end(row) - 1] !== comma)
          requireSame('rows of the row store', 'a row', `another text of row ${first + row}`)
    }
  }
  return bytes
}

const openBrace = '{'.charCodeAt(0)
const comma = ','.charCodeAt(0)

/**
 * Divides lines into texts of 25 rows, with commas instead of line feeds. Yields the texts that end in each
 * block.
 */
async function* textsIn(blocks: AsyncIterable<Buffer>): AsyncGenerator<RowsText[]> {
  let [pieces, bytes, ends]: [Buffer[], number, number[]] = [[], 0, []]
  const addPiece = (piece: Buffer): void => {
    bytes += piece.length
    // A text that is too large is only measured.
    if (bytes > textBytesMax) pieces = []
    else pieces.push(piece)
  }
  const finish = (): RowsText => {
    const [first = Buffer.alloc(0), ...furtherPieces] = pieces
    const text = furtherPieces.length === 0 ? first : Buffer.concat(pieces)
    const rowsText = { text, sum: zlib.crc32(text.subarray(0, -1)), ends }
    ;[pieces, bytes, ends] = [[], 0, []]
    return rowsText
  }
  for await (const block of blocks) {
    const texts: RowsText[] = []
    let start = 0
    for (let feed = block.indexOf(LF); feed !== -1; feed = block.indexOf(LF, feed + 1)) {
      block[feed] = comma
      ends.push(bytes + feed + 1 - start)
      if (ends.length < chunkRows) continue
      addPiece(block.subarray(start, feed + 1))
      start = feed + 1
      texts.push(finish())
    }
    yield texts
    addPiece(Buffer.from(block.subarray(start)))
  }
  if (ends.length > 0) yield [finish()]
}
