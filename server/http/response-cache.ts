import { LRUCache } from 'lru-cache'
import { Kept, type KeptStats } from '../base/kept.ts'

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
  readonly #kept: Kept<CachedBody>
  readonly #askedOnce = new LRUCache<string, true>({ max: askedOnceMax })

  /** @param bytesMax of all bodies together; 0 keeps none */
  constructor(bytesMax: number) {
    this.#kept = new Kept(bytesMax, ({ bytes }) => bytes.byteLength + entryBytes)
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

  get stats(): KeptStats {
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
