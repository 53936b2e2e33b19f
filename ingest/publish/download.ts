import { constants, createReadStream, createWriteStream } from 'node:fs'
import { copyFile, rm, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import zlib from 'node:zlib'
import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { inOrder } from '../../core/in-order.ts'
import {
  gzipHeader,
  gzipTrailer,
  sectionStart,
  type GzipSection,
} from '../../core/warehouse/format/gzip-sections.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import { quotedCsv, quotedText } from '../../core/sql.ts'
import { type DuePart, numberOf, sortedRowsSql, sortedSql, type Conversion } from '../convert/conversion.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import { encodeRecord, LF, type Marks } from '../source/record.ts'

/** Higher levels take twice the time, and make files only 5 % smaller. */
const gzipLevel = 4
const chunkBytes = 1024 * 1024
const marks: Marks = { delimiter: ','.charCodeAt(0), quote: '"'.charCodeAt(0) }

/** Concurrent pieces: DuckDB writes one while threads compress others. */
const atOnceMax = 3

/**
 * Writes all rows as one gzipped CSV: a header, null as empty, an empty text as "". The header and each part
 * are sections of one gzip member, compressed concurrently: some clients read only the first member.
 * @param conversion has the rows that are not reused
 * @param hasBreaks whether values have line feeds
 * @returns the section of the header, then of each part
 * @throws TableFailure if the number of lines differs from that of rows and of line feeds in values
 */
export async function writeDownload(
  conversion: Conversion,
  folder: string,
  parts: readonly (DuePart | PreviousSection)[],
  hasBreaks: boolean,
  progress: Progress,
): Promise<GzipSection[]> {
  const target = path.join(folder, fileNames.download(conversion.table))
  const dueParts = parts.filter((part): part is DuePart => !('section' in part))
  const rows = dueParts.reduce((sum, part) => sum + part.rows, 0)
  let [lines, writtenRows] = [0, 0]
  const names = encodeRecord(
    conversion.fields.map(({ field }) => field.name),
    marks,
  )
  const header = zlib.deflateRawSync(names, { finishFlush: zlib.constants.Z_FULL_FLUSH })
  const beginning = Buffer.concat([gzipHeader, header])
  const leading = await leadingSections(parts, beginning.length)
  const sections: GzipSection[] = [
    [header.length, names.length, zlib.crc32(names)],
    ...leading.map(({ section }) => section),
  ]
  /** Yields the bytes that the target lacks: sections after the leading ones, then the trailer. */
  async function* bytesAfterLeading(): AsyncGenerator<Buffer> {
    if (leading.length === 0) yield beginning
    const pieces = packedInOrder(conversion, dueParts)
    try {
      for (const part of parts.slice(leading.length)) {
        if ('section' in part) {
          const { file, start, section } = part
          sections.push(section)
          yield* chunksOf(file, { start, end: start + section[0] - 1 })
          continue
        }
        const next = await pieces.next()
        if (next.done === true) throw new Error('a piece of the download is missing')
        const piece: Piece = next.value
        let packedBytes = 0
        for await (const chunk of chunksOf(piece.file)) {
          packedBytes += chunk.length
          yield chunk
        }
        sections.push([packedBytes, piece.bytes, piece.crc32])
        await rm(piece.file)
        lines += piece.lines
        writtenRows += piece.rows
        progress.advance({ fraction: writtenRows / rows, rows: writtenRows })
      }
      yield gzipTrailer(sections)
    } finally {
      await pieces.return(undefined)
    }
  }
  if (leading[0] !== undefined) await copyBeginning(leading[0].file, target, sectionsEnd(sections))
  await pipeline(bytesAfterLeading, createWriteStream(target, { flags: leading.length === 0 ? 'wx' : 'a' }))
  const { size } = await stat(target)
  const sizeExpected = sectionsEnd(sections) + gzipTrailer([]).length
  if (size !== sizeExpected)
    throw new TableFailure(
      `verification of the download failed: it has ${size} bytes instead of ${sizeExpected}; nothing was published`,
    )
  const expectedLines = rows + (await breaksIn(conversion, hasBreaks))
  if (lines === expectedLines) return sections
  throw new TableFailure(
    `verification of the download failed: its rows have ${lines} lines instead of ${expectedLines}; nothing was published`,
  )
}

export interface PreviousSection {
  readonly file: string
  readonly start: number
  readonly section: GzipSection
}

const sectionsEnd = (sections: readonly GzipSection[]): number => sectionStart(sections, sections.length)

async function leadingSections(
  parts: readonly (DuePart | PreviousSection)[],
  firstAt: number,
): Promise<PreviousSection[]> {
  const leading: PreviousSection[] = []
  let offset = firstAt
  for (const part of parts) {
    if (!('section' in part) || part.start !== offset) break
    leading.push(part)
    offset += part.section[0]
  }
  return leading[0] !== undefined && offset > (await stat(leading[0].file)).size / 2 ? leading : []
}

/** A system copy is far cheaper than a stream, and a clone is nearly free. */
async function copyBeginning(file: string, target: string, bytes: number): Promise<void> {
  await copyFile(file, target, constants.COPYFILE_FICLONE)
  await truncate(target, bytes)
}

async function* chunksOf(file: string, range: { start?: number; end?: number } = {}): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(file, { ...range, highWaterMark: chunkBytes }))
    yield chunk as Buffer
}

interface Rendered {
  readonly file: string
  readonly rows: number
}

interface Piece extends Rendered {
  readonly lines: number
  /** Uncompressed. */
  readonly bytes: number
  /** CRC-32 of the uncompressed bytes. */
  readonly crc32: number
}

function packedInOrder(conversion: Conversion, parts: readonly DuePart[]): AsyncGenerator<Piece> {
  let lastRendering: Promise<unknown> = Promise.resolve()
  return inOrder(parts, atOnceMax, async (part, stop) => {
    // One after the other, since a connection runs one statement at a time.
    const rendering = lastRendering.then(() => {
      stop.throwIfAborted()
      return render(conversion, part)
    })
    lastRendering = rendering.catch(() => undefined)
    return deflatePiece(await rendering)
  })
}

/** Compresses a file of rows and removes it. Pieces end with a full flush, so that they can be joined. */
async function deflatePiece({ file, rows }: Rendered): Promise<Piece> {
  let [lines, bytes, crc32] = [0, 0, 0]
  const count = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => {
      lines += lineFeeds(chunk)
      bytes += chunk.length
      crc32 = zlib.crc32(chunk, crc32)
      done(null, chunk)
    },
  })
  const deflate = zlib.createDeflateRaw({
    level: gzipLevel,
    chunkSize: chunkBytes,
    finishFlush: zlib.constants.Z_FULL_FLUSH,
  })
  const input = createReadStream(file, { highWaterMark: chunkBytes })
  await pipeline(input, count, deflate, createWriteStream(`${file}.deflate`))
  await rm(file)
  return { file: `${file}.deflate`, rows, lines, bytes, crc32 }
}

async function breaksIn(conversion: Conversion, hasBreaks: boolean): Promise<number> {
  // A constant column may have line breaks even if the files have none.
  const canHave = hasBreaks || conversion.fields.some(({ column }) => column === null)
  const texts = conversion.fields.flatMap(({ field }, index) => (isQuoted(field) ? [`f${index}`] : []))
  if (!canHave || texts.length === 0) return 0
  const counts = texts.map(
    (text) => `coalesce(sum(length(${text}) - length(replace(${text}, chr(10), ''))), 0)`,
  )
  const [row] = await conversion.db.rows(`select ${counts.join(' + ')} from ${sortedSql(conversion)}`)
  return numberOf(row?.[0])
}

function lineFeeds(chunk: Buffer): number {
  let count = 0
  for (let offset = chunk.indexOf(LF); offset !== -1; offset = chunk.indexOf(LF, offset + 1)) count += 1
  return count
}

async function render(conversion: Conversion, { file, sortedRow, rows }: DuePart): Promise<Rendered> {
  const target = path.join(conversion.scratch, `${file}.csv`)
  const values = conversion.fields.map(({ field }, index) => {
    const text = typeRow(field.type).csv(`f${index}`)
    return isQuoted(field) ? quotedCsv(text, ',') : text
  })
  await conversion.db
    .rows(`copy (select concat(${values.join(`, ',', `)}) from ${sortedRowsSql(conversion, sortedRow, rows)})
    to ${quotedText(target)} (format csv, header false, quote '', escape '')`)
  return { file: target, rows }
}

const isQuoted = ({ type }: Field): boolean => typeRow(type).isQuotedInCsv
