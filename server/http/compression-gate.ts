import type { Encoding } from './encodings.ts'

/** So many bodies are compressed at the same time; past it readers get the bytes as they are. */
export class CompressionGate {
  readonly #max: number
  #running = 0

  constructor(max: number) {
    this.#max = max
  }

  get isFull(): boolean {
    return this.#running >= this.#max
  }

  async compress(whole: Uint8Array, { compress }: Encoding): Promise<Uint8Array> {
    if (compress === null) return whole
    this.#running += 1
    try {
      // A copy, since zlib returns a slice of a larger buffer.
      return new Uint8Array(await compress(whole))
    } finally {
      this.#running -= 1
    }
  }
}
