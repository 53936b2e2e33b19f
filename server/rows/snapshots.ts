import { stat } from 'node:fs/promises'
import path from 'node:path'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { layout } from '../../core/warehouse/layout.ts'
import {
  DamagedPart,
  holdsFields,
  orderTerms,
  readManifest,
  requireParts,
  type Manifest,
} from '../../core/warehouse/manifest.ts'
import type { Log } from '../http/logging.ts'

/** A table as one ingest published it; never changes. */
export interface Snapshot {
  readonly table: Table
  readonly manifest: Manifest
  /** Absolute folder of the parts. */
  readonly folder: string
}

/** The spec's readers see a refresh within 2 s. */
const lookEveryMs = 1000

/** Follows the pointers of the warehouse. A request takes one snapshot, once, and stays with it. */
export class Snapshots {
  readonly #warehouse: string
  readonly #tables: readonly Table[]
  readonly #log: Log
  readonly #current = new Map<Table, Snapshot>()
  /** What was last taken from each pointer, so that only a change is read. */
  readonly #seen = new Map<Table, string>()
  /** Why a table's pointer is not followed. */
  readonly #refused = new Map<Table, string>()
  /** What is there at the start is no news. */
  #following = false
  #timer: NodeJS.Timeout | undefined

  constructor(warehouse: string, catalog: Catalog, log: Log) {
    this.#warehouse = path.resolve(warehouse)
    this.#tables = allTables(catalog)
    this.#log = log
  }

  /** The newest whole snapshot of a table, or null where there is none with the declared fields. */
  current(table: Table): Snapshot | null {
    return this.#current.get(table) ?? null
  }

  /** How many tables have a snapshot. */
  get size(): number {
    return this.#current.size
  }

  /** Looks at every pointer once; snapshots that changed are taken whole or not at all. */
  async refresh(): Promise<void> {
    await Promise.all(this.#tables.map((table) => this.#look(table)))
  }

  /** Looks again and again until stopped; never two looks at once. */
  follow(): void {
    this.#following = true
    this.#timer = setTimeout(() => {
      void this.refresh().finally(() => {
        if (this.#timer !== undefined) this.follow()
      })
    }, lookEveryMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  async #look(table: Table): Promise<void> {
    const pointer = layout.pointer(this.#warehouse, table)
    const seen = await fingerprint(pointer)
    if (seen === this.#seen.get(table)) return
    try {
      const manifest = await readManifest(pointer)
      if (manifest !== null) await this.#take(table, manifest)
      this.#seen.set(table, seen)
      this.#refused.delete(table)
    } catch (error) {
      // Looked at again where the reason may pass, but told once.
      if (error instanceof DamagedPart) this.#seen.set(table, seen)
      if (this.#refused.get(table) === messageOf(error)) return
      this.#refused.set(table, messageOf(error))
      this.#log.error(
        { err: error, table: tableId(table) },
        'snapshot refused; the one before goes on serving',
      )
    }
  }

  async #take(table: Table, manifest: Manifest): Promise<void> {
    if (!holdsFields(manifest, table)) {
      throw new Error(
        'its fields are not those of the catalog: ingest the table again, and restart the server after a change of the catalog',
      )
    }
    const folder = layout.snapshot(this.#warehouse, table, manifest.snapshot)
    await requireParts(folder, manifest)
    if (manifest.order.join() !== orderTerms(table).join()) {
      this.#log.warn(
        { table: tableId(table) },
        'its order is not that of the catalog: ingest the table again',
      )
    }
    this.#current.set(table, { table, manifest, folder })
    const { snapshot, rows } = manifest
    this.#log[this.#following ? 'info' : 'debug']({ table: tableId(table), snapshot, rows }, 'snapshot taken')
  }
}

/** A rename gives the pointer another inode. */
async function fingerprint(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file)
    return `${ino} ${mtimeMs} ${size}`
  } catch {
    return 'none'
  }
}
