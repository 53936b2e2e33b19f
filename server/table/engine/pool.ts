import type { Connection, Answer, RunOptions, RowTexts } from '../../../core/duckdb/connection.ts'
import type { Database } from '../../../core/duckdb/database.ts'
import { OutOfMemory, QueryTimeout } from '../../../core/duckdb/errors.ts'
import type { Value } from '../../../core/duckdb/vectors.ts'
import { QueueFull, FairQueue, waitIn, type Waiter } from '../../base/queue.ts'
import { TooLarge } from './errors.ts'
import { explainQueryError, requireUnchanged, type Plan } from './plan.ts'

interface PoolLimits {
  readonly connections: number
  readonly queueTimeoutMs: number
  readonly queueLengthMax: number
  readonly queryTimeoutMs: number
  readonly observe?: (timing: Timing) => void
}

/** Half of the connections, so that one client cannot occupy all. */
export function clientShare(connections: number): number {
  return Math.max(1, Math.floor(connections / 2))
}

export interface Timing {
  readonly queue: number
  readonly query: number
}

/**
 * Connections behind a fair queue, with one statement each; more connections would only starve other work in
 * Node's thread pool. A full queue refuses requests at once.
 */
export class Pool {
  readonly #idle: Connection[]
  readonly #queue = new FairQueue<Waiter<Connection, null>>()
  readonly #size: number
  readonly #limits: PoolLimits
  readonly #clientMax: number
  readonly #running = new Map<string, number>()
  #statements = 0

  private constructor(idle: Connection[], limits: PoolLimits, clientMax: number) {
    this.#idle = idle
    this.#clientMax = clientMax
    this.#size = idle.length
    this.#limits = limits
  }

  static async open(database: Database, limits: PoolLimits, clientMax = limits.connections): Promise<Pool> {
    const idle: Connection[] = []
    for (let index = 0; index < limits.connections; index += 1) idle.push(await database.connect())
    return new Pool(idle, limits, clientMax)
  }

  get isFree(): boolean {
    return this.#idle.length > 0
  }

  get size(): number {
    return this.#size
  }

  get waiting(): number {
    return this.#queue.size
  }

  get statements(): number {
    return this.#statements
  }

  /**
   * Returns rows as texts.
   * @param signal removes the statement from the queue, or stops it, when the client disconnects
   * @throws QueueFull, QueryTimeout, TooLarge, DamagedTable, or the reason of the signal
   */
  async texts(plan: Plan, client: string, signal: AbortSignal): Promise<RowTexts & { timing: Timing }> {
    return this.#run(plan, client, signal, (connection, options) =>
      connection.texts(plan.sql, plan.parameters, options),
    )
  }

  /** A bounded result; see `texts`. */
  async rows(plan: Plan, client: string, signal: AbortSignal): Promise<{ rows: Value[][]; timing: Timing }> {
    return this.#run(plan, client, signal, async (connection, options) => ({
      rows: await connection.rows(plan.sql, plan.parameters, options),
    }))
  }

  /** One column; see `texts`. */
  async numbers(
    plan: Plan,
    client: string,
    signal: AbortSignal,
  ): Promise<{ numbers: Uint32Array; timing: Timing }> {
    return this.#run(plan, client, signal, async (connection, options) => ({
      numbers: await connection.numbers(plan.sql, plan.parameters, options),
    }))
  }

  /** See `texts`. */
  async columns(
    plan: Plan,
    client: string,
    signal: AbortSignal,
  ): Promise<{ columns: Answer[]; timing: Timing }> {
    return this.#run(plan, client, signal, async (connection, options) => ({
      columns: await connection.columns(plan.sql, plan.parameters, options),
    }))
  }

  async #run<T extends object>(
    { reads }: Plan,
    client: string,
    signal: AbortSignal,
    work: (connection: Connection, options: RunOptions) => Promise<T>,
  ): Promise<T & { timing: Timing }> {
    const queuedAt = performance.now()
    const release = reads === null ? null : await reads.snapshot.pin(reads.files)
    try {
      return await this.#runHere(queuedAt, reads, client, signal, work)
    } finally {
      release?.()
    }
  }

  async #runHere<T extends object>(
    queuedAt: number,
    reads: Plan['reads'],
    client: string,
    signal: AbortSignal,
    work: (connection: Connection, options: RunOptions) => Promise<T>,
  ): Promise<T & { timing: Timing }> {
    const connection = await this.#acquire(client, signal)
    const startedAt = performance.now()
    this.#statements += 1
    let answer: T
    try {
      answer = await work(connection, { timeoutMs: this.#limits.queryTimeoutMs, signal })
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof QueryTimeout) throw error
      if (error instanceof OutOfMemory) throw new TooLarge()
      throw reads === null ? error : explainQueryError(error, reads)
    } finally {
      this.#giveBack(connection, client)
    }
    if (reads !== null) requireUnchanged(reads)
    const timing = { queue: startedAt - queuedAt, query: performance.now() - startedAt }
    this.#limits.observe?.(timing)
    return { ...answer, timing }
  }

  /** Closes connections after their statements; an earlier close hangs the process. */
  async close(): Promise<void> {
    for (let closed = 0; closed < this.#size; closed += 1) {
      const idle =
        this.#idle.pop() ??
        (await new Promise<Connection>((serve, refuse) =>
          this.#queue.join(theEnd, { demand: null, serve, refuse }),
        ))
      this.#running.delete(theEnd)
      idle.close()
    }
  }

  async #acquire(client: string, signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    const idle = this.#mayRun(client) ? this.#idle.pop() : undefined
    if (idle !== undefined) {
      this.#begin(client)
      return idle
    }
    const { queueTimeoutMs, queueLengthMax } = this.#limits
    if (this.#queue.size >= queueLengthMax) {
      const displaced = this.#queue.yieldTo(client)
      if (displaced === undefined) throw full()
      displaced.refuse(full())
    }
    return waitIn(this.#queue, client, null, { signal, timeoutMs: queueTimeoutMs, refusal: full })
  }

  #giveBack(connection: Connection, client: string): void {
    const remaining = (this.#running.get(client) ?? 1) - 1
    if (remaining === 0) this.#running.delete(client)
    else this.#running.set(client, remaining)
    this.#idle.push(connection)
    this.#serveNext()
  }

  /** Serves also clients that waited because of their own limit. */
  #serveNext(): void {
    while (this.#idle.length > 0) {
      const next = this.#queue.next((client) => this.#mayRun(client))
      const idle = next === undefined ? undefined : this.#idle.pop()
      if (next === undefined || idle === undefined) return
      this.#begin(next.lane)
      next.waiter.serve(idle)
    }
  }

  #mayRun(client: string): boolean {
    return (this.#running.get(client) ?? 0) < this.#clientMax
  }

  #begin(client: string): void {
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1)
  }
}

/** Lane of `close`; no client has this name. */
const theEnd = 'the end'

function full(): QueueFull {
  return new QueueFull('Too many requests for rows are waiting.')
}
