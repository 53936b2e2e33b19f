import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { DuckDBInstance, version, type DuckDBConnection } from '@duckdb/node-api'
import { quotedText } from '../sql.ts'
import { Connection } from './connection.ts'

interface DatabaseOptions {
  /** Database file; without it, everything stays in memory. */
  readonly file?: string
  /** Memory limit, such as `256MB`; data beyond it spills to `scratch`. */
  readonly memory: string
  readonly threads: number
  /** Absolute folder for spilling; created if missing. */
  readonly scratch: string
  /** Absolute folders that statements may read and write; nothing else is accessible. */
  readonly folders: readonly string[]
  /** Optimizers to keep on; by default all. */
  readonly optimizers?: readonly string[]
}

export const duckdbVersion: string = version()

export class Database {
  readonly #instance: DuckDBInstance

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance
  }

  /**
   * Opens a database that can access its folders alone: no network, no extensions. Settings can be changed
   * until `lock`.
   */
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
    // The order matters: later lines forbid what earlier ones do.
    await connection.run(`set TimeZone = 'UTC'`)
    // The operating system caches files; a second copy costs 100 MB and gains next to nothing.
    await connection.run('set enable_external_file_cache = false')
    if (options.optimizers !== undefined) await keepOptimizers(connection, options.optimizers)
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

  /** Call it after the last connection is configured. */
  async lock(): Promise<void> {
    const connection = await this.#instance.connect()
    await connection.run('set lock_configuration = true')
    connection.closeSync()
  }

  close(): void {
    this.#instance.closeSync()
  }
}

async function keepOptimizers(connection: DuckDBConnection, optimizers: readonly string[]): Promise<void> {
  const optimizerNames = await connection.runAndReadAll('select name from duckdb_optimizers()')
  const names = optimizerNames.getRows().map(([name]) => String(name))
  const unknown = optimizers.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Error(`DuckDB has no optimizer ${unknown}`)
  const disabledNames = names.filter((name) => !optimizers.includes(name))
  await connection.run(`set disabled_optimizers = ${quotedText(disabledNames.join(','))}`)
}
