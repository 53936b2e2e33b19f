import { connect, type Socket } from 'node:net'

/**
 * A load of HTTP requests over open connections: each connection sends its next request after an answer.
 * Reads no more of an answer than it needs, to leave the processors to the server.
 */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly requests?: number
  readonly seconds?: number
  /** Path and query of the request with this number, from 0. */
  readonly target: (number: number) => string
  readonly headers?: Readonly<Record<string, string>>
  /** Receives every answer; its body only with `keepBodies`. */
  readonly onAnswer?: (answer: Answer) => void
  readonly keepBodies?: boolean
}

export interface Answer {
  readonly target: string
  readonly status: number
  readonly head: string
  readonly body: Buffer
  readonly ms: number
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
  readonly perSecond: number
  /** Time from request to last byte, in ms. */
  readonly p50: number
  readonly p99: number
  readonly statuses: Readonly<Record<string, number>>
  /** Broken connections, and answers cut off. */
  readonly broken: number
}

export async function runLoad(load: Load): Promise<LoadResult> {
  const { requests = Infinity, seconds = Infinity } = load
  const times: number[] = []
  const statuses: Record<string, number> = {}
  let [sent, brokenConnections] = [0, 0]
  const started = performance.now()
  const isOver = (): boolean => sent >= requests || performance.now() - started > seconds * 1000
  const recordAnswer = (answer: Answer): void => {
    times.push(answer.ms)
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    load.onAnswer?.(answer)
  }
  const runClient = async (): Promise<void> => {
    while (!isOver()) {
      const client = new Client(load)
      try {
        await client.opened
        while (!isOver()) recordAnswer(await client.ask(load.target(sent++)))
      } catch {
        brokenConnections += 1
      } finally {
        client.close()
      }
    }
  }
  await Promise.all(Array.from({ length: load.connections }, runClient))
  const elapsedSeconds = (performance.now() - started) / 1000
  const sortedTimes = Float64Array.from(times).toSorted()
  const quantile = (share: number): number =>
    sortedTimes[Math.floor(share * (sortedTimes.length - 1))] ?? Number.NaN
  return {
    requests: times.length,
    seconds: elapsedSeconds,
    perSecond: times.length / elapsedSeconds,
    p50: quantile(0.5),
    p99: quantile(0.99),
    statuses,
    broken: brokenConnections,
  }
}

class Client {
  readonly opened: Promise<void>
  readonly #socket: Socket
  readonly #requestHeaders: string
  readonly #keepBodies: boolean
  #pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null
  #target = ''
  #askedAt = 0
  #status = 0
  #head = ''
  #bodyLength = -1
  #received = 0
  #chunks: Buffer[] = []

  constructor({ port, headers = {}, keepBodies = false }: Load) {
    this.#requestHeaders = Object.entries({ Host: `localhost:${port}`, ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
    this.#keepBodies = keepBodies
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve).once('error', reject)
    })
    this.#socket.on('data', (chunk) => this.#take(chunk))
    this.#socket.once('close', () => this.#pending?.reject(new Error('the connection was closed')))
    this.#socket.on('error', (error) => this.#pending?.reject(error))
  }

  ask(target: string): Promise<Answer> {
    this.#target = target
    this.#askedAt = performance.now()
    this.#bodyLength = -1
    this.#received = 0
    this.#chunks = []
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject }
      this.#socket.write(`GET ${target} HTTP/1.1\r\n${this.#requestHeaders}\r\n`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    let body = chunk
    if (this.#bodyLength === -1) {
      const received = this.#chunks.length === 0 ? chunk : Buffer.concat([...this.#chunks, chunk])
      const headEnd = received.indexOf('\r\n\r\n')
      if (headEnd === -1) {
        this.#chunks = [received]
        return
      }
      this.#chunks = []
      this.#head = received.toString('latin1', 0, headEnd)
      this.#status = Number(this.#head.slice(9, 12))
      this.#bodyLength =
        this.#status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0)
      body = received.subarray(headEnd + 4)
    }
    this.#received += body.length
    if (this.#keepBodies) this.#chunks.push(body)
    if (this.#received < this.#bodyLength) return
    const pending = this.#pending
    this.#pending = null
    pending?.resolve({
      target: this.#target,
      status: this.#status,
      head: this.#head,
      body: Buffer.concat(this.#chunks),
      ms: performance.now() - this.#askedAt,
    })
  }
}
