import { stat } from 'node:fs/promises'
import path from 'node:path'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { newestOnDisk, publishedBefore } from '../../core/warehouse/history.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import {
  DamagedFile,
  MissingFile,
  holdsFields,
  orderTerms,
  readManifest,
  requireFiles,
  type Manifest,
} from '../../core/warehouse/manifest.ts'
import { manifestOf, removeSnapshot, snapshotsOnDisk } from '../../core/warehouse/on-disk.ts'
import { readReport } from '../../core/warehouse/report.ts'
import { removable, type Retention } from '../../core/warehouse/retention.ts'
import type { Log } from '../http/logging.ts'
import { blockRowsOf, rowBytesOf } from './plan.ts'
import { emptyShelf, inTurn, type Kept, type Shelf } from './shelf.ts'
import { InUse, type Snapshot } from './snapshot.ts'

export interface SnapshotOptions {
  readonly warehouse: string
  readonly catalog: Catalog
  readonly retention: Retention
  readonly log: Log
}

/** What `states` tells of a table. */
export interface TableState {
  /** `dataset/table`. */
  readonly table: string
  /** What is served; null where nothing is. */
  readonly snapshot: SnapshotId | null
  /** Why that is not what is published. */
  readonly fault: string | null
}

/** The spec's readers see a refresh within 2 s. */
const lookEveryMs = 1000

/** Follows the pointers of the warehouse. A request takes one snapshot, once, and stays with it. */
export class Snapshots {
  readonly #warehouse: string
  readonly #retention: Retention
  readonly #log: Log
  readonly #shelves: ReadonlyMap<Table, Shelf>
  /** What is there at the start is no news. */
  #following = false
  #timer: NodeJS.Timeout | undefined

  constructor({ warehouse, catalog, retention, log }: SnapshotOptions) {
    this.#warehouse = path.resolve(warehouse)
    this.#retention = retention
    this.#log = log
    this.#shelves = new Map(allTables(catalog).map((table) => [table, emptyShelf(table)]))
  }

  /** The newest whole snapshot of a table, or null where there is none with the declared fields. */
  current(table: Table): Snapshot | null {
    return this.#shelves.get(table)?.current ?? null
  }

  /**
   * Works with a snapshot, whose files stay meanwhile.
   *
   * @param asked its id, or null for the current one
   * @param work gets null where there is no such snapshot (any more)
   */
  async use<T>(
    table: Table,
    asked: SnapshotId | null,
    work: (snapshot: Snapshot | null) => Promise<T>,
  ): Promise<T> {
    const shelf = this.#shelves.get(table)
    const current = shelf?.current ?? null
    if (asked === null || asked === current?.manifest.snapshot) {
      return current === null ? work(null) : current.inUse.during(() => work(current))
    }
    // The id is a reader's word: it only chooses among those that were found on disk.
    const kept = shelf?.kept.get(asked)
    if (shelf === undefined || kept === undefined) return work(null)
    return kept.inUse.during(async () => {
      kept.opened ??= this.#openKept(shelf.table, asked, kept)
      return work(await kept.opened)
    })
  }

  /** What is served of each table, and why not what is published where that is so. */
  get states(): TableState[] {
    return [...this.#shelves.values()].map(({ table, current, fault }) => ({
      table: tableId(table),
      snapshot: current?.manifest.snapshot ?? null,
      fault,
    }))
  }

  /**
   * Reads the files of every snapshot that is served again, and takes those out of service that are damaged: the one
   * published before serves then, until another is published.
   *
   * @param hash reads a file, as slowly as it likes
   */
  async scrub(hash: (file: string) => Promise<string>): Promise<void> {
    for (const shelf of this.#shelves.values()) {
      for (const [id, kept] of shelf.kept) {
        const snapshot = kept.opened === null ? null : await kept.opened
        if (snapshot === null) continue
        try {
          await kept.inUse.during(() => requireFiles(snapshot.folder, snapshot.manifest, hash))
        } catch (error) {
          if (!(error instanceof DamagedFile || error instanceof MissingFile)) throw error
          await inTurn(shelf, async () => {
            if (shelf.kept.get(id) === kept) await this.#takeOut(shelf, snapshot, error)
          })
        }
      }
    }
  }

  /** How many tables have a snapshot. */
  get size(): number {
    return [...this.#shelves.values()].filter(({ current }) => current !== null).length
  }

  /** Looks at every table once: takes snapshots that changed, whole or not at all, and removes old ones. */
  async refresh(): Promise<void> {
    await Promise.all([...this.#shelves.values()].map((shelf) => inTurn(shelf, () => this.#look(shelf))))
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

  async #look(shelf: Shelf): Promise<void> {
    const { table } = shelf
    const pointer = layout.pointer(this.#warehouse, table)
    const seen = await fingerprint(pointer)
    if (seen !== shelf.seen) {
      let manifest: Manifest | null = null
      try {
        manifest = await readManifest(pointer)
        if (manifest === null && (await snapshotsOnDisk(this.#warehouse, table)).length > 0) {
          throw new Error(
            `${pointer} is gone, though there are snapshots; run \`make ingest\` to publish the table anew`,
          )
        }
        if (manifest !== null) await this.#take(shelf, manifest)
        shelf.seen = seen
        shelf.trouble = null
        shelf.fault = null
      } catch (error) {
        // Looked at again where the reason may pass.
        if (error instanceof DamagedFile) shelf.seen = seen
        shelf.fault = messageOf(error)
        this.#tell(shelf, error, 'snapshot refused; the one before goes on serving')
        if (shelf.current === null) await this.#fallBack(shelf, manifest)
      }
    }
    await this.#removeOld(shelf)
  }

  async #take(shelf: Shelf, manifest: Manifest): Promise<void> {
    const { table } = shelf
    const inUse = shelf.kept.get(manifest.snapshot)?.inUse ?? new InUse()
    const snapshot = await this.#open(table, manifest, inUse)
    if (manifest.order.join() !== orderTerms(table).join()) {
      this.#log.warn(
        { table: tableId(table) },
        'its order is not that of the catalog: ingest the table again',
      )
    }
    const { snapshot: id, rows } = manifest
    shelf.current = snapshot
    for (const other of await snapshotsOnDisk(this.#warehouse, table)) {
      if (!shelf.kept.has(other)) shelf.kept.set(other, { inUse: new InUse(), opened: null })
    }
    shelf.kept.set(id, { inUse, opened: Promise.resolve(snapshot) })
    this.#log[this.#following ? 'info' : 'debug'](
      { table: tableId(table), snapshot: id, rows },
      'snapshot taken',
    )
  }

  /**
   * Serves the snapshot that was published before the one that cannot be, or, where the pointer itself cannot be read
   * (`from` is null), the newest on disk.
   */
  async #fallBack(shelf: Shelf, from: Manifest | null): Promise<void> {
    const { table } = shelf
    shelf.current = null
    try {
      const candidates =
        from === null ? newestOnDisk(this.#warehouse, table) : publishedBefore(this.#warehouse, table, from)
      for await (const manifest of candidates) {
        try {
          await this.#take(shelf, manifest)
          this.#log.warn({ table: tableId(table), snapshot: manifest.snapshot }, 'an older snapshot serves')
          return
        } catch (error) {
          this.#log.error(
            { err: error, table: tableId(table), snapshot: manifest.snapshot },
            'older snapshot refused',
          )
        }
      }
    } catch (error) {
      this.#log.error({ err: error, table: tableId(table) }, 'no older snapshot can serve')
    }
  }

  async #takeOut(shelf: Shelf, { manifest }: Snapshot, error: unknown): Promise<void> {
    const { snapshot: id } = manifest
    this.#log.error(
      { err: error, table: tableId(shelf.table), snapshot: id },
      'snapshot damaged, and taken out of service',
    )
    shelf.kept.set(id, { inUse: new InUse(), opened: Promise.resolve(null) })
    if (shelf.current?.manifest.snapshot !== id) return
    shelf.fault = messageOf(error)
    await this.#fallBack(shelf, manifest)
  }

  /** @throws Error or DamagedFile where it is not whole, or not what the catalog declares */
  async #open(table: Table, manifest: Manifest, inUse: InUse): Promise<Snapshot> {
    if (!holdsFields(manifest, table)) {
      throw new Error(
        'its fields are not those of the catalog: ingest the table again, and restart the server after a change of the catalog',
      )
    }
    const folder = layout.snapshot(this.#warehouse, table, manifest.snapshot)
    await requireFiles(folder, manifest)
    const lastModified = new Date(manifest.import_date).toUTCString()
    const rowBytes = rowBytesOf(manifest)
    const report = await readReport(folder)
    return {
      table,
      manifest,
      folder,
      report,
      choices: new Map(
        report?.fields.flatMap(({ name, choices }) =>
          choices === undefined ? [] : [[name, choices] as const],
        ),
      ),
      lastModified,
      rowBytes,
      blockRows: blockRowsOf(rowBytes),
      inUse,
    }
  }

  async #openKept(table: Table, id: SnapshotId, kept: Kept): Promise<Snapshot | null> {
    try {
      const manifest = await manifestOf(this.#warehouse, table, id)
      return manifest === null ? null : await this.#open(table, manifest, kept.inUse)
    } catch (error) {
      // Looked at again where the reason may pass.
      if (!(error instanceof DamagedFile)) kept.opened = null
      this.#log.error({ err: error, table: tableId(table), snapshot: id }, 'kept snapshot refused')
      return null
    }
  }

  async #removeOld(shelf: Shelf): Promise<void> {
    const { table, current, kept } = shelf
    if (current === null) return
    const ids = removable([...kept.keys()], current.manifest, new Date(), this.#retention)
    for (const id of ids) {
      const old = kept.get(id)
      if (old === undefined || old.inUse.now) continue
      kept.delete(id)
      try {
        await removeSnapshot(this.#warehouse, table, id)
        this.#log.info({ table: tableId(table), snapshot: id }, 'old snapshot removed')
      } catch (error) {
        kept.set(id, { inUse: old.inUse, opened: Promise.resolve(null) })
        this.#tell(shelf, error, 'old snapshot not removed')
      }
    }
  }

  #tell(shelf: Shelf, error: unknown, what: string): void {
    if (shelf.trouble === messageOf(error)) return
    shelf.trouble = messageOf(error)
    this.#log.error({ err: error, table: tableId(shelf.table) }, what)
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
