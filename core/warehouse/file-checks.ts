import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import zlib from 'node:zlib'
import { parquetMetadata, type FileMetaData } from 'hyparquet'
import { chunksOf } from './hash.ts'

/**
 * Check sums of the pieces of a Parquet file, taken when it was whole, so that what a query has read can be looked at
 * again at little cost. DuckDB decodes a flipped bit to another value without an error more often than not.
 */
export interface FileChecks {
  readonly bytes: number
  /** What says where everything is. */
  readonly footer: Piece
  /** Names of the columns -> their place in a row group. */
  readonly columns: ReadonlyMap<string, number>
  readonly groups: readonly GroupChecks[]
}

interface GroupChecks {
  /** Numbers of its rows in the file, from `first` up to `end`, without it. */
  readonly first: number
  readonly end: number
  /** Of each column: its values, and what tells that it lacks one. */
  readonly values: readonly Piece[]
  readonly filters: readonly (Piece | null)[]
}

/** Some bytes of a file, and their CRC-32. */
export interface Piece {
  readonly start: number
  readonly length: number
  readonly sum: number
}

/** What a query reads of a file. */
export interface FileReading {
  /** Absolute path. */
  readonly file: string
  /** Whether it has rows of a group that are read. */
  readonly isRead: (first: number, end: number) => boolean
  readonly columns: readonly string[]
  /** Whether rows are looked for by their values. */
  readonly isFiltered: boolean
}

/** What is looked at without letting others have a turn. */
const turnBytesMax = 2_000_000

/** SHA-256 of a Parquet file's bytes, and the sums of its pieces, in one reading. */
export async function hashWithChecks(file: string): Promise<{ sha256: string; checks: FileChecks }> {
  const hash = createHash('sha256')
  const checks = await checksOf(file, (chunk) => hash.update(chunk))
  return { sha256: hash.digest('hex'), checks }
}

/**
 * The sums of the pieces of a Parquet file.
 *
 * @param pass is given all bytes, piece by piece, each time in the same memory
 */
export async function checksOf(file: string, pass?: (chunk: Uint8Array) => void): Promise<FileChecks> {
  const { bytes, footerStart, metadata } = await readFooter(file)
  const sums = new Map<number, number>()
  const starts = piecesOf(metadata, footerStart, bytes)
    .map(({ start, length }) => ({ start, end: start + length }))
    .toSorted((a, b) => a.start - b.start)
  let [at, piece] = [0, 0]
  for await (const chunk of chunksOf(file)) {
    pass?.(chunk)
    for (
      let next = starts[piece];
      next !== undefined && next.start < at + chunk.length;
      next = starts[piece]
    ) {
      const part = chunk.subarray(Math.max(0, next.start - at), Math.max(0, next.end - at))
      sums.set(next.start, zlib.crc32(part, sums.get(next.start) ?? 0))
      if (next.end > at + chunk.length) break
      piece += 1
    }
    at += chunk.length
  }
  return summedUp(metadata, footerStart, bytes, sums)
}

/**
 * Looks at what was read again, after it was read: what is whole then was whole before. The system has these bytes at
 * hand, since they were read a moment ago, so they are read here and now.
 *
 * @returns what is damaged, or null
 */
export async function damageIn(reading: FileReading, checks: FileChecks): Promise<string | null> {
  const { file, columns, isRead, isFiltered } = reading
  const places = columns.flatMap((name) => checks.columns.get(name) ?? [])
  const pieces = [checks.footer]
  for (const { first, end, values, filters } of checks.groups) {
    if (!isRead(first, end)) continue
    pieces.push(...places.flatMap((place) => values[place] ?? []))
    if (isFiltered) pieces.push(...places.flatMap((place) => filters[place] ?? []))
  }
  const descriptor = openSync(file, 'r')
  try {
    if (fstatSync(descriptor).size !== checks.bytes) return 'its size is another'
    let left = turnBytesMax
    for (const run of runsOf(pieces)) {
      if (left <= 0) {
        await setImmediate()
        left = turnBytesMax
      }
      left -= run.length
      if (!isWhole(descriptor, run)) return `its bytes from ${run.start} on have another sum`
    }
    return null
  } finally {
    closeSync(descriptor)
  }
}

/** Pieces that lie next to each other, read together. */
interface Run {
  readonly start: number
  length: number
  readonly pieces: Piece[]
}

function runsOf(pieces: readonly Piece[]): Run[] {
  const runs: Run[] = []
  for (const piece of pieces.toSorted((a, b) => a.start - b.start)) {
    const last = runs.at(-1)
    if (last !== undefined && last.start + last.length === piece.start && last.length < turnBytesMax) {
      last.pieces.push(piece)
      last.length += piece.length
    } else runs.push({ start: piece.start, length: piece.length, pieces: [piece] })
  }
  return runs
}

/** What is looked at: here and now, so that all may read into the same memory, and nothing is left to be collected. */
const looked = Buffer.allocUnsafeSlow(turnBytesMax)

function isWhole(descriptor: number, { start, length, pieces }: Run): boolean {
  if (length > looked.length) return pieces.every((piece) => sumIn(descriptor, piece) === piece.sum)
  if (!isFilled(descriptor, start, length)) return false
  return pieces.every((piece) => {
    const from = piece.start - start
    return zlib.crc32(looked.subarray(from, from + piece.length)) === piece.sum
  })
}

/** Of a piece of any length; null where it ends before. */
function sumIn(descriptor: number, { start, length }: Piece): number | null {
  let sum = 0
  for (let at = 0; at < length; at += looked.length) {
    const bytes = Math.min(looked.length, length - at)
    if (!isFilled(descriptor, start + at, bytes)) return null
    sum = zlib.crc32(looked.subarray(0, bytes), sum)
  }
  return sum
}

function isFilled(descriptor: number, start: number, length: number): boolean {
  for (let filled = 0; filled < length;) {
    const read = readSync(descriptor, looked, filled, length - filled, start + filled)
    if (read === 0) return false
    filled += read
  }
  return true
}

const magicBytes = 8

/** Read at first of a file's end; few footers are longer. */
const tailBytes = 64 * 1024

async function readFooter(
  file: string,
): Promise<{ bytes: number; footerStart: number; metadata: FileMetaData }> {
  const handle = await open(file, 'r')
  try {
    const { size } = await handle.stat()
    const readFrom = async (start: number): Promise<Buffer> => {
      const bytes = Buffer.alloc(size - start)
      await handle.read(bytes, 0, bytes.length, start)
      return bytes
    }
    const tailStart = Math.max(0, size - tailBytes)
    const tail = await readFrom(tailStart)
    const footerStart = size - magicBytes - tail.readUInt32LE(tail.length - magicBytes)
    if (footerStart < 0) throw new Error('it has no footer')
    const footer =
      footerStart < tailStart ? await readFrom(footerStart) : tail.subarray(footerStart - tailStart)
    return { bytes: size, footerStart, metadata: parquetMetadata(new Uint8Array(footer)) }
  } finally {
    await handle.close()
  }
}

type ByteRange = Pick<Piece, 'start' | 'length'>

function piecesOf(metadata: FileMetaData, footerStart: number, bytes: number): ByteRange[] {
  const pieces = metadata.row_groups.flatMap(({ columns }) =>
    columns.flatMap((column) => [valuesOf(column), filterOf(column) ?? []].flat()),
  )
  return [...pieces, { start: footerStart, length: bytes - footerStart }].filter(({ length }) => length > 0)
}

function summedUp(
  { row_groups: groups }: FileMetaData,
  footerStart: number,
  bytes: number,
  sums: ReadonlyMap<number, number>,
): FileChecks {
  const checked = (place: ByteRange): Piece => ({ ...place, sum: sums.get(place.start) ?? 0 })
  const names = groups[0]?.columns.map(({ meta_data: about }) => about?.path_in_schema.join('.') ?? '') ?? []
  let end = 0
  return {
    bytes,
    footer: checked({ start: footerStart, length: bytes - footerStart }),
    columns: new Map(names.map((name, index) => [name, index])),
    groups: groups.map(({ num_rows: rows, columns }) => {
      const first = end
      end += Number(rows)
      const filters = columns.map((column) => {
        const place = filterOf(column)
        return place === null ? null : checked(place)
      })
      return { first, end, values: columns.map((column) => checked(valuesOf(column))), filters }
    }),
  }
}

type Column = FileMetaData['row_groups'][number]['columns'][number]

function valuesOf({ meta_data: about }: Column): ByteRange {
  if (about === undefined) throw new Error('a column does not say where it is')
  const start = about.dictionary_page_offset ?? about.data_page_offset
  return { start: Number(start), length: Number(about.total_compressed_size) }
}

function filterOf({ meta_data: about }: Column): ByteRange | null {
  if (about?.bloom_filter_offset === undefined || about.bloom_filter_length === undefined) return null
  return { start: Number(about.bloom_filter_offset), length: about.bloom_filter_length }
}
