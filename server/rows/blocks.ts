import { LRUCache } from 'lru-cache'
import { tableId } from '../../core/catalog/catalog.ts'
import type { Connections, Timing } from './connections.ts'
import { Flights } from '../http/flights.ts'
import { Problem } from '../http/problems.ts'
import { blockAfter, planRows, wholeOf, type BlockName, type Cut } from './plan.ts'
import type { Snapshot } from './snapshot.ts'

/** Consecutive rows of a snapshot as JSON, joined by commas. */
export interface Block {
  readonly bytes: Uint8Array
  /** Where each row ends in the bytes. */
  readonly ends: Uint32Array
  /** What it took to read it. */
  readonly timing: Timing
}

/** Some rows of a block, without a copy. */
export function rowsOf({ bytes, ends }: Block, first: number, rows: number): Uint8Array {
  return bytes.subarray(startOf(ends, first), ends[first + rows - 1])
}

/** Who waits for a page. */
export interface Reader {
  readonly client: string
  /** What a page may come to. */
  readonly pageBytesMax: number
  /** Fires when the reader has gone. */
  readonly signal: () => AbortSignal
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
  readonly #connections: Connections
  readonly #kept: LRUCache<string, Block> | null
  readonly #flights = new Flights<Block>()

  /** @param bytes bound of all blocks together; 0 keeps none */
  constructor(connections: Connections, bytes: number) {
    this.#connections = connections
    this.#kept =
      bytes === 0 ? null : new LRUCache({ maxSize: bytes, sizeCalculation: (block) => sizeOf(block) })
  }

  /** The rows of a cut whose block is at hand, at no cost. */
  kept(snapshot: Snapshot, cut: Cut): Uint8Array | null {
    const block = this.#kept?.get(keyOf(snapshot, cut))
    return block === undefined ? null : rowsOf(block, cut.first, cut.rows)
  }

  /**
   * Reads the block of a cut, once for all who want it at the same time. Where a block of unusually long rows
   * does not fit into memory, the rows of the cut alone are read.
   *
   * @throws Problem overloaded, query-timeout or page-too-large
   */
  async read(snapshot: Snapshot, cut: Cut, reader: Reader): Promise<ReadRows> {
    const { client } = reader
    const signal = reader.signal()
    try {
      const block = await this.#block(snapshot, cut, client, signal)
      return { bytes: rowsOf(block, cut.first, cut.rows), timing: block.timing }
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'page-too-large') throw error
      return this.#query(snapshot, cut, client, signal)
    }
  }

  /**
   * Reads what a walk comes to next, where nobody waits for a connection: two blocks in one statement, since most of
   * its cost is that of a row group, however few rows are taken.
   */
  foresee(snapshot: Snapshot, name: BlockName): void {
    if (this.#kept === null || !this.#connections.isFree) return
    const next = blockAfter(snapshot, name)
    if (next === null || this.#isKnown(snapshot, next)) return
    const second = blockAfter(snapshot, next)
    const isPair = second !== null && second.part === next.part && !this.#isKnown(snapshot, second)
    this.#readAhead(snapshot, isPair ? [next, second] : [next])
  }

  #isKnown(snapshot: Snapshot, name: BlockName): boolean {
    const key = keyOf(snapshot, name)
    return this.#kept?.has(key) === true || this.#flights.has(key)
  }

  /** @param names of blocks that follow each other in one part */
  #readAhead(snapshot: Snapshot, names: readonly [BlockName, ...BlockName[]]): void {
    const wholes = names.map((name) => wholeOf(snapshot, name))
    const rows = wholes.reduce((sum, whole) => sum + whole.rows, 0)
    const stop = new AbortController()
    const reading = this.#query(snapshot, { ...names[0], first: 0, rows }, nobody, stop.signal)
    const late = AbortSignal.timeout(foreseenMs)
    let [wanted, from] = [names.length, 0]
    for (const whole of wholes) {
      const first = from
      from += whole.rows
      const key = keyOf(snapshot, whole)
      const flight = this.#flights.join(key, late, async (unwanted) => {
        unwanted.addEventListener('abort', () => {
          wanted -= 1
          if (wanted === 0) stop.abort(unwanted.reason)
        })
        const block = piece(await reading, first, whole.rows)
        this.#kept?.set(key, block)
        return block
      })
      // Whoever asks for the block itself gets its error.
      flight.catch(() => undefined)
    }
  }

  async #block(snapshot: Snapshot, name: BlockName, client: string, signal: AbortSignal): Promise<Block> {
    const key = keyOf(snapshot, name)
    return this.#flights.join(key, signal, async (stop) => {
      const block = await this.#query(snapshot, wholeOf(snapshot, name), client, stop)
      this.#kept?.set(key, block)
      return block
    })
  }

  async #query(snapshot: Snapshot, cut: Cut, client: string, signal: AbortSignal): Promise<Block> {
    return snapshot.inUse.during(async () => {
      const { timing, bytes, lengths, isInOrder } = await this.#connections.json(
        planRows(snapshot, cut),
        client,
        signal,
      )
      if (!isInOrder) throw new Error(`rows of ${keyOf(snapshot, cut)} came out of order`)
      return { bytes, ends: endsOf(lengths), timing }
    })
  }
}

/** What is read for nobody yet is not worth more time. */
const foreseenMs = 1000
const nobody = 'nobody yet'

function keyOf({ table, manifest }: Snapshot, { part, block }: BlockName): string {
  return `${tableId(table)}/${manifest.snapshot}/${part}/${block}`
}

/** Some rows of a block as one of their own, without a copy. */
function piece(block: Block, first: number, rows: number): Block {
  const start = startOf(block.ends, first)
  const ends = block.ends.subarray(first, first + rows).map((end) => end - start)
  return { bytes: rowsOf(block, first, rows), ends, timing: block.timing }
}

/** A comma stands between a row and the one before it. */
function startOf(ends: Uint32Array, row: number): number {
  return row === 0 ? 0 : (ends[row - 1] ?? 0) + 1
}

function sizeOf({ bytes, ends }: Block): number {
  return bytes.byteLength + ends.byteLength
}

function endsOf(lengths: Uint32Array): Uint32Array {
  // A comma stands between a row and the one before it.
  let end = -1
  return lengths.map((length) => (end += length + 1))
}
