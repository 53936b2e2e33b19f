import { createClient } from '@redis/client'
import type { Log } from '../base/log.ts'
import type { Link } from './fallback-counts.ts'

type Client = ReturnType<typeof newClient>

/** A request counts up to three times, so it waits for half a second at most. */
const patienceMs = 150
const connectMs = 500
const probeEveryMs = 500

/** Connection to a Redis that may fail: drops a failed one at once, and reconnects until Redis answers in time. */
export class RedisLink implements Link {
  readonly #url: string
  readonly #log: Log
  #client: Client | null = null
  #probe: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: string, log: Log) {
    this.#url = url
    this.#log = log
  }

  get isUp(): boolean {
    return this.#client !== null
  }

  /** Returns when Redis answers, or is known to be unreachable. */
  async open(): Promise<void> {
    await this.#connect()
    if (!this.isUp)
      this.#log.warn({ redis: this.#host }, 'Redis does not respond: this server counts limits alone')
  }

  async send(command: readonly string[]): Promise<unknown> {
    const client = this.#client
    if (client === null) throw new Error('not connected to Redis')
    return inTime(client.sendCommand([...command]), patienceMs)
  }

  readonly failed = (error: unknown): void => {
    const client = this.#client
    if (client === null) return
    this.#client = null
    client.destroy()
    this.#log.warn({ err: error, redis: this.#host }, 'Redis failed: this server counts limits alone')
    this.#probeLater()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#probe)
    this.#client?.destroy()
    this.#client = null
  }

  async #connect(): Promise<void> {
    const client = newClient(this.#url)
    // Callers see failures of their commands; this is for a connection that drops.
    client.on('error', (error: unknown) => {
      if (this.#client === client) this.failed(error)
    })
    try {
      await inTime(client.connect(), connectMs)
      await inTime(client.ping(), patienceMs)
    } catch {
      if (client.isOpen) client.destroy()
      this.#probeLater()
      return
    }
    if (this.#isClosed) client.destroy()
    else this.#client = client
  }

  #probeLater(): void {
    if (this.#isClosed) return
    this.#probe = setTimeout(() => void this.#reconnect(), probeEveryMs)
    this.#probe.unref()
  }

  async #reconnect(): Promise<void> {
    await this.#connect()
    if (this.isUp) this.#log.info({ redis: this.#host }, 'Redis responds: limits are shared')
  }

  get #host(): string {
    return new URL(this.#url).host
  }
}

function newClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    // This class reconnects, not the library.
    socket: { connectTimeout: connectMs, reconnectStrategy: false },
  })
}

/** Checks once more before it throws, since a busy process may not have read a response in time. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new Error(`no response in ${ms} ms`))), ms)
  })
  // Ignores a late failure, which would otherwise be an unhandled rejection.
  work.catch(() => undefined)
  try {
    return await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
}
