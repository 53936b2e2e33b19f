import { open, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { ColumnFacts } from './scan.ts'

/** Counts of our scanner, to be compared with DuckDB's reader. */
export interface Tally {
  readonly header: readonly string[]
  /** Null if the catalog names the columns. */
  readonly headerLine: number | null
  /** Null if the source has one file. */
  readonly headerFile: string | null
  readonly columns: readonly ColumnFacts[]
  readonly records: number
  /** Line feeds in values. */
  readonly valueLineFeeds: number
  /** Longest record so far, in bytes. */
  readonly longestRecordBytes: number
}

/** Consecutive records in plain form with the same columns. */
export interface Batch extends Tally {
  readonly pieces: readonly BatchPiece[]
  readonly before: number
}

interface BatchPiece {
  /** CSV with a first line c0, c1, ... */
  readonly file: string
  readonly constants: Constants
}

/** Values by field for all rows of a file, in the dialect of the source. */
export type Constants = ReadonlyMap<string, string>

export interface BatchTaker {
  readonly folder: string
  readonly bytes: number
  readonly take: (batch: Batch) => Promise<void>
}

const piecesMax = 64

/** Bytes for about a second of work, and little space on disk. */
export const batchBytesDefault = 128 * 1024 * 1024

const nothingTallied: Tally = {
  header: [],
  headerLine: null,
  headerFile: null,
  columns: [],
  records: 0,
  valueLineFeeds: 0,
  longestRecordBytes: 0,
}

/** Writes records to files, and passes them on as batches of limited size. */
export class BatchWriter {
  readonly #taker: BatchTaker
  readonly #delimiter: string
  #file: { readonly path: string; readonly handle: FileHandle } | null = null
  #pieces: BatchPiece[] = []
  #bytes = 0
  #count = 0
  #header: readonly string[] = []
  #constants: Constants = new Map()
  #sum: Tally = nothingTallied
  #before = 0
  #writing: Promise<void> = Promise.resolve()
  #taking: Promise<void> = Promise.resolve()

  constructor(taker: BatchTaker, delimiter: string) {
    this.#taker = taker
    this.#delimiter = delimiter
  }

  /**
   * @param tallyOf counts all records so far with the same columns
   * @returns whether the columns differ, so that counting restarts
   */
  async setColumns(header: readonly string[], constants: Constants, tallyOf: () => Tally): Promise<boolean> {
    const isAnother =
      JSON.stringify([header, [...constants.keys()]]) !==
      JSON.stringify([this.#header, [...this.#constants.keys()]])
    const isNext = JSON.stringify([...constants]) !== JSON.stringify([...this.#constants])
    if (isAnother || (isNext && this.#pieces.length >= piecesMax)) await this.#flushBatch(tallyOf)
    else if (isNext) await this.#endPiece()
    if (isAnother) this.#sum = nothingTallied
    this.#header = header
    this.#constants = constants
    return isAnother
  }

  /**
   * @param records complete records
   * @param tallyOf counts all records so far with the same columns, including these
   */
  async write(records: Buffer, tallyOf: () => Tally): Promise<void> {
    // Waits for the previous write only, so that the disk works during reading.
    await this.#writing
    this.#file ??= await this.#begin()
    this.#bytes += records.length
    this.#writing = withHandledRejection(this.#file.handle.writeFile(records))
    if (this.#bytes >= this.#taker.bytes) await this.#flushBatch(tallyOf)
  }

  /** Passes the last batch on, even without records, and waits for all work. */
  async end(tallyOf: () => Tally): Promise<void> {
    if (this.#count === 0) await this.write(Buffer.alloc(0), tallyOf)
    await this.#flushBatch(tallyOf)
    await this.#taking
  }

  /** Waits for unfinished work, so that nothing uses the folder when it is removed. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#taking])
    await this.#file?.handle.close()
    this.#file = null
  }

  /** Without this line, a reader would take U+FEFF at the start of the first value for a byte order mark. */
  #head(): Buffer {
    return Buffer.from(`${this.#header.map((_, index) => `c${index}`).join(this.#delimiter)}\n`)
  }

  async #begin(): Promise<{ path: string; handle: FileHandle }> {
    const file = path.join(this.#taker.folder, `plain-${this.#count}.csv`)
    this.#count += 1
    this.#pieces.push({ file, constants: this.#constants })
    const handle = await open(file, 'w')
    await handle.writeFile(this.#head())
    return { path: file, handle }
  }

  async #endPiece(): Promise<void> {
    await this.#writing
    await this.#file?.handle.close()
    this.#file = null
  }

  async #flushBatch(tallyOf: () => Tally): Promise<void> {
    await this.#endPiece()
    if (this.#pieces.length === 0) return
    const tally = tallyOf()
    const batch = { ...difference(tally, this.#sum), pieces: this.#pieces, before: this.#before }
    this.#bytes = 0
    this.#pieces = []
    this.#sum = tally
    this.#before += batch.records
    await this.#taking
    this.#taking = withHandledRejection(this.#taker.take(batch))
  }
}

function difference(totals: Tally, before: Tally): Tally {
  return {
    header: totals.header,
    headerLine: totals.headerLine,
    headerFile: totals.headerFile,
    columns: totals.columns.map(({ filled, bytes }, index) => ({
      filled: filled - (before.columns[index]?.filled ?? 0),
      bytes: bytes - (before.columns[index]?.bytes ?? 0),
    })),
    records: totals.records - before.records,
    valueLineFeeds: totals.valueLineFeeds - before.valueLineFeeds,
    longestRecordBytes: totals.longestRecordBytes,
  }
}

/** Keeps Node from reporting a rejection before the work is awaited. */
function withHandledRejection(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}
