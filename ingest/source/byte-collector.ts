export class ByteCollector {
  readonly #data: Buffer
  readonly #pieces: Buffer[] = []
  #from = 0

  constructor(data: Buffer) {
    this.#data = data
  }

  omit(from: number, to: number): void {
    if (from > this.#from) this.#pieces.push(this.#data.subarray(this.#from, from))
    this.#from = to
  }

  replace(from: number, to: number, replacement: Buffer): void {
    this.omit(from, to)
    this.#pieces.push(replacement)
  }

  upTo(end: number): Buffer {
    this.omit(end, end)
    return this.#pieces.length === 1 ? (this.#pieces[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#pieces)
  }
}
