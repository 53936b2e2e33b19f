import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
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

/**
 * Writes all rows, in the declared order, as one gzipped CSV: a header, null as nothing, an empty text as "".
 * While one part is packed the next is written out.
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
  async function* texts(): AsyncGenerator<Buffer> {
    let next = renderPart(work, folder, parts, 0)
    for (const index of parts.length === 0 ? [0] : parts.keys()) {
      const file = await next
      next = index + 1 < parts.length ? renderPart(work, folder, parts, index + 1) : Promise.resolve(file)
      // Awaited in the next round; a fault until then must not count as unheard.
      next.catch(() => undefined)
      for await (const chunk of createReadStream(file, { highWaterMark: chunkBytes })) {
        lines += lineFeeds(chunk as Buffer)
        yield chunk as Buffer
      }
      await rm(file)
      done += parts[index]?.rows ?? 0
      progress.advance({ fraction: done / Math.max(1, rows), rows: done })
    }
  }
  const target = path.join(folder, layout.download(work.table))
  // What waits is packed by another thread while the next is read.
  const waiting = { writableHighWaterMark: 8 * chunkBytes, readableHighWaterMark: chunkBytes }
  const gzip = createGzip({ level: gzipLevel, chunkSize: chunkBytes, ...waiting })
  await pipeline(texts, gzip, createWriteStream(target))
  const expected = rows + (await breaksIn(work, folder, parts))
  if (lines === expected) return
  throw new TableFailure(
    `the proof of the download failed: it has ${lines} lines, and ${expected} are due; nothing was published`,
  )
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
): Promise<string> {
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
  return file
}
