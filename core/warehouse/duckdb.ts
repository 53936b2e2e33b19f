import { link, mkdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import {
  DuckDBBlobValue,
  DuckDBBlobVector,
  DuckDBInstance,
  DuckDBListVector,
  DuckDBTypeId,
  DuckDBUIntegerVector,
  DuckDBVarCharVector,
  type DuckDBConnection,
  type DuckDBDataChunk,
  type DuckDBPreparedStatement,
  type DuckDBValue,
  type DuckDBVector,
  LIST,
  VARCHAR,
  version,
} from '@duckdb/node-api'
import { codeOf, messageOf } from '../errors.ts'
import { quotedText } from '../sql.ts'

/** The only importer of @duckdb/node-api: opening, locking down, and running statements under a time bound. */

export interface DatabaseOptions {
  /** File of the database; without it everything stays in memory. */
  readonly file?: string
  /** Such as `256MB`; bounds DuckDB's buffers, and what goes beyond spills to `scratch`. */
  readonly memory: string
  readonly threads: number
  /** Absolute folder for spilling; made when missing. */
  readonly scratch: string
  /** Absolute folders that statements may read and write; nothing else can be reached. */
  readonly folders: readonly string[]
}

/** A list is one of texts. */
export type Parameter = string | number | bigint | null | readonly string[]
export type Value = DuckDBValue

/** Rows as texts that follow each other. */
export interface Texts {
  readonly bytes: Uint8Array
  /** Of each text, in bytes, without what stands between them. */
  readonly lengths: Uint32Array
  /** Of each row in its file, from 0. */
  readonly rows: Uint32Array
}

/** The items of a list, all at once. */
export interface Items {
  /** As DuckDB holds them: a typed array of their type, or 16 bytes for each HUGEINT; zero for each null. */
  readonly values: NodeJS.TypedArray
  /** A bit for each that is not null, the first in the lowest bit of the first byte; null where all are not. */
  readonly valid: Uint8Array | null
  readonly nulls: number
}

/** A column of an answer of one row: a list or a BLOB. */
export type Answer = Items | Uint8Array

export interface RunOptions {
  /** A statement that takes longer is interrupted, with QueryTimeout. */
  readonly timeoutMs?: number
  /** Stops the statement when it is no longer wanted; the call then throws the reason. */
  readonly signal?: AbortSignal
}

export class QueryTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`the query took longer than ${timeoutMs} ms`)
    this.name = 'QueryTimeout'
  }
}

/** The statement needs more memory than the database may use. */
export class OutOfMemory extends Error {
  constructor(cause: unknown) {
    super('the query needs more memory than it may use', { cause })
    this.name = 'OutOfMemory'
  }
}

export const duckdbVersion: string = version()

/** An interrupt is lost on a statement that still waits for a thread, so it is repeated until it takes. */
const interruptEveryMs = 50

export class Database {
  readonly #instance: DuckDBInstance

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance
  }

  /** Opens a database that can reach its folders and nothing else: no network, no extensions, no settings. */
  static async open(options: DatabaseOptions): Promise<Database> {
    await mkdir(options.scratch, { recursive: true })
    const instance = await DuckDBInstance.create(options.file ?? ':memory:', {
      memory_limit: options.memory,
      threads: String(options.threads),
      temp_directory: options.scratch,
      preserve_insertion_order: 'true',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      allow_community_extensions: 'false',
      allow_unsigned_extensions: 'false',
      allow_persistent_secrets: 'false',
    })
    const connection = await instance.connect()
    const folders = options.folders.map((folder) => quotedText(path.resolve(folder))).join(', ')
    // The order matters: each line takes away what the lines before it need.
    await connection.run(`set TimeZone = 'UTC'`)
    // The system keeps the files that are read; a second copy costs 100 MB and saves next to nothing.
    await connection.run('set enable_external_file_cache = false')
    await connection.run(`set allowed_directories = [${folders}]`)
    await connection.run('set enable_external_access = false')
    connection.closeSync()
    return new Database(instance)
  }

  async connect(options: { progress?: boolean } = {}): Promise<Connection> {
    const connection = await this.#instance.connect()
    if (options.progress === true) {
      await connection.run('set enable_progress_bar = true')
      await connection.run('set enable_progress_bar_print = false')
    }
    await connection.run('set parquet_metadata_cache = true')
    return new Connection(connection)
  }

  /** After the last connection is set up: no statement may change a setting any more. */
  async lock(): Promise<void> {
    const connection = await this.#instance.connect()
    await connection.run('set lock_configuration = true')
    connection.closeSync()
  }

  close(): void {
    this.#instance.closeSync()
  }
}

/** Another process works on what a lock stands for. */
export class LockHeld extends Error {
  /** Of the other process; null where the system does not tell. */
  readonly pid: number | null

  constructor(pid: number | null) {
    super(pid === null ? 'another process holds the lock' : `process ${pid} holds the lock`)
    this.name = 'LockHeld'
    this.pid = pid
  }
}

/**
 * Holds a lock between processes, by the lock that DuckDB keeps on a file that it has open: the system lets go of it
 * with the process, however that ends.
 *
 * @param file is made when missing, and stays
 * @returns lets go
 * @throws LockHeld
 */
export async function holdLock(file: string): Promise<() => void> {
  await mkdir(path.dirname(file), { recursive: true })
  await makeLockFile(file)
  try {
    const instance = await DuckDBInstance.create(file, lockSettings)
    return () => instance.closeSync()
  } catch (error) {
    const found = /lock is held in .*?\(PID (\d+)\)/.exec(messageOf(error))
    if (found !== null || messageOf(error).includes('Could not set lock')) {
      throw new LockHeld(found === null ? null : Number(found[1]))
    }
    throw error
  }
}

const lockSettings = { threads: '1', memory_limit: '16MB' }

/** Whole or not at all, since a file that was cut short by a kill could not be locked ever again. */
async function makeLockFile(file: string): Promise<void> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  if (isThere) return
  const draft = `${file}.${process.pid}.draft`
  await rm(draft, { force: true })
  const instance = await DuckDBInstance.create(draft, lockSettings)
  instance.closeSync()
  try {
    await link(draft, file)
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
}

/** Runs one statement at a time; whoever shares one waits in line elsewhere. */
export class Connection {
  readonly #connection: DuckDBConnection

  constructor(connection: DuckDBConnection) {
    this.#connection = connection
  }

  /**
   * All rows of a bounded answer, values by column position.
   *
   * @throws QueryTimeout or OutOfMemory
   */
  async rows(sql: string, parameters: readonly Parameter[] = [], options: RunOptions = {}): Promise<Value[][]> {
    return this.#run(sql, parameters, options, async (statement) => {
      const result = await statement.run()
      const rows: Value[][] = []
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) return rows
        const columns = Array.from({ length: chunk.columnCount }, (_, column) =>
          valuesOf(chunk.getColumnVector(column)),
        )
        for (let row = 0; row < chunk.rowCount; row += 1) rows.push(columns.map((values) => values[row] ?? null))
      }
    })
  }

  /**
   * An answer of one row: texts in one BLOB, the length of each as a list of UINTEGER, and the row number of each as
   * another. The bytes are copied once, by the binding, and never become a JavaScript text.
   *
   * @throws QueryTimeout or OutOfMemory
   */
  async texts(sql: string, parameters: readonly Parameter[], options: RunOptions): Promise<Texts> {
    return this.#onlyRow(sql, parameters, options, (chunk) => {
      const [blob, lengths, rows] = [0, 1, 2].map((column) => chunk.getColumnVector(column))
      if (!(blob instanceof DuckDBBlobVector)) throw new TypeError('expected a BLOB')
      return {
        bytes: blob.getItemBytes(0) ?? new Uint8Array(),
        lengths: numbersOf(lengths),
        rows: numbersOf(rows),
      }
    })
  }

  /**
   * An answer of one row: lists of numbers, and BLOBs.
   *
   * @throws QueryTimeout or OutOfMemory
   */
  async columns(
    sql: string,
    parameters: readonly Parameter[],
    options: RunOptions,
  ): Promise<Answer[]> {
    return this.#onlyRow(sql, parameters, options, (chunk) =>
      Array.from({ length: chunk.columnCount }, (_, index) => {
        const column = chunk.getColumnVector(index)
        if (column instanceof DuckDBBlobVector) return column.getItemBytes(0) ?? new Uint8Array()
        if (column instanceof DuckDBListVector) return listOf(column.getItemVector(0))
        throw new TypeError('expected a BLOB or a list')
      }),
    )
  }

  /**
   * An answer of one UINTEGER column, in its order.
   *
   * @throws QueryTimeout or OutOfMemory
   */
  async numbers(sql: string, parameters: readonly Parameter[], options: RunOptions): Promise<Uint32Array> {
    return this.#run(sql, parameters, options, async (statement) => {
      const result = await statement.run()
      const pieces: Uint32Array[] = []
      let length = 0
      for (;;) {
        const chunk = await result.fetchChunk()
        if (chunk === null || chunk.rowCount === 0) break
        pieces.push(itemsOf(chunk.getColumnVector(0)))
        length += chunk.rowCount
      }
      const numbers = new Uint32Array(length)
      let at = 0
      for (const piece of pieces) {
        numbers.set(piece, at)
        at += piece.length
      }
      return numbers
    })
  }

  /**
   * Reads an answer of one large row, and gives its memory back at once: a whole result lies there until the garbage
   * collector comes, which knows nothing of its size. Only one row may be streamed, since it is there or not: an error
   * ends longer streams as if they were whole.
   */
  async #onlyRow<T>(
    sql: string,
    parameters: readonly Parameter[],
    options: RunOptions,
    read: (chunk: DuckDBDataChunk) => T,
  ): Promise<T> {
    return this.#run(sql, parameters, options, async (statement) => {
      const result = await statement.stream()
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount !== 1) throw new TypeError('expected a row')
      // The values are copied out of the chunk.
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
    read: (statement: DuckDBPreparedStatement) => Promise<T>,
  ): Promise<T> {
    // `prepare` refuses stacked statements, which `run` would execute; each run has a statement of its own.
    const statement = await this.#connection.prepare(sql)
    const timer = this.#interruptAfter(timeoutMs, signal)
    try {
      // What was given up while it was prepared is not begun.
      signal?.throwIfAborted()
      parameters.forEach((value, index) => bind(statement, index + 1, value))
      return await read(statement)
    } catch (error) {
      signal?.throwIfAborted()
      if (timer.fired()) throw new QueryTimeout(timeoutMs ?? 0)
      throw messageOf(error).startsWith('Out of Memory') ? new OutOfMemory(error) : error
    } finally {
      timer.stop()
      statement.destroySync()
    }
  }

  /** How far the running statement is, from 0 to 1; null where it cannot tell, or was not asked to on connecting. */
  progress(): number | null {
    const { percentage } = this.#connection.progress
    return percentage < 0 ? null : percentage / 100
  }

  /** Only when no statement runs: closing under a running one hangs the process. */
  close(): void {
    this.#connection.closeSync()
  }

  #interruptAfter(
    timeoutMs: number | undefined,
    signal: AbortSignal | undefined,
  ): { fired: () => boolean; stop: () => void } {
    let repeat: NodeJS.Timeout | undefined
    const fire = (): void => {
      this.#connection.interrupt()
      repeat ??= setInterval(() => this.#connection.interrupt(), interruptEveryMs)
    }
    const start = timeoutMs === undefined ? undefined : setTimeout(fire, timeoutMs)
    signal?.addEventListener('abort', fire)
    return {
      fired: () => repeat !== undefined,
      stop: () => {
        clearTimeout(start)
        clearInterval(repeat)
        signal?.removeEventListener('abort', fire)
      },
    }
  }
}

/** The values of a column, texts to the character: the binding's own reading drops a U+FEFF that begins one. */
function valuesOf(vector: DuckDBVector): Value[] {
  const { typeId } = vector.type
  if (nestedTypes.has(typeId)) throw new TypeError('texts in lists are not read')
  const isText = vector instanceof DuckDBVarCharVector
  return Array.from({ length: vector.itemCount }, (_, index) => {
    if (!isText) return vector.getItem(index)
    // A VARCHAR lies as a BLOB does.
    const bytes = DuckDBBlobVector.prototype.getItemBytes.call(vector as unknown as DuckDBBlobVector, index)
    return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  })
}

const nestedTypes = new Set([
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.STRUCT,
  DuckDBTypeId.MAP,
  DuckDBTypeId.UNION,
])

/** The bytes of a BLOB. */
export function bytesOf(value: Value | undefined): Uint8Array {
  if (!(value instanceof DuckDBBlobValue)) throw new TypeError('expected a BLOB')
  return value.bytes
}

/** The first list of a vector of lists of UINTEGER; null counts as an empty one. */
function numbersOf(vector: DuckDBVector | undefined): Uint32Array {
  if (!(vector instanceof DuckDBListVector)) throw new TypeError('expected a list')
  const items = vector.getItemVector(0)
  if (items === null) return new Uint32Array()
  return itemsOf(items)
}

function listOf(vector: DuckDBVector | null): Items {
  if (vector === null) return { values: new Uint8Array(), valid: null, nulls: 0 }
  const items: unknown = Reflect.get(vector, 'items')
  const view: unknown = Reflect.get(vector, 'dataView')
  const validity: unknown = Reflect.get(vector, 'validity')
  if (!isValidity(validity)) throw new TypeError('expected a vector that tells its nulls')
  const count = vector.itemCount
  const valid = new Uint8Array(Math.ceil(count / 8))
  let nulls = 0
  for (let index = 0; index < count; index += 1) {
    if (validity.itemValid(index)) valid[index >> 3] = (valid[index >> 3] ?? 0) | (1 << (index & 7))
    else nulls += 1
  }
  const held = isTyped(items) ? items : view instanceof DataView ? bytesIn(view) : null
  if (held === null) throw new TypeError('expected a vector of numbers')
  return nulls === 0
    ? { values: held, valid: null, nulls }
    : { values: withoutNulls(held, valid, count), valid, nulls }
}

/** A copy with zeros under every null: DuckDB leaves there what its memory held before, such as other readers' values. */
function withoutNulls(values: NodeJS.TypedArray, valid: Uint8Array, count: number): NodeJS.TypedArray {
  const copy = values.slice()
  const bytes = bytesIn(copy)
  const width = bytes.length / count
  for (let index = 0; index < count; index += 1) {
    if (((valid[index >> 3] ?? 0) & (1 << (index & 7))) === 0) bytes.fill(0, index * width, (index + 1) * width)
  }
  return copy
}

function bytesIn(view: NodeJS.ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
}

function isTyped(value: unknown): value is NodeJS.TypedArray {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function isValidity(value: unknown): value is { itemValid: (index: number) => boolean } {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'itemValid') === 'function'
}

/** The items of a vector of UINTEGER without a null, all at once: one by one takes longer than many a query. */
function itemsOf(vector: DuckDBVector): Uint32Array {
  const items: unknown = Reflect.get(vector, 'items')
  if (!(vector instanceof DuckDBUIntegerVector) || !(items instanceof Uint32Array))
    throw new TypeError('expected UINTEGER')
  return items
}

function bind(statement: DuckDBPreparedStatement, index: number, value: Parameter): void {
  if (value === null) statement.bindNull(index)
  else if (typeof value === 'string') statement.bindVarchar(index, value)
  else if (typeof value === 'number' || typeof value === 'bigint') statement.bindBigInt(index, BigInt(value))
  else statement.bindList(index, value, LIST(VARCHAR))
}
