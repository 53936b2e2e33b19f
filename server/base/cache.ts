import { LRUCache } from 'lru-cache'

/** What is kept as long as there is room: the least recently used goes first. Counts how often it was of use. */
export class Cache<V extends object> {
  readonly #entries: LRUCache<string, V> | null
  #hits = 0
  #misses = 0

  /**
   * @param bytesMax of all together; 0 keeps none
   * @param sizeOf in bytes
   */
  constructor(bytesMax: number, sizeOf: (value: V) => number) {
    // A share of what there is may be a fraction.
    const maxSize = Math.floor(bytesMax)
    this.#entries = maxSize === 0 ? null : new LRUCache({ maxSize, sizeCalculation: sizeOf })
  }

  get(key: string): V | undefined {
    const found = this.#entries?.get(key)
    if (found === undefined) this.#misses += 1
    else this.#hits += 1
    return found
  }

  /** The same for whoever looks again for one and the same ask, which is counted once. */
  getAgain(key: string): V | undefined {
    return this.#entries?.get(key)
  }

  has(key: string): boolean {
    return this.#entries?.has(key) === true
  }

  set(key: string, value: V): void {
    this.#entries?.set(key, value)
  }

  /** Whether anything is kept at all. */
  get isKeeping(): boolean {
    return this.#entries !== null
  }

  get stats(): CacheStats {
    const [bytes, entries] = [this.#entries?.calculatedSize ?? 0, this.#entries?.size ?? 0]
    return { hits: this.#hits, misses: this.#misses, bytes, entries }
  }
}

export interface CacheStats {
  /** Since the start. */
  readonly hits: number
  readonly misses: number
  readonly bytes: number
  readonly entries: number
}

/** Bytes that are kept, and the headers that came with them. */
interface CachedBody {
  readonly bytes: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** What an entry takes besides its bytes, about. */
const entryBytes = 300
/** In bytes; a few larger ones would push out all others. Their compressed forms are kept, which cost the most to make. */
const wholeBytesMax = 1_000_000
/** Names of bodies asked for once, to know those that are asked for again. */
const askedOnceMax = 10_000

/**
 * Finished bodies by their name, and their compressed forms. A name never gets other bytes, so nothing is thrown out
 * but for room: the least recently used goes first.
 */
export class ResponseCache {
  readonly #kept: Cache<CachedBody>
  readonly #askedOnce = new LRUCache<string, true>({ max: askedOnceMax })

  /** @param bytesMax of all bodies together; 0 keeps none */
  constructor(bytesMax: number) {
    this.#kept = new Cache(bytesMax, ({ bytes }) => bytes.byteLength + entryBytes)
  }

  get(key: string): CachedBody | undefined {
    return this.#kept.get(key)
  }

  /** Another form of what was looked for before. */
  getAgain(key: string): CachedBody | undefined {
    return this.#kept.getAgain(key)
  }

  has(key: string): boolean {
    return this.#kept.has(key)
  }

  keep(key: string, body: CachedBody): void {
    this.#kept.set(key, body)
  }

  get stats(): CacheStats {
    return this.#kept.stats
  }

  /**
   * Whether a body that was made now is to be kept: a walk asks for each page once, and must not push out by its bulk
   * what others ask for again and again.
   */
  isWanted(key: string, bytes: number): boolean {
    if (!this.#askedOnce.has(key)) {
      this.#askedOnce.set(key, true)
      return false
    }
    return this.#kept.isKeeping && !this.#kept.has(key) && bytes <= wholeBytesMax
  }
}
