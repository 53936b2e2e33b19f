import { tableId, type OrderKey } from '../../../core/catalog/catalog.ts'
import { Cache, type CacheStats } from '../../base/cache.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import type { Groups } from '../groups/groups.ts'
import { RowSet } from './row-set.ts'
import type { Search } from './selections.ts'

/**
 * Kind of a cached result, equal for all access paths.
 * - `rows`: a set of positions, or of ranks in an order
 * - `section starts`: rows before each section of codes, in the table or an order
 * - `part counts`: rows in each part
 * - `count`: number of rows
 * - `groups`: groups of matching rows, by their terms and measures
 * - `positions`: sorted positions, from an index on; `limit` is null for all
 */
export type CachedKind =
  | { readonly name: 'rows' | 'section starts'; readonly order: readonly OrderKey[] | null }
  | { readonly name: 'part counts' | 'count' }
  | GroupsKind
  | {
      readonly name: 'positions'
      readonly order: readonly OrderKey[]
      readonly first: number
      readonly limit: number | null
    }

interface GroupsKind {
  readonly name: 'groups'
  readonly terms: readonly string[]
  readonly measures: readonly string[]
}

type Result = RowSet | Uint32Array | Groups

export class SelectionCache {
  readonly #cache: Cache<Result>
  readonly #flights = new SingleFlight<Result>()

  /** @param bytesMax for all together; 0 disables the cache */
  constructor(bytesMax: number) {
    this.#cache = new Cache(bytesMax, (result) =>
      Math.max(1, 'bytes' in result ? result.bytes : result.byteLength),
    )
  }

  get stats(): CacheStats {
    return this.#cache.stats
  }

  /** Does not count misses. */
  cachedNumbers(search: Search, kind: CachedKind): Uint32Array | undefined {
    const cachedEntry = this.#cache.getAgain(keyOf(search, kind))
    return cachedEntry instanceof Uint32Array ? cachedEntry : undefined
  }

  async rows(search: Search, order: readonly OrderKey[] | null, work: Work<RowSet>): Promise<RowSet> {
    const rows = await this.#once(search, { name: 'rows', order }, work)
    if (!(rows instanceof RowSet)) throw new TypeError('expected a row set')
    return rows
  }

  async numbers(search: Search, kind: CachedKind, work: Work<Uint32Array>): Promise<Uint32Array> {
    const numbers = await this.#once(search, kind, work)
    if (!(numbers instanceof Uint32Array)) throw new TypeError('expected numbers')
    return numbers
  }

  async groups(search: Search, kind: GroupsKind, work: Work<Groups>): Promise<Groups> {
    const groups = await this.#once(search, kind, work)
    if (!('columns' in groups)) throw new TypeError('expected groups')
    return groups
  }

  async #once(search: Search, kind: CachedKind, work: Work<Result>): Promise<Result> {
    const key = keyOf(search, kind)
    const cachedEntry = this.#cache.get(key)
    if (cachedEntry !== undefined) return cachedEntry
    return this.#flights.join(key, search.requester.signal, async (signal) => {
      const result = await work(signal)
      this.#cache.set(key, result)
      return result
    })
  }
}

type Work<Made> = (signal: () => AbortSignal) => Promise<Made>

function keyOf({ snapshot: { table, manifest }, filter }: Search, kind: CachedKind): string {
  return `${tableId(table)}/${manifest.snapshot} ${filter.key} ${JSON.stringify(kind)}`
}
