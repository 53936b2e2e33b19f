import { LRUCache } from 'lru-cache'

export class Cache<V extends object> {
  readonly #entries: LRUCache<string, V> | null
  #hits = 0
  #misses = 0

  /**
   * @param bytesMax for all entries together; 0 disables the cache
   * @param sizeOf bytes of an entry
   */
  constructor(bytesMax: number, sizeOf: (value: V) => number) {
    const maxSize = Math.floor(bytesMax)
    this.#entries = maxSize === 0 ? null : new LRUCache({ maxSize, sizeCalculation: sizeOf })
  }

  get(key: string): V | undefined {
    const entry = this.#entries?.get(key)
    if (entry === undefined) this.#misses += 1
    else this.#hits += 1
    return entry
  }

  /** Counts no hit or miss, for a request that was already counted. */
  getAgain(key: string): V | undefined {
    return this.#entries?.get(key)
  }

  has(key: string): boolean {
    return this.#entries?.has(key) === true
  }

  set(key: string, value: V): void {
    this.#entries?.set(key, value)
  }

  get isKeeping(): boolean {
    return this.#entries !== null
  }

  get stats(): CacheStats {
    const [bytes, entries] = [this.#entries?.calculatedSize ?? 0, this.#entries?.size ?? 0]
    return { hits: this.#hits, misses: this.#misses, bytes, entries }
  }
}

export interface CacheStats {
  readonly hits: number
  readonly misses: number
  readonly bytes: number
  readonly entries: number
}

export interface CachedBody {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** Memory that an entry takes beside its body. */
const entryOverheadBytes = 300
/**
 * Larger bodies would evict all others. Compressed bodies are cached at any size, since they cost most to
 * make.
 */
const uncompressedBytesMax = 1_000_000
/** Number of remembered names of bodies requested once. */
const firstRequestsMax = 10_000

/** Caches finished bodies and their compressed forms, by names whose bytes never change. */
export class ResponseCache {
  readonly #bodies: Cache<CachedBody>
  readonly #firstRequests = new LRUCache<string, true>({ max: firstRequestsMax })

  /** @param bytesMax for all bodies together; 0 disables the cache */
  constructor(bytesMax: number) {
    this.#bodies = new Cache(bytesMax, ({ bytes }) => bytes.byteLength + entryOverheadBytes)
  }

  get(key: string): CachedBody | undefined {
    return this.#bodies.get(key)
  }

  getAgain(key: string): CachedBody | undefined {
    return this.#bodies.getAgain(key)
  }

  has(key: string): boolean {
    return this.#bodies.has(key)
  }

  keep(key: string, body: CachedBody): void {
    this.#bodies.set(key, body)
  }

  get stats(): CacheStats {
    return this.#bodies.stats
  }

  /**
   * Caches a body at its second request: a client that pages through a table must not evict what others need.
   */
  isWanted(key: string, bytes: number): boolean {
    if (!this.#firstRequests.has(key)) {
      this.#firstRequests.set(key, true)
      return false
    }
    return this.#bodies.isKeeping && !this.#bodies.has(key) && bytes <= uncompressedBytesMax
  }
}
