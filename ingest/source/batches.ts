import { open, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { ColumnFacts } from './scan.ts'

/** What our scanner counted, without DuckDB. */
export interface Tally {
  readonly header: readonly string[]
  readonly columns: readonly ColumnFacts[]
  readonly records: number
  /** Line feeds in values. */
  readonly breaks: number
}

/** Records that follow each other, in their plain form. */
export interface Batch extends Tally {
  /** Of CSV, with a first line c0, c1, ... */
  readonly file: string
  /** Records of the source before it. */
  readonly before: number
}

/** What takes the batches of a source, one after the other; the next one is read meanwhile. */
export interface BatchTaker {
  /** Where they are written. */
  readonly folder: string
  /** Size from which on a batch is handed over. */
  readonly bytes: number
  readonly take: (batch: Batch) => Promise<void>
}

/** Of text: a second of work for either side, and little to keep on disk. */
export const batchBytesDefault = 128 * 1024 * 1024

/** Writes records to files and hands each over when it is full. */
export class BatchWriter {
  readonly #taker: BatchTaker
  readonly #delimiter: string
  #file: { readonly path: string; readonly handle: FileHandle } | null = null
  #bytes = 0
  #count = 0
  /** Of all batches so far. */
  #sum: Tally = { header: [], columns: [], records: 0, breaks: 0 }
  #writing: Promise<void> = Promise.resolve()
  #taking: Promise<void> = Promise.resolve()

  constructor(taker: BatchTaker, delimiter: string) {
    this.#taker = taker
    this.#delimiter = delimiter
  }

  /**
   * @param records whole ones
   * @param tallyOf counts all records so far, these included
   */
  async write(records: Buffer, tallyOf: () => Tally): Promise<void> {
    // One write behind, so that the disk works while the next records are read.
    await this.#writing
    this.#file ??= await this.#begin()
    const bytes = this.#bytes === 0 ? Buffer.concat([this.#head(tallyOf()), records]) : records
    this.#bytes += bytes.length
    this.#writing = heard(this.#file.handle.writeFile(bytes))
    if (this.#bytes >= this.#taker.bytes) await this.#handOver(tallyOf())
  }

  /** Hands the last batch over, which may be without records, and waits until all are taken. */
  async end(tally: Tally): Promise<void> {
    if (this.#count === 0 && this.#file === null) await this.write(Buffer.alloc(0), () => tally)
    if (this.#file !== null) await this.#handOver(tally)
    await this.#taking
  }

  /** After a fault: nothing is at work any more when the folder is removed. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#writing, this.#taking])
    await this.#file?.handle.close()
    this.#file = null
  }

  /** A first line, since the reader of a file takes U+FEFF at its start for a mark, not a value. */
  #head({ header }: Tally): Buffer {
    return Buffer.from(`${header.map((_, index) => `c${index}`).join(this.#delimiter)}\n`)
  }

  async #begin(): Promise<{ path: string; handle: FileHandle }> {
    const file = path.join(this.#taker.folder, `plain-${this.#count}.csv`)
    this.#count += 1
    return { path: file, handle: await open(file, 'w') }
  }

  async #handOver(tally: Tally): Promise<void> {
    const file = this.#file
    if (file === null) return
    await this.#writing
    await file.handle.close()
    this.#file = null
    this.#bytes = 0
    const batch = { ...difference(tally, this.#sum), file: file.path, before: this.#sum.records }
    this.#sum = tally
    await this.#taking
    this.#taking = heard(this.#taker.take(batch))
  }
}

function difference(all: Tally, before: Tally): Tally {
  return {
    header: all.header,
    columns: all.columns.map(({ filled, bytes }, index) => ({
      filled: filled - (before.columns[index]?.filled ?? 0),
      bytes: bytes - (before.columns[index]?.bytes ?? 0),
    })),
    records: all.records - before.records,
    breaks: all.breaks - before.breaks,
  }
}

/** What is awaited later: a fault until then must not count as unheard. */
function heard(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}
