import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { layout } from '../../core/warehouse/layout.ts'
import { quotedName, quotedText } from '../../core/warehouse/sql.ts'
import { numberOf, type Work, type WrittenPart } from '../convert/convert.ts'
import type { Progress } from '../progress.ts'
import { TableFailure } from '../rejects.ts'
import { LF } from '../source/record.ts'

/** Levels above cost twice the time for a twentieth of the size, measured on tables of 3 and 18 fields. */
const gzipLevel = 4
const chunkBytes = 1024 * 1024

/** Parts in work at the same time: one is written out by DuckDB while others are packed, each by a thread. */
const atOnceMax = 3

/**
 * Writes all rows, in the declared order, as one gzipped CSV: a header, null as nothing, an empty text as "". Each part is
 * a gzip member of its own, so that several are packed at the same time.
 *
 * @throws TableFailure where it has other lines than the parts have rows and line feeds in values
 */
export async function writeDownload(
  work: Work,
  folder: string,
  parts: readonly WrittenPart[],
  progress: Progress,
): Promise<void> {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  let [lines, done] = [0, 0]
  async function* members(): AsyncGenerator<Buffer> {
    for await (const piece of packedInOrder(work, folder, parts)) {
      for await (const chunk of createReadStream(piece.file, { highWaterMark: chunkBytes }))
        yield chunk as Buffer
      await rm(piece.file)
      lines += piece.lines
      done += piece.rows
      progress.advance({ fraction: done / Math.max(1, rows), rows: done })
    }
  }
  await pipeline(members, createWriteStream(path.join(folder, layout.download(work.table))))
  const expected = rows + (await breaksIn(work, folder, parts))
  if (lines === expected) return
  throw new TableFailure(
    `the proof of the download failed: it has ${lines} lines, and ${expected} are due; nothing was published`,
  )
}

/** A part as a gzip member. */
interface Piece {
  readonly file: string
  readonly rows: number
  readonly lines: number
}

async function* packedInOrder(
  work: Work,
  folder: string,
  parts: readonly WrittenPart[],
): AsyncGenerator<Piece> {
  const waiting: Promise<Piece>[] = []
  const count = Math.max(1, parts.length)
  let lastRendering: Promise<unknown> = Promise.resolve()
  try {
    for (let next = 0, taken = 0; taken < count; taken += 1) {
      for (; next < count && waiting.length < atOnceMax; next += 1) {
        const index = next
        // One after the other, since the connection runs one statement at a time.
        const rendering = lastRendering.then(() => renderPart(work, folder, parts, index))
        lastRendering = rendering.catch(() => undefined)
        const packing = rendering.then(packPiece)
        // Awaited in its turn; a fault until then must not count as unheard.
        packing.catch(() => undefined)
        waiting.push(packing)
      }
      const piece = waiting.shift()
      if (piece !== undefined) yield await piece
    }
  } finally {
    // Nothing may be at work any more when the database is closed and the folder removed.
    await Promise.allSettled([lastRendering, ...waiting])
  }
}

async function packPiece({ file, rows }: { file: string; rows: number }): Promise<Piece> {
  let lines = 0
  const count = new Transform({
    highWaterMark: chunkBytes,
    transform: (chunk: Buffer, _encoding, done) => {
      lines += lineFeeds(chunk)
      done(null, chunk)
    },
  })
  const gzip = createGzip({ level: gzipLevel, chunkSize: chunkBytes })
  const input = createReadStream(file, { highWaterMark: chunkBytes })
  await pipeline(input, count, gzip, createWriteStream(`${file}.gz`))
  await rm(file)
  return { file: `${file}.gz`, rows, lines }
}

/** Line feeds in the header and in values. */
async function breaksIn(work: Work, folder: string, parts: readonly WrittenPart[]): Promise<number> {
  const ofHeader = work.fields.reduce((sum, { field }) => sum + field.name.split('\n').length - 1, 1)
  const texts = work.fields.filter(({ field }) => field.type === 'string' || field.type === 'text')
  const canHave = work.hasBreaks || work.fields.some(({ constant }) => constant?.includes('\n'))
  if (!canHave || parts.length === 0 || texts.length === 0) return ofHeader
  const counts = texts.map(({ field }) => {
    const name = quotedName(field.name)
    return `coalesce(sum(length(${name}) - length(replace(${name}, chr(10), ''))), 0)`
  })
  const files = parts.map(({ file }) => quotedText(path.join(folder, file)))
  const [row] = await work.db.rows(`select ${counts.join(' + ')} from read_parquet([${files.join(', ')}])`)
  return ofHeader + numberOf(row?.[0])
}

function lineFeeds(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) count += 1
  return count
}

/** One part as CSV, the first with the header. */
async function renderPart(
  work: Work,
  folder: string,
  parts: readonly WrittenPart[],
  index: number,
): Promise<{ file: string; rows: number }> {
  const file = path.join(work.scratch, `download-${index}.csv`)
  const part = parts[index]
  const columns = work.fields.map(({ field }) => {
    const name = quotedName(field.name)
    return field.type === 'datetime' ? `replace(${name}::varchar, ' ', 'T') as ${name}` : name
  })
  const empty = work.fields.map(({ field }) => `null as ${quotedName(field.name)}`)
  const select =
    part === undefined
      ? `select ${empty.join(', ')} limit 0`
      : `select ${columns.join(', ')} from read_parquet(${quotedText(path.join(folder, part.file))})`
  await work.db
    .rows(`copy (${select}) to ${quotedText(file)} (format csv, header ${index === 0}, delimiter ',',
    quote '"', escape '"', nullstr '')`)
  return { file, rows: part?.rows ?? 0 }
}
