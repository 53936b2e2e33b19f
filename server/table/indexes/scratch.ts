/** Of one ask, which mostly needs less; what is more comes from the system, as usual. */
const scratchBytes = 512 * 1024
/** So many wait for the next ask. */
const waitingMax = 8

const waiting: Buffer[] = []

/**
 * Memory for what is read and thrown away before the ask ends: fresh memory of this size costs more than to read into it,
 * since the system gives it page by page.
 */
export class Scratch {
  #bytes: Buffer | null = null
  #used = 0

  /** Nothing of it may be looked at after `end`. */
  readonly allocate = (length: number): Buffer => {
    if (this.#used + length > scratchBytes) return Buffer.allocUnsafe(length)
    this.#bytes ??= waiting.pop() ?? Buffer.allocUnsafeSlow(scratchBytes)
    this.#used += length
    return this.#bytes.subarray(this.#used - length, this.#used)
  }

  /** Once. */
  end(): void {
    if (this.#bytes !== null && waiting.length < waitingMax) waiting.push(this.#bytes)
    this.#bytes = null
  }
}
