import type { PiecewiseFile } from '../../../core/warehouse/manifest.ts'
import {
  chunkRows,
  indexedChunks,
  indexedRows,
  inflateTexts,
  RowIndex,
  storeChunks,
  textChunks,
} from '../../../core/warehouse/format/row-store.ts'
import type { EventLoopYielder } from '../../base/queue.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import { chunkFileOf } from '../indexes/chunk-file.ts'
import { partOf } from './plan.ts'

/** Reading such a gap costs no more than a separate read. */
const gapBytesMax = 4096
const runBytesMax = 100_000
/** A larger buffer comes from the system, which takes as long to clear its memory as zlib to fill it. */
const inflatedBytesMax = 128_000

const rowTextMax = 500_000
const indexesMax = 100

/** Consecutive rows of one text chunk. */
export interface Slice {
  readonly part: number
  readonly chunk: number
  /** First row, and the row after the last one, in the part. */
  readonly from: number
  readonly to: number
  readonly isWhole: boolean
}

/** Rows that are consecutive in memory, with a comma after each. */
export interface Text {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

export class StoredRows {
  readonly #snapshot: Snapshot
  readonly #stores: readonly PiecewiseFile[]
  readonly #files: (ChunkFile | undefined)[] = []
  readonly #indexes = new Map<number, RowIndex>()
  readonly #chunks = new Map<number, Buffer>()
  readonly #texts = new Map<number, Text>()

  constructor(snapshot: Snapshot, stores: readonly PiecewiseFile[]) {
    this.#snapshot = snapshot
    this.#stores = stores
  }

  slices(positions: Uint32Array): Slice[] {
    const { parts } = this.#snapshot.manifest
    const slices: Slice[] = []
    for (let index = 0; index < positions.length;) {
      const position = positions[index] ?? 0
      const part = partOf(parts, position)
      const { firstRow = 0, rows = 0 } = parts[part] ?? {}
      const from = position - firstRow
      const chunk = Math.floor(from / chunkRows)
      const end = Math.min(rows, (chunk + 1) * chunkRows)
      let to = from + 1
      for (index += 1; to < end && positions[index] === firstRow + to; index += 1) to += 1
      slices.push({ part, chunk, from, to, isWhole: from % chunkRows === 0 && to === end })
    }
    return slices
  }

  /**
   * Reads nearby chunks together, and inflates several runs in one call, since zlib takes longer to begin
   * than to inflate a chunk.
   * @throws DamagedTable
   */
  async load(
    slices: readonly Slice[],
    yielder: EventLoopYielder,
    needsText: (slice: Slice) => boolean = () => true,
  ): Promise<void> {
    const keysOfTexts = new Set(slices.filter(needsText).map(keyOf))
    const byChunk = new Map(slices.map((slice) => [keyOf(slice), slice]))
    const chunks = [...byChunk.values()].toSorted((a, b) => keyOf(a) - keyOf(b))
    let [pending, inflatedBytes]: [Slice[], number] = [[], 0]
    for (const run of this.#runsOf(chunks)) {
      await yielder.next()
      this.#read(run)
      for (const slice of run) {
        if (!keysOfTexts.has(keyOf(slice))) continue
        const size = this.chunkSize(slice)
        if (inflatedBytes + size > inflatedBytesMax) {
          this.#inflate(pending)
          ;[pending, inflatedBytes] = [[], 0]
        }
        pending.push(slice)
        inflatedBytes += size
      }
    }
    this.#inflate(pending)
  }

  *#runsOf(slices: readonly Slice[]): Generator<Slice[]> {
    let run: Slice[] = []
    let [start, end] = [0, 0]
    for (const slice of slices) {
      const location = this.#file(slice.part).locate(slice.chunk)
      const isNear =
        run[0]?.part === slice.part &&
        location.start - end <= gapBytesMax &&
        location.start - start <= runBytesMax
      if (!isNear) {
        if (run.length > 0) yield run
        run = []
        ;({ start } = location)
      }
      run.push(slice)
      end = location.start + location.length
    }
    if (run.length > 0) yield run
  }

  #read(run: readonly Slice[]): void {
    const file = this.#file(run[0]?.part ?? 0)
    const chunks = file.readTogether(run.map(({ chunk }) => file.locate(chunk)))
    for (const [index, slice] of run.entries()) {
      const bytes = chunks[index]
      if (bytes !== undefined) this.#chunks.set(keyOf(slice), bytes)
    }
  }

  size(slice: Slice): number {
    const [index, row] = this.#index(slice)
    return index.end(row + slice.to - slice.from - 1) - index.start(row)
  }

  chunkSize(slice: Slice): number {
    return this.#index(slice)[0].size(slice.chunk % indexedChunks)
  }

  text(slice: Slice): Text {
    const text = this.#texts.get(keyOf(slice))
    if (text === undefined) throw new RangeError('a text was not read')
    const [index, row] = this.#index(slice)
    const start = text.start + index.start(row)
    return { bytes: text.bytes, start, end: start + this.size(slice) }
  }

  /** Ends of rows in the text, after their commas. */
  ends(slice: Slice): number[] {
    const [index, row] = this.#index(slice)
    const shift = this.text(slice).start - index.start(row)
    return Array.from({ length: slice.to - slice.from }, (_, place) => shift + index.end(row + place))
  }

  /** Stored bytes of a loaded chunk, and CRC-32 of its text without its last comma. */
  stored(slice: Slice): { readonly bytes: Buffer; readonly sum: number } {
    const bytes = this.#chunks.get(keyOf(slice))
    if (bytes === undefined) throw new RangeError('a chunk was not read')
    return { bytes, sum: this.#index(slice)[0].sum(slice.chunk % indexedChunks) }
  }

  /**
   * Null if the row is not stored, or its chunk is too large for many single reads.
   * @throws DamagedTable
   */
  row(position: number): Text | null {
    const [slice] = this.slices(Uint32Array.of(position))
    if (slice === undefined) return null
    if (this.#indexes.size > indexesMax) this.#indexes.clear()
    const size = this.chunkSize(slice)
    if (size > rowTextMax) return null
    const bytes = inflateTexts(this.#file(slice.part).read(slice.chunk), size)
    const [index, row] = this.#index(slice)
    return { bytes, start: index.start(row), end: index.end(row) }
  }

  #inflate(group: readonly Slice[]): void {
    if (group.length === 0) return
    const sizes = group.map((slice) => this.chunkSize(slice))
    const bytes = inflateTexts(
      Buffer.concat(group.map((slice) => this.stored(slice).bytes)),
      sizes.reduce((sum, size) => sum + size, 0),
    )
    let start = 0
    for (const [index, slice] of group.entries()) {
      const end = start + (sizes[index] ?? 0)
      this.#texts.set(keyOf(slice), { bytes, start, end })
      start = end
    }
  }

  #file(part: number): ChunkFile {
    const store = this.#stores[part]
    if (store === undefined) throw new RangeError(`there is no row store of part ${part}`)
    return (this.#files[part] ??= chunkFileOf(this.#snapshot, store, storeChunks(this.#rows(part))))
  }

  #index({ part, chunk, from }: Slice): [index: RowIndex, rowInIndex: number] {
    const indexNumber = Math.floor(chunk / indexedChunks)
    const key = keyOf({ part, chunk: indexNumber })
    const rowInIndex = from - indexNumber * indexedRows
    const storedIndex = this.#indexes.get(key)
    if (storedIndex !== undefined) return [storedIndex, rowInIndex]
    const rows = this.#rows(part)
    const bytes = this.#file(part).read(textChunks(rows) + indexNumber)
    const index = new RowIndex(bytes, Math.min(indexedRows, rows - indexNumber * indexedRows))
    this.#indexes.set(key, index)
    return [index, rowInIndex]
  }

  #rows(part: number): number {
    return this.#snapshot.manifest.parts[part]?.rows ?? 0
  }
}

function keyOf({ part, chunk }: Pick<Slice, 'part' | 'chunk'>): number {
  return part * 2 ** 32 + chunk
}
