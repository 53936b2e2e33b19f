import { LRUCache } from 'lru-cache'

/** What is kept as long as there is room: the least recently used goes first. Counts how often it was of use. */
export class Kept<V extends object> {
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

  get stats(): KeptStats {
    const [bytes, entries] = [this.#entries?.calculatedSize ?? 0, this.#entries?.size ?? 0]
    return { hits: this.#hits, misses: this.#misses, bytes, entries }
  }
}

export interface KeptStats {
  /** Since the start. */
  readonly hits: number
  readonly misses: number
  readonly bytes: number
  readonly entries: number
}
