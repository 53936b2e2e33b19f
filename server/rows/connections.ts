import { OutOfMemory, QueryTimeout, type Connection, type Database } from '../../core/warehouse/duckdb.ts'
import { Problem } from '../http/problems.ts'
import type { Plan } from './plan.ts'

export interface ConnectionLimits {
  readonly connections: number
  /** Bounds a query, and separately the wait for a connection. */
  readonly timeoutMs: number
}

const retryAfterSeconds = 5
const pageTooLarge =
  'The rows of this page need more memory than a query may use: ask for fewer with page_size.'

/**
 * A fixed number of connections behind a first-come line. A connection runs one statement at a time, and all
 * of DuckDB's work shares Node's thread pool, so more at once would only starve everything else.
 */
export class Connections {
  readonly #idle: Connection[]
  readonly #waiting: ((connection: Connection) => void)[] = []
  readonly #size: number
  readonly #timeoutMs: number

  private constructor(idle: Connection[], timeoutMs: number) {
    this.#idle = idle
    this.#size = idle.length
    this.#timeoutMs = timeoutMs
  }

  static async open(database: Database, { connections, timeoutMs }: ConnectionLimits): Promise<Connections> {
    const idle: Connection[] = []
    for (let index = 0; index < connections; index += 1) idle.push(await database.connect())
    return new Connections(idle, timeoutMs)
  }

  /**
   * Runs the statements of a page one after the other on one connection.
   *
   * @param signal leaves the line and stops the statement, for a reader who has gone
   * @throws Problem overloaded, query-timeout or page-too-large; the reason of the signal
   */
  async blobs(plans: readonly Plan[], signal?: AbortSignal): Promise<Uint8Array[]> {
    const connection = await this.#take(this.#timeoutMs, signal)
    try {
      const blobs: Uint8Array[] = []
      for (const { sql, parameters } of plans) {
        const blob = await connection.blob(sql, parameters, {
          timeoutMs: this.#timeoutMs,
          ...(signal && { signal }),
        })
        if (blob !== null) blobs.push(blob)
      }
      return blobs
    } catch (error) {
      if (error instanceof QueryTimeout)
        throw busy('query-timeout', 'The query took too long and was stopped.')
      if (error instanceof OutOfMemory) throw new Problem('page-too-large', pageTooLarge)
      throw error
    } finally {
      this.#giveBack(connection)
    }
  }

  /** Waits for running statements, since closing under one hangs the process. */
  async close(): Promise<void> {
    for (let closed = 0; closed < this.#size; closed += 1) (await this.#take(null)).close()
  }

  /** @param timeoutMs null waits as long as it takes */
  async #take(timeoutMs: number | null, signal?: AbortSignal): Promise<Connection> {
    signal?.throwIfAborted()
    const idle = this.#idle.pop()
    if (idle !== undefined) return idle
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown): void => {
        settle()
        this.#waiting.splice(this.#waiting.indexOf(serve), 1)
        reject(reason)
      }
      const gone = (): void => leave(signal?.reason)
      const late = (): void => leave(busy('overloaded', 'Too many readers ask for rows at this moment.'))
      const timer = timeoutMs === null ? undefined : setTimeout(late, timeoutMs)
      const settle = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', gone)
      }
      const serve = (connection: Connection): void => {
        settle()
        resolve(connection)
      }
      signal?.addEventListener('abort', gone)
      this.#waiting.push(serve)
    })
  }

  #giveBack(connection: Connection): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(connection)
    else next(connection)
  }
}

function busy(code: 'overloaded' | 'query-timeout', reason: string): Problem {
  return new Problem(code, `${reason} Try again in ${retryAfterSeconds} s.`, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}
