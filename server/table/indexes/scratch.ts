/** Reused bytes per request; what a request needs beyond them is allocated as usual. */
const scratchBytes = 512 * 1024
/** Buffers that are kept for later requests. */
const waitingMax = 8

const waiting: Buffer[] = []

/**
 * Memory for bytes that are needed only during one request. Fresh memory of this size costs more than reading into it, since
 * the system provides it page by page.
 */
export class Scratch {
  #bytes: Buffer | null = null
  #used = 0

  /** The returned bytes must not be used after `end`. */
  readonly allocate = (length: number): Buffer => {
    if (this.#used + length > scratchBytes) return Buffer.allocUnsafe(length)
    this.#bytes ??= waiting.pop() ?? Buffer.allocUnsafeSlow(scratchBytes)
    this.#used += length
    return this.#bytes.subarray(this.#used - length, this.#used)
  }

  /** Returns the memory for the next request; to be called once. */
  end(): void {
    if (this.#bytes !== null && waiting.length < waitingMax) waiting.push(this.#bytes)
    this.#bytes = null
  }
}
