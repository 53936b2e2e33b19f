import { tableId } from '../../core/catalog/catalog.ts'
import type { Pool, Timing } from '../engine/pool.ts'
import { SingleFlight } from '../concurrency/single-flight.ts'
import { TooLarge } from '../engine/errors.ts'
import type { LineForm } from '../formats/format.ts'
import { Kept, type KeptStats } from '../kept.ts'
import { blockAfter, wholeOf, type BlockName, type Cut } from './cuts.ts'
import type { PackedRows } from './packed-rows.ts'
import { planRows } from './plan.ts'
import type { Requester } from '../engine/requester.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** Consecutive rows of a snapshot as texts, with the separator of their format between. */
interface Block {
  readonly bytes: Uint8Array
  /** Length of what stands between two rows. */
  readonly between: number
  /** Where each row ends in the bytes. */
  readonly ends: Uint32Array
  /** What it took to read it. */
  readonly timing: Timing
}

/** Some rows of a block, without a copy. */
function rowsOf(block: Block, first: number, rows: number): Uint8Array {
  return block.bytes.subarray(startOf(block, first), block.ends[first + rows - 1])
}

/** The rows of a cut, and what it took to read them now. */
export interface ReadRows {
  readonly bytes: Uint8Array
  readonly timing: Timing
}

/**
 * Blocks by their name. A snapshot never changes, so a block never needs to be thrown away but for room: the one
 * that was not used for longest goes first.
 */
export class Blocks {
  readonly #pool: Pool
  readonly #packed: PackedRows
  readonly #kept: Kept<Block>
  readonly #flights = new SingleFlight<Block>()
  /** Where rows that were read begin and end: whoever goes on there is on a walk. Each counts one. */
  readonly #borders = new Kept<Cut>(bordersMax, () => 1)

  /** @param bytes bound of all blocks together; 0 keeps none */
  constructor(pool: Pool, packed: PackedRows, bytes: number) {
    this.#pool = pool
    this.#packed = packed
    this.#kept = new Kept(bytes, sizeOf)
  }

  get stats(): KeptStats {
    return this.#kept.stats
  }

  /** The rows of a cut whose block is at hand, at no cost. */
  kept(snapshot: Snapshot, form: LineForm, cut: Cut): Uint8Array | null {
    const block = this.#kept.get(keyOf(snapshot, form, cut))
    return block === undefined ? null : rowsOf(block, cut.first, cut.rows)
  }

  /**
   * Reads the block of a cut, once for all who want it at the same time; or the rows of the cut alone, where they are few
   * and no walk comes to them, or where a block of unusually long rows does not fit into memory.
   *
   * @throws QueueFull, QueryTimeout or TooLarge
   */
  async read(snapshot: Snapshot, form: LineForm, cut: Cut, requester: Requester): Promise<ReadRows> {
    const { client } = requester
    const signal = requester.signal()
    const alone = async (): Promise<ReadRows> =>
      (await this.#fromPacks(snapshot, form, cut, requester)) ??
      this.#query(snapshot, form, cut, client, signal)
    if (!this.#kept.isKeeping) return alone()
    const isOnWalk = this.#follow(snapshot, form, cut)
    if (!isOnWalk && cut.rows <= wholeOf(snapshot, cut).rows * aloneMax) return alone()
    try {
      const block = await this.#block(snapshot, form, cut, client, signal)
      return { bytes: rowsOf(block, cut.first, cut.rows), timing: block.timing }
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error
      return alone()
    }
  }

  async #fromPacks(
    snapshot: Snapshot,
    form: LineForm,
    cut: Cut,
    requester: Requester,
  ): Promise<ReadRows | null> {
    const { parts } = snapshot.manifest
    const first = (parts[cut.part]?.firstRow ?? 0) + cut.block * snapshot.blockRows + cut.first
    const places = Uint32Array.from({ length: cut.rows }, (_, row) => first + row)
    return this.#packed.read(snapshot, form, { packs: null, places }, requester)
  }

  /** Notes where a cut lies, and says whether a walk has come to it: forwards, backwards, or where the block is being read. */
  #follow(snapshot: Snapshot, form: LineForm, cut: Cut): boolean {
    const key = keyOf(snapshot, form, cut)
    const borders = [cut.first, cut.first + cut.rows].map((row) => `${key} ${row}`)
    const isKnown = this.#flights.has(key) || borders.some((border) => this.#borders.has(border))
    for (const border of borders) this.#borders.set(border, cut)
    return isKnown
  }

  /**
   * Reads what a walk comes to next, where nobody waits for a connection: two blocks in one statement, since most of
   * its cost is that of a row group, however few rows are taken.
   */
  prefetch(snapshot: Snapshot, form: LineForm, name: BlockName): void {
    if (!this.#kept.isKeeping) return
    const next = blockAfter(snapshot, name)
    if (next === null || this.#isKnown(snapshot, form, next)) return
    this.#borders.set(`${keyOf(snapshot, form, next)} 0`, wholeOf(snapshot, next))
    if (!this.#pool.isFree) return
    const second = blockAfter(snapshot, next)
    const isPair = second !== null && second.part === next.part && !this.#isKnown(snapshot, form, second)
    this.#readAhead(snapshot, form, isPair ? [next, second] : [next])
  }

  #isKnown(snapshot: Snapshot, form: LineForm, name: BlockName): boolean {
    const key = keyOf(snapshot, form, name)
    return this.#kept.has(key) || this.#flights.has(key)
  }

  /** @param names of blocks that follow each other in one part */
  #readAhead(snapshot: Snapshot, form: LineForm, names: readonly [BlockName, ...BlockName[]]): void {
    const wholes = names.map((name) => wholeOf(snapshot, name))
    const rows = wholes.reduce((sum, whole) => sum + whole.rows, 0)
    const stop = new AbortController()
    const reading = this.#query(snapshot, form, { ...names[0], first: 0, rows }, nobody, stop.signal)
    const late = AbortSignal.timeout(prefetchMs)
    let [wanted, from] = [names.length, 0]
    for (const whole of wholes) {
      const first = from
      from += whole.rows
      const key = keyOf(snapshot, form, whole)
      const flight = this.#flights.join(key, late, async (unwanted) => {
        unwanted.addEventListener('abort', () => {
          wanted -= 1
          if (wanted === 0) stop.abort(unwanted.reason)
        })
        const block = piece(await reading, first, whole.rows)
        this.#kept.set(key, block)
        return block
      })
      // Whoever asks for the block itself gets its error.
      flight.catch(() => undefined)
    }
  }

  async #block(
    snapshot: Snapshot,
    form: LineForm,
    name: BlockName,
    client: string,
    signal: AbortSignal,
  ): Promise<Block> {
    const key = keyOf(snapshot, form, name)
    return this.#flights.join(key, signal, async (stop) => {
      const block = await this.#query(snapshot, form, wholeOf(snapshot, name), client, stop)
      this.#kept.set(key, block)
      return block
    })
  }

  async #query(
    snapshot: Snapshot,
    form: LineForm,
    cut: Cut,
    client: string,
    signal: AbortSignal,
  ): Promise<Block> {
    const { timing, bytes, lengths, rows } = await this.#pool.texts(
      planRows(snapshot, form, cut),
      client,
      signal,
    )
    const first = cut.block * snapshot.blockRows + cut.first
    if (rows.length !== cut.rows || rows.some((row, index) => row !== first + index))
      throw new Error(`rows of ${keyOf(snapshot, form, cut)} came out of order`)
    const between = form.format.separator.length
    return { bytes, between, ends: endsOf(lengths, between), timing }
  }
}

/** Of a block: more of it costs hardly less than all. */
const aloneMax = 1 / 4
/** Enough for a hundred walks at once, and few beside the pages of a large table. */
const bordersMax = 256
/** What is read for nobody yet is not worth more time. */
const prefetchMs = 1000
const nobody = 'nobody yet'

function keyOf({ table, manifest }: Snapshot, form: LineForm, { part, block }: BlockName): string {
  return `${tableId(table)}/${manifest.snapshot}/${part}/${block} ${form.key}`
}

/** Some rows of a block as one of their own, without a copy. */
function piece(block: Block, first: number, rows: number): Block {
  const start = startOf(block, first)
  const ends = block.ends.subarray(first, first + rows).map((end) => end - start)
  return { ...block, bytes: rowsOf(block, first, rows), ends }
}

function startOf({ ends, between }: Block, row: number): number {
  return row === 0 ? 0 : (ends[row - 1] ?? 0) + between
}

function sizeOf({ bytes, ends }: Block): number {
  return bytes.byteLength + ends.byteLength
}

function endsOf(lengths: Uint32Array, between: number): Uint32Array {
  let end = -between
  return lengths.map((length) => (end += length + between))
}
