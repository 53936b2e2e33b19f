/** Copies short pieces in a loop, which is faster than one call per piece. */
export class ByteBuilder {
  #bytes = Buffer.allocUnsafe(64 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  copy(from: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start)
    if (end - start > longBytes) {
      this.#bytes.set(from.subarray(start, end), this.#length)
      this.#length += end - start
      return
    }
    const bytes = this.#bytes
    let target = this.#length
    for (let index = start; index < end; index += 1, target += 1) bytes[target] = from[index] ?? 0
    this.#length = target
  }

  add(bytes: Uint8Array): void {
    this.copy(bytes, 0, bytes.length)
  }

  text(text: string): void {
    this.#reserve(text.length * utf8BytesMax)
    this.#length += this.#bytes.write(text, this.#length)
  }

  /** Nothing may be added after it. */
  build(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #reserve(length: number): void {
    const requiredLength = this.#length + length
    if (requiredLength <= this.#bytes.length) return
    const grown = Buffer.allocUnsafe(Math.max(requiredLength, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

const longBytes = 100
/** Per code unit of UTF-16. */
const utf8BytesMax = 3
