import { createReadStream } from 'node:fs'
import { addAbortSignal, type Readable } from 'node:stream'
import type { ClickHouseClient } from '@clickhouse/client'
import { StartError } from '../errors.ts'

export type NamedValues = Readonly<Record<string, string>>

interface AskOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
}

export class ClickHouseError extends Error {
  readonly code: number

  constructor(code: number, cause: unknown) {
    super(`ClickHouse says: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ClickHouseError'
    this.code = code
  }
}

/** The cluster is unreachable, for example stopped. */
export class ClickHouseUnreachable extends Error {
  constructor(cause: unknown) {
    super(`ClickHouse does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'ClickHouseUnreachable'
  }
}

const graceMs = 1000
const patienceMs = 3_600_000

/** Runs statements over HTTP with the official client. */
export class ClickHouse {
  readonly #client: ClickHouseClient
  /** Cluster over which tables are replicated and distributed; null for a single server. */
  readonly cluster: string | null

  private constructor(client: ClickHouseClient, cluster: string | null) {
    this.#client = client
    this.cluster = cluster
  }

  /**
   * Loads the client on demand.
   * @param address such as `http://user:password@host:8123/database`; null is returned if it is empty
   * @throws StartError if the address is malformed
   */
  static async open(address: string, cluster = ''): Promise<ClickHouse | null> {
    if (address === '') return null
    const { ClickHouseLogLevel, createClient } = await import('@clickhouse/client')
    try {
      const client = createClient({
        url: address,
        application: 'acervo',
        request_timeout: patienceMs,
        max_open_connections: 16,
        compression: { response: false, request: false },
        // Callers report failures.
        log: { level: ClickHouseLogLevel.OFF },
        // Keeps proxies from closing connections during long statements.
        clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '20000' },
      })
      return new ClickHouse(client, cluster === '' ? null : cluster)
    } catch (cause) {
      throw new StartError(
        'CLICKHOUSE_URL is not an address such as http://user:password@host:8123/database',
        {
          cause,
        },
      )
    }
  }

  /** Returns the numbers of a result with one UInt32 column, in the order of its rows. */
  async numbers(sql: string, values: NamedValues, options: AskOptions): Promise<Uint32Array> {
    const bytes = await this.#bytes(`${sql} format RowBinary`, values, options)
    if (bytes.length % 4 !== 0) throw new Error('ClickHouse sent an incomplete number')
    const numbers = new Uint32Array(bytes.length / 4)
    for (let index = 0; index < numbers.length; index += 1) numbers[index] = bytes.readUInt32LE(4 * index)
    return numbers
  }

  async rows(sql: string, values: NamedValues = {}, options: AskOptions = {}): Promise<string[][]> {
    const bytes = await this.#bytes(`${sql} format JSONCompactStrings`, values, options)
    const { data } = JSON.parse(bytes.toString()) as { data: string[][] }
    return data
  }

  /** @param table quoted name */
  async insertParquet(table: string, columns: readonly string[], file: string): Promise<void> {
    await convertErrors(async () => {
      const { stream } = await this.#client.exec({
        query: `insert into ${table} (${columns.join(', ')}) format Parquet`,
        values: createReadStream(file),
        // In a cluster, an insert returns when most replicas have stored the rows.
        ...(this.cluster !== null && {
          clickhouse_settings: { distributed_foreground_insert: 1, insert_quorum: 'auto' },
        }),
      })
      await drained(stream)
    })
  }

  async command(sql: string): Promise<void> {
    await convertErrors(() => this.#client.command({ query: sql }))
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #bytes(sql: string, values: NamedValues, { signal, timeoutMs }: AskOptions): Promise<Buffer> {
    signal?.throwIfAborted()
    // One controller for the signal and the timeout: Node 20 may lose a timeout signal that is combined with
    // others.
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    signal?.addEventListener('abort', abort)
    // If the server hangs, it does not report the timeout itself.
    const timer = timeoutMs === undefined ? undefined : setTimeout(abort, timeoutMs + graceMs)
    try {
      return await convertErrors(async () => {
        const { stream } = await this.#client.exec({
          query: sql,
          query_params: values,
          abort_signal: controller.signal,
          clickhouse_settings: {
            ...(timeoutMs !== undefined && { max_execution_time: Math.ceil(timeoutMs / 1000) }),
            // ClickHouse cancels only read-only statements.
            readonly: '2',
            cancel_http_readonly_queries_on_client_close: 1,
            // Reports errors during the query as failures, and never returns a partial result.
            wait_end_of_query: 1,
            timeout_overflow_mode: 'throw',
            read_overflow_mode: 'throw',
            result_overflow_mode: 'throw',
          },
        })
        // The client does not abort a response that has begun.
        return drained(addAbortSignal(controller.signal, stream))
      }, signal)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

async function drained(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function convertErrors<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    // Recognizes an error of ClickHouse by its keys, without loading the module of its class.
    if (error instanceof Error && 'type' in error && 'code' in error && /^\d+$/.test(String(error.code)))
      throw new ClickHouseError(Number(error.code), error)
    throw new ClickHouseUnreachable(error)
  }
}
