import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { versionOf } from '../../core/warehouse/fingerprint.ts'
import { manifestOf, publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import { newestIn, publishedBefore } from '../../core/warehouse/history.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { filesOf, holdsFields, orderTerms, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport } from '../../core/warehouse/report.ts'
import { removable, type Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { DamagedFile, filesInFolder, verifyFile, verifyFiles } from '../../core/warehouse/verify-files.ts'
import type { Log } from '../base/log.ts'
import { isDamage, openSnapshot, reasonOf, Unfit, type ReadProgress } from './open.ts'
import type { Snapshot } from './snapshot.ts'

/** State that the tables of a warehouse share. */
export interface TablesContext {
  readonly store: Store
  readonly retention: Retention
  readonly log: Log
  /** Called when a table is published with other fields than those served. */
  readonly onOtherFields: () => void
  readonly news: {
    /** Increases whenever a table serves another snapshot. */
    version: number
    /** False until all tables are loaded: their snapshots are not news, and are logged only for debugging. */
    isFollowing: boolean
  }
}

/** A snapshot in the warehouse; read and verified on demand. */
interface KnownSnapshot {
  opened: Promise<Snapshot | null> | null
  /** Size, times and inode of each file when it was last verified. */
  readonly seen: Map<string, string>
}

/** Interval after which an unreadable report is read again. */
const reportAgainMs = 10_000

/** One table: follows its pointer in the warehouse and serves the newest intact snapshot. */
export class ServedTable {
  readonly table: Table
  readonly kept = new Map<SnapshotId, KnownSnapshot>()
  readonly #common: TablesContext
  readonly #readingAgain = new Set<Snapshot>()
  #current: Snapshot | null = null
  #latest: Manifest | null = null
  #seen = ''
  #fault: string | null = null
  #reading: ReadProgress | null = null
  #reportReadAt = 0
  /** Queue of operations, one at a time: a poll must not run while a scrub withdraws a snapshot. */
  #turn: Promise<unknown> = Promise.resolve()
  /** Message of the last logged error, so that the same error is logged only once. */
  #trouble: string | null = null

  constructor(table: Table, common: TablesContext) {
    this.table = table
    this.#common = common
  }

  /** Served snapshot; null if there is none. */
  get current(): Snapshot | null {
    return this.#current
  }

  /** Manifest that the pointer last named, served or not; null before there is one. */
  get latest(): Manifest | null {
    return this.#latest
  }

  /** Version of the pointer at its last read: an unchanged pointer is not read again. Empty before the first read. */
  get seen(): string {
    return this.#seen
  }

  /** Reason why the published snapshot is not served, safe for clients; null if all is well. */
  get fault(): string | null {
    return this.#fault
  }

  /** Progress of verifying a snapshot before it serves; null at other times. */
  get reading(): ReadProgress | null {
    return this.#reading
  }

  /** Returns a snapshot by id; null if there is none, or it cannot be served. */
  async pinned(id: SnapshotId): Promise<Snapshot | null> {
    // The client may know a newer snapshot from another server or worker that polled earlier.
    if (!this.kept.has(id) && id > (this.#current?.manifest.snapshot ?? '')) await this.look()
    const kept = this.kept.get(id)
    if (kept === undefined) return null
    kept.opened ??= this.#openKnown(id, kept)
    return kept.opened
  }

  /** Reads the pointer if it has changed, and serves the snapshot that it names. */
  async look(): Promise<void> {
    await this.inTurn(() => this.#poll())
  }

  /** Runs work after all earlier operations on the table. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    // Later operations must not fail because of an earlier one.
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #poll(): Promise<void> {
    const { table } = this
    // Ignore the error: reading the pointer below fails for the same reason.
    const seen = (await this.#common.store.stat(layout.pointer(table)).catch(() => null))?.version ?? 'none'
    if (seen !== this.seen) {
      let manifest: Manifest | null = null
      try {
        manifest = await publishedOf(this.#common.store, table)
        if (manifest === null && (await snapshotsIn(this.#common.store, table)).length > 0) {
          throw new Unfit(
            'current.json is missing, although there are snapshots; run `make ingest` to publish the table again',
          )
        }
        if (manifest !== null) {
          this.#noteLatest(manifest)
          await this.#take(manifest)
        }
        this.#seen = seen
        this.#trouble = null
        this.#fault = null
      } catch (error) {
        // Damage is permanent. After other errors, the next poll reads the pointer again.
        if (error instanceof DamagedFile) this.#seen = seen
        this.#fault = reasonOf(error)
        this.#tell(error, 'snapshot rejected; still serving the previous one')
        if (this.current === null) await this.#fallBack(manifest)
      }
    } else await this.#takeReport()
    this.#forgetOld()
  }

  /** Opens the served snapshot again if its report, missing so far, can now be read from the store. */
  async #takeReport(): Promise<void> {
    const { table, current } = this
    if (!this.#common.store.isRemote || current?.report !== null) return
    if (performance.now() < this.#reportReadAt + reportAgainMs) return
    this.#reportReadAt = performance.now()
    if ((await readReport(this.#common.store, table, current.manifest)) === null) return
    await this.#take(current.manifest).catch((error: unknown) =>
      this.#tell(error, 'report of the snapshot was not reloaded'),
    )
  }

  #noteLatest(manifest: Manifest): void {
    if (this.latest?.snapshot === manifest.snapshot) return
    this.#latest = manifest
    if (!holdsFields(manifest, this.table)) this.#common.onOtherFields()
  }

  /**
   * Verifies files whose size, times or inode have changed since they were last verified.
   * @returns number of files that it compared
   */
  async noticeChanges(): Promise<number> {
    let looked = 0
    // Remote files are checked whenever they are pinned.
    if (this.#common.store.isRemote) return looked
    for (const kept of this.kept.values()) {
      const snapshot = kept.opened === null ? null : await kept.opened
      if (snapshot === null) continue
      const { folder, manifest } = snapshot
      for (const stored of filesOf(manifest)) {
        looked += 1
        const now = versionOf(path.join(folder, stored.file))
        if (now === kept.seen.get(stored.file)) continue
        try {
          await verifyFile(filesInFolder(folder), stored)
          kept.seen.set(stored.file, now)
        } catch (error) {
          if (isDamage(error)) await this.takeOut(snapshot, error)
          else this.#tell(error, 'changed file cannot be read')
          break
        }
      }
    }
    return looked
  }

  async #take(manifest: Manifest): Promise<void> {
    const { table } = this
    const taken = { seen: new Map<string, string>() }
    const snapshot = await this.#open(manifest, taken)
    if (manifest.order.join() !== orderTerms(table).join()) {
      this.#common.log.warn(
        { table: tableId(table) },
        'its order differs from the catalog: run `make ingest` for the table',
      )
    }
    const { snapshot: id, rows } = manifest
    this.#serve(snapshot)
    for (const other of await snapshotsIn(this.#common.store, table)) {
      if (!this.kept.has(other)) this.kept.set(other, unopened())
    }
    this.kept.set(id, { ...taken, opened: Promise.resolve(snapshot) })
    this.#common.log[this.#common.news.isFollowing ? 'info' : 'debug'](
      { table: tableId(table), snapshot: id, rows },
      'snapshot taken',
    )
  }

  /**
   * Serves the snapshot published before a damaged one; or, if the pointer itself is unreadable (`from` is
   * null), the newest in the warehouse.
   */
  async #fallBack(from: Manifest | null): Promise<void> {
    const { table } = this
    this.#serve(null)
    try {
      const candidates =
        from === null ? newestIn(this.#common.store, table) : publishedBefore(this.#common.store, table, from)
      for await (const manifest of candidates) {
        try {
          await this.#take(manifest)
          this.#common.log.warn(
            { table: tableId(table), snapshot: manifest.snapshot },
            'fell back to older snapshot',
          )
          return
        } catch (error) {
          this.#common.log.error(
            { err: error, table: tableId(table), snapshot: manifest.snapshot },
            'older snapshot rejected',
          )
        }
      }
    } catch (error) {
      this.#common.log.error({ err: error, table: tableId(table) }, 'no older snapshot can be served')
    }
  }

  #serve(snapshot: Snapshot | null): void {
    this.#current = snapshot
    this.#common.news.version += 1
  }

  async takeOut({ manifest, folder }: Snapshot, error: unknown): Promise<void> {
    const { snapshot: id } = manifest
    this.#common.log.error(
      { err: error, table: tableId(this.table), snapshot: id, folder },
      'snapshot damaged; no longer served',
    )
    this.kept.set(id, { ...unopened(), opened: Promise.resolve(null) })
    if (this.current?.manifest.snapshot !== id) return
    this.#fault = reasonOf(error)
    await this.#fallBack(manifest)
  }

  #open(manifest: Manifest, known: Pick<KnownSnapshot, 'seen'>): Promise<Snapshot> {
    return openSnapshot(this.#common.store, this.table, manifest, known, {
      takeOut: (snapshot, error) => this.#takeOutSoon(snapshot, error),
      doubt: (snapshot, why) => void this.#readAgain(snapshot, why),
      reading: (progress) => (this.#reading = progress),
    })
  }

  /** Withdraws a snapshot that a request found damaged, after all earlier operations on the table. */
  #takeOutSoon(snapshot: Snapshot, error: DamagedFile): void {
    if (this.current === snapshot) this.#fault = reasonOf(error)
    void this.inTurn(async () => {
      const kept = this.kept.get(snapshot.manifest.snapshot)
      if ((await kept?.opened) === snapshot) await this.takeOut(snapshot, error)
    }).catch((cause: unknown) => this.#tell(cause, 'damaged snapshot could not be replaced'))
  }

  /** Rereads all files of a snapshot, and withdraws it if they are damaged. */
  async #readAgain(snapshot: Snapshot, why: string): Promise<void> {
    if (this.#readingAgain.has(snapshot)) return
    this.#readingAgain.add(snapshot)
    const { folder, manifest } = snapshot
    const about = { table: tableId(this.table), snapshot: manifest.snapshot, why }
    // Record the versions before reading, so that a later change is noticed.
    const versions = filesOf(manifest).map(({ file }) => [file, versionOf(path.join(folder, file))] as const)
    try {
      await verifyFiles(filesInFolder(folder), manifest)
      const kept = this.kept.get(manifest.snapshot)
      if ((await kept?.opened) === snapshot)
        for (const [file, version] of versions) kept?.seen.set(file, version)
      this.#common.log.warn(about, 'suspected files are intact')
    } catch (error) {
      if (isDamage(error)) this.#takeOutSoon(snapshot, error)
      else {
        if (this.current === snapshot) this.#fault = reasonOf(error)
        this.#common.log.error({ ...about, err: error }, 'suspected files cannot be read')
      }
    } finally {
      this.#readingAgain.delete(snapshot)
    }
  }

  async #openKnown(id: SnapshotId, kept: KnownSnapshot): Promise<Snapshot | null> {
    const { table } = this
    try {
      const manifest = await manifestOf(this.#common.store, table, id)
      return manifest === null ? null : await this.#open(manifest, kept)
    } catch (error) {
      // Damage is permanent. After other errors, the next request tries again.
      if (!(error instanceof DamagedFile)) kept.opened = null
      this.#common.log.error({ err: error, table: tableId(table), snapshot: id }, 'kept snapshot rejected')
      return null
    }
  }

  /** Drops expired snapshots; the next ingest deletes their files, an hour later at the earliest. */
  #forgetOld(): void {
    const { current, kept } = this
    if (current === null) return
    const over = removable([...kept.keys()], current.manifest, new Date(), this.#common.retention)
    for (const id of over) kept.delete(id)
  }

  #tell(error: unknown, what: string): void {
    if (this.#trouble === messageOf(error)) return
    this.#trouble = messageOf(error)
    const folder = `${this.#common.store.address}/${layout.table(this.table)}`
    this.#common.log.error({ err: error, table: tableId(this.table), folder }, what)
  }
}

function unopened(): KnownSnapshot {
  return { opened: null, seen: new Map() }
}
