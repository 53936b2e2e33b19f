import {
  DuckDBBlobVector,
  DuckDBListVector,
  LIST,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBPreparedStatement,
  type DuckDBResult,
} from '@duckdb/node-api'
import { messageOf } from '../errors.ts'
import { OutOfMemory, QueryTimeout } from './errors.ts'
import { uintegersOf, itemsOf, parseNumbers, columnValues, type Items, type Value } from './vectors.ts'

export type Parameter = string | number | bigint | null | readonly string[]

export interface RowTexts {
  readonly bytes: Uint8Array
  readonly lengths: Uint32Array
  /** Row number of each text in its file, from 0. */
  readonly rows: Uint32Array
}

export type Answer = Items | Uint8Array

export interface RunOptions {
  /** Interrupts the statement after this time, with QueryTimeout. */
  readonly timeoutMs?: number
  /** Interrupts the statement; the call then throws the reason. */
  readonly signal?: AbortSignal
}

/** Repeats interrupts, since a statement that waits for a thread ignores them. */
const interruptEveryMs = 50

/** Runs one statement at a time, so callers that share it must queue. */
export class Connection {
  readonly #connection: DuckDBConnection

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /**
   * Returns all rows of a small result.
   * @throws QueryTimeout or OutOfMemory
   */
  async rows(
    sql: string,
    parameters: readonly Parameter[] = [],
    options: RunOptions = {},
  ): Promise<Value[][]> {
    return this.#run(sql, parameters, options, 'run', async (result) => {
      const rows: Value[][] = []
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) return rows
        const columns = Array.from({ length: chunk.columnCount }, (_, column) =>
          columnValues(chunk.getColumnVector(column)),
        )
        for (let row = 0; row < chunk.rowCount; row += 1)
          rows.push(columns.map((values) => values[row] ?? null))
      }
    })
  }

  /**
   * Returns one row of three BLOBs: texts, then their lengths and row numbers as comma-separated numbers,
   * since aggregates of lists allocate a megabyte.
   * @throws QueryTimeout or OutOfMemory
   */
  async texts(sql: string, parameters: readonly Parameter[], options: RunOptions): Promise<RowTexts> {
    return this.#onlyRow(sql, parameters, options, (chunk) => {
      const blobAt = (column: number): Uint8Array => {
        const blob = chunk.getColumnVector(column)
        if (!(blob instanceof DuckDBBlobVector)) throw new TypeError('expected a BLOB')
        return blob.getItemBytes(0) ?? new Uint8Array()
      }
      const texts = { bytes: blobAt(0), lengths: parseNumbers(blobAt(1)), rows: parseNumbers(blobAt(2)) }
      // A null text would have a row number, but no length.
      if (texts.lengths.length !== texts.rows.length) throw new TypeError('expected a length of each row')
      return texts
    })
  }

  /**
   * Returns one row, whose columns are lists of numbers or BLOBs.
   * @throws QueryTimeout or OutOfMemory
   */
  async columns(sql: string, parameters: readonly Parameter[], options: RunOptions): Promise<Answer[]> {
    return this.#onlyRow(sql, parameters, options, (chunk) =>
      Array.from({ length: chunk.columnCount }, (_, index) => {
        const column = chunk.getColumnVector(index)
        if (column instanceof DuckDBBlobVector) return column.getItemBytes(0) ?? new Uint8Array()
        if (column instanceof DuckDBListVector) return itemsOf(column.getItemVector(0))
        throw new TypeError('expected a BLOB or a list')
      }),
    )
  }

  /**
   * Returns a result with one UINTEGER column.
   * @throws QueryTimeout or OutOfMemory
   */
  async numbers(sql: string, parameters: readonly Parameter[], options: RunOptions): Promise<Uint32Array> {
    const [numbers = new Uint32Array()] = await this.numberColumns(sql, parameters, options)
    return numbers
  }

  /**
   * Returns the result as UINTEGER columns.
   * @throws QueryTimeout or OutOfMemory
   */
  async numberColumns(
    sql: string,
    parameters: readonly Parameter[] = [],
    options: RunOptions = {},
  ): Promise<Uint32Array[]> {
    return this.#run(sql, parameters, options, 'run', async (result) => {
      const chunks: Uint32Array[][] = []
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) break
        chunks.push(
          Array.from({ length: chunk.columnCount }, (_, column) =>
            uintegersOf(chunk.getColumnVector(column)),
          ),
        )
      }
      return Array.from({ length: result.columnCount }, (_, column) => {
        const pieces = chunks.map((columns) => columns[column] ?? new Uint32Array())
        const joinedPieces = new Uint32Array(pieces.reduce((sum, { length }) => sum + length, 0))
        let offset = 0
        for (const piece of pieces) {
          joinedPieces.set(piece, offset)
          offset += piece.length
        }
        return joinedPieces
      })
    })
  }

  /**
   * Streams a result of one large row, to release its memory immediately. Longer results are not streamed:
   * after an error they would end as if complete.
   */
  async #onlyRow<T>(
    sql: string,
    parameters: readonly Parameter[],
    options: RunOptions,
    read: (chunk: DuckDBDataChunk) => T,
  ): Promise<T> {
    return this.#run(sql, parameters, options, 'stream', async (result) => {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount !== 1) throw new TypeError('expected a row')
      // Copies the values, since the chunk is released next.
      const row = read(chunk)
      chunk.reset()
      const end = await result.fetchChunk()
      if (end !== null && end.rowCount > 0) throw new TypeError('expected one row')
      return row
    })
  }

  async #run<T>(
    sql: string,
    parameters: readonly Parameter[],
    { timeoutMs, signal }: RunOptions,
    form: 'run' | 'stream',
    read: (result: DuckDBResult) => Promise<T>,
  ): Promise<T> {
    // DuckDB plans a prepared statement twice, but only `prepare` refuses two statements.
    const isPlannedOnce = parameters.length === 0 && form === 'run' && !sql.includes(';')
    const statement = isPlannedOnce ? null : await this.#connection.prepare(sql)
    const timer = this.#interruptAfter(timeoutMs, signal)
    try {
      // The signal may have fired while the statement was prepared.
      signal?.throwIfAborted()
      if (statement === null) return await read(await this.#connection.run(sql))
      parameters.forEach((value, index) => bind(statement, index + 1, value))
      return await read(await statement[form]())
    } catch (error) {
      signal?.throwIfAborted()
      if (timer.fired()) throw new QueryTimeout(timeoutMs ?? 0)
      throw messageOf(error).startsWith('Out of Memory') ? new OutOfMemory(error) : error
    } finally {
      timer.stop()
      statement?.destroySync()
    }
  }

  /** Share from 0 to 1; null if unknown or not enabled. */
  progress(): number | null {
    const { percentage } = this.#connection.progress
    return percentage < 0 ? null : percentage / 100
  }

  /** Call it only while no statement runs: otherwise, the process hangs. */
  close(): void {
    this.#connection.closeSync()
  }

  /**
   * Interrupts repeatedly after the timeout or signal: an interrupt before a statement runs has no effect.
   */
  #interruptAfter(
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): { fired: () => boolean; stop: () => void } {
    let interval: NodeJS.Timeout | undefined
    const interruptRepeatedly = (): void => {
      this.#connection.interrupt()
      interval ??= setInterval(() => this.#connection.interrupt(), interruptEveryMs)
    }
    const timeout = timeoutMs === undefined ? undefined : setTimeout(interruptRepeatedly, timeoutMs)
    signal?.addEventListener('abort', interruptRepeatedly)
    return {
      fired: () => interval !== undefined,
      stop: () => {
        clearTimeout(timeout)
        clearInterval(interval)
        signal?.removeEventListener('abort', interruptRepeatedly)
      },
    }
  }
}

function bind(statement: DuckDBPreparedStatement, index: number, value: Parameter): void {
  if (value === null) statement.bindNull(index)
  else if (typeof value === 'string') statement.bindVarchar(index, value)
  else if (typeof value === 'number' || typeof value === 'bigint') statement.bindBigInt(index, BigInt(value))
  else statement.bindList(index, value, LIST(VARCHAR))
}
