import { tableId } from '../../../core/catalog/catalog.ts'
import { SingleFlight } from '../../base/concurrency/single-flight.ts'
import type { Requester } from '../engine/requester.ts'
import { Kept, type KeptStats } from '../../base/kept.ts'
import type { RowFilter } from '../../query/query.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { RowSet } from './row-set.ts'

/** What a selection keeps: the rows as they lie, or numbers. */
type Kinds = { readonly rows: RowSet; readonly numbers: Uint32Array }

/** Alike for filters that choose the same rows of a snapshot. */
export function filterKey({ table, manifest }: Snapshot, { key }: RowFilter): string {
  return `${tableId(table)}/${manifest.snapshot} ${key}`
}

/** What was found for selections, of all kinds of them: once for all who want it at the same time, and kept. */
export class Found {
  readonly #kept: Kept<RowSet | Uint32Array>
  readonly #flights = new SingleFlight<RowSet | Uint32Array>()

  /** @param bytesMax of all together; 0 keeps nothing */
  constructor(bytesMax: number) {
    this.#kept = new Kept(bytesMax, (found) =>
      Math.max(1, found instanceof RowSet ? found.bytes : found.byteLength),
    )
  }

  get stats(): KeptStats {
    return this.#kept.stats
  }

  /** Numbers that are at hand, without counting that they were not. */
  numbersAtHand(key: string): Uint32Array | undefined {
    const kept = this.#kept.getAgain(key)
    return kept instanceof Uint32Array ? kept : undefined
  }

  async rows(key: string, requester: Requester, work: Work<'rows'>): Promise<RowSet> {
    const found = await this.#once(key, requester, work)
    if (!(found instanceof RowSet)) throw new TypeError('expected a row set')
    return found
  }

  async numbers(key: string, requester: Requester, work: Work<'numbers'>): Promise<Uint32Array> {
    const found = await this.#once(key, requester, work)
    if (!(found instanceof Uint32Array)) throw new TypeError('expected numbers')
    return found
  }

  async #once(key: string, requester: Requester, work: Work<keyof Kinds>): Promise<Kinds[keyof Kinds]> {
    const kept = this.#kept.get(key)
    if (kept !== undefined) return kept
    return this.#flights.join(key, requester.signal(), async (signal) => {
      const made = await work(signal)
      this.#kept.set(key, made)
      return made
    })
  }
}

type Work<Kind extends keyof Kinds> = (signal: AbortSignal) => Promise<Kinds[Kind]>
