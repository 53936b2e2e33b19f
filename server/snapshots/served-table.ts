import path from 'node:path'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf } from '../../core/errors.ts'
import { versionOf } from '../../core/warehouse/fingerprint.ts'
import { manifestOf, publishedOf, snapshotsIn } from '../../core/warehouse/publish.ts'
import { earlierSnapshots } from '../../core/warehouse/history.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { filesOf, holdsFields, orderTerms, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport } from '../../core/warehouse/report.ts'
import { removableSnapshots, type Retention } from '../../core/warehouse/retention.ts'
import { readRollbacks, type Withdrawn } from '../../core/warehouse/state-files.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { DamagedFile, filesInFolder, verifyFile, verifyFiles } from '../../core/warehouse/verify-files.ts'
import type { Log } from '../base/log.ts'
import { isDamage, openSnapshot, reasonOf, Unfit, type ReadProgress } from './open.ts'
import type { Snapshot } from './snapshot.ts'

export interface TablesContext {
  readonly store: Store
  readonly retention: Retention
  readonly log: Log
  /**
   * Called when a published table has other fields than those served.
   * @param id such as `covid19/caso`
   * @returns true if the catalog is being adapted, and will serve the snapshot
   */
  readonly onOtherFields: (id: string, manifest: Manifest) => boolean
  readonly news: {
    /** Increases whenever a table serves another snapshot. */
    version: number
    /** True once all tables are loaded: earlier snapshots are no news. */
    hasLoadedTables: boolean
  }
}

interface KnownSnapshot {
  opened: Promise<Snapshot | null> | null
  hasOtherFields: boolean
  /** Size, times and inode at the last verification. */
  readonly fileVersions: Map<string, string>
}

const reportAgainMs = 10_000

/** Follows the pointer of a table and serves the newest intact snapshot. */
export class ServedTable {
  readonly table: Table
  readonly knownSnapshots = new Map<SnapshotId, KnownSnapshot>()
  readonly #common: TablesContext
  readonly #readingAgain = new Set<Snapshot>()
  #current: Snapshot | null = null
  #latest: Manifest | null = null
  #rollbacks: readonly Withdrawn[] = []
  #pointerVersion = ''
  #fault: string | null = null
  #reading: ReadProgress | null = null
  #reportReadAt = 0
  /** Operations run one at a time: a poll must not run while a scrub withdraws a snapshot. */
  #lastOperation: Promise<unknown> = Promise.resolve()
  #lastLogged: string | null = null

  constructor(table: Table, common: TablesContext) {
    this.table = table
    this.#common = common
  }

  get current(): Snapshot | null {
    return this.#current
  }

  /** Manifest that the pointer last named, served or not; null at first. */
  get latest(): Manifest | null {
    return this.#latest
  }

  /** Snapshots after the current one that were rolled back, latest first. */
  get rollbacks(): readonly Withdrawn[] {
    const currentId = this.#current?.manifest.snapshot
    return currentId === undefined ? [] : this.#rollbacks.filter(({ snapshot }) => snapshot > currentId)
  }

  /** An unchanged pointer is not read again. Empty before the first read. */
  get pointerVersion(): string {
    return this.#pointerVersion
  }

  /** Safe for clients; null if all is well. */
  get fault(): string | null {
    return this.#fault
  }

  /** Null unless a snapshot is being verified. */
  get reading(): ReadProgress | null {
    return this.#reading
  }

  /** Null if there is no such snapshot, or it cannot be served. */
  async pinned(id: SnapshotId): Promise<Snapshot | null> {
    // The client may know a newer snapshot from another server or worker that polled earlier.
    if (!this.knownSnapshots.has(id) && id > (this.#current?.manifest.snapshot ?? '')) await this.refresh()
    const entry = this.knownSnapshots.get(id)
    if (entry === undefined) return null
    entry.opened ??= this.#openKnown(id, entry)
    return entry.opened
  }

  async refresh(): Promise<void> {
    await this.inTurn(() => this.#poll())
  }

  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const operation = this.#lastOperation.then(work)
    // Later operations must not fail because of an earlier one.
    this.#lastOperation = operation.catch(() => undefined)
    return operation
  }

  async #poll(): Promise<void> {
    // Ignore the error: reading the pointer below fails for the same reason.
    const version =
      (await this.#common.store.stat(layout.pointer(this.table)).catch(() => null))?.version ?? 'none'
    if (version === this.pointerVersion) await this.#reloadReport()
    else await this.#followPointer(version)
    this.#forgetOld()
  }

  async #followPointer(version: string): Promise<void> {
    const { store } = this.#common
    let manifest: Manifest | null = null
    try {
      manifest = await publishedOf(store, this.table)
      if (manifest === null && (await snapshotsIn(store, this.table)).length > 0) {
        throw new Unfit(
          'current.json is missing, although there are snapshots; run `acervo ingest` to publish the table again',
        )
      }
      // A snapshot for a newer catalog is served once that catalog is loaded.
      if (manifest !== null && !this.#isOfNextCatalog(manifest)) await this.#openAndServe(manifest)
      // Only feeds read the list; the next ingest reports a damaged one.
      this.#rollbacks = (await readRollbacks(store, this.table).catch(() => [])).toReversed()
      this.#pointerVersion = version
      this.#lastLogged = null
      this.#fault = null
    } catch (error) {
      // Damage is permanent. After other errors, the next poll reads the pointer again.
      if (error instanceof DamagedFile) this.#pointerVersion = version
      this.#fault = reasonOf(error)
      const remark = this.current === null ? '' : '; still serving the previous one'
      this.#logError(error, `snapshot rejected${remark}`)
      if (this.current === null) await this.#fallBack(manifest)
    }
  }

  /** Opens the snapshot again if its missing report can now be read. */
  async #reloadReport(): Promise<void> {
    const { table, current } = this
    if (!this.#common.store.isRemote || current?.report !== null) return
    if (performance.now() < this.#reportReadAt + reportAgainMs) return
    this.#reportReadAt = performance.now()
    if ((await readReport(this.#common.store, table, current.manifest)) === null) return
    await this.#openAndServe(current.manifest).catch((error: unknown) =>
      this.#logError(error, 'report of the snapshot was not reloaded'),
    )
  }

  #isOfNextCatalog(manifest: Manifest): boolean {
    if (this.latest?.snapshot === manifest.snapshot) return false
    this.#latest = manifest
    const id = tableId(this.table)
    if (holdsFields(manifest, this.table) || !this.#common.onOtherFields(id, manifest)) return false
    this.#common.log.info(
      { table: id, snapshot: manifest.snapshot },
      'published with other fields; adapting the catalog',
    )
    return true
  }

  /**
   * Verifies files whose size, time or inode has changed.
   * @returns number of files that it compared
   */
  async noticeChanges(): Promise<number> {
    let checkedFiles = 0
    // Remote files are checked whenever they are pinned.
    if (this.#common.store.isRemote) return checkedFiles
    for (const entry of this.knownSnapshots.values()) {
      const snapshot = entry.opened === null ? null : await entry.opened
      if (snapshot === null) continue
      const { folder, manifest } = snapshot
      for (const storedFile of filesOf(manifest)) {
        checkedFiles += 1
        const now = versionOf(path.join(folder, storedFile.file))
        if (now === entry.fileVersions.get(storedFile.file)) continue
        try {
          await verifyFile(filesInFolder(folder), storedFile)
          entry.fileVersions.set(storedFile.file, now)
        } catch (error) {
          if (isDamage(error)) await this.withdraw(snapshot, error)
          else this.#logError(error, 'changed file cannot be read')
          break
        }
      }
    }
    return checkedFiles
  }

  async #openAndServe(manifest: Manifest): Promise<void> {
    const { table } = this
    const entry = unopened()
    const snapshot = await this.#open(manifest, entry)
    if (manifest.order.join() !== orderTerms(table).join()) {
      this.#common.log.warn(
        { table: tableId(table) },
        'its order differs from the catalog: run `acervo ingest` for the table',
      )
    }
    const { snapshot: id, rows } = manifest
    this.#serve(snapshot)
    for (const otherId of await snapshotsIn(this.#common.store, table)) {
      if (!this.knownSnapshots.has(otherId)) this.knownSnapshots.set(otherId, unopened())
    }
    this.knownSnapshots.set(id, { ...entry, opened: Promise.resolve(snapshot) })
    this.#common.log[this.#common.news.hasLoadedTables ? 'info' : 'debug'](
      { table: tableId(table), snapshot: id, rows },
      'snapshot taken',
    )
  }

  /**
   * Serves the snapshot before a damaged one; or, without a readable pointer (`from` is null), the newest.
   */
  async #fallBack(from: Manifest | null): Promise<void> {
    const { table } = this
    this.#serve(null)
    try {
      for await (const manifest of earlierSnapshots(this.#common.store, table, from)) {
        try {
          await this.#openAndServe(manifest)
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

  async withdraw({ manifest, folder }: Snapshot, error: unknown): Promise<void> {
    const { snapshot: id } = manifest
    this.#common.log.error(
      { err: error, table: tableId(this.table), snapshot: id, folder },
      'snapshot damaged; no longer served',
    )
    this.knownSnapshots.set(id, { ...unopened(), opened: Promise.resolve(null) })
    if (this.current?.manifest.snapshot !== id) return
    this.#fault = reasonOf(error)
    await this.#fallBack(manifest)
  }

  #open(manifest: Manifest, knownSnapshot: Pick<KnownSnapshot, 'fileVersions'>): Promise<Snapshot> {
    return openSnapshot(this.#common.store, this.table, manifest, knownSnapshot, {
      withdraw: (snapshot, error) => this.#withdrawSoon(snapshot, error),
      doubt: (snapshot, reason) => void this.#readAgain(snapshot, reason),
      reading: (progress) => (this.#reading = progress),
    })
  }

  #withdrawSoon(snapshot: Snapshot, error: DamagedFile): void {
    if (this.current === snapshot) this.#fault = reasonOf(error)
    void this.inTurn(async () => {
      const entry = this.knownSnapshots.get(snapshot.manifest.snapshot)
      if ((await entry?.opened) === snapshot) await this.withdraw(snapshot, error)
    }).catch((cause: unknown) => this.#logError(cause, 'damaged snapshot could not be replaced'))
  }

  async #readAgain(snapshot: Snapshot, reason: string): Promise<void> {
    if (this.#readingAgain.has(snapshot)) return
    this.#readingAgain.add(snapshot)
    const { folder, manifest } = snapshot
    const details = { table: tableId(this.table), snapshot: manifest.snapshot, why: reason }
    // Record the versions before reading, so that a later change is noticed.
    const versions = filesOf(manifest).map(({ file }) => [file, versionOf(path.join(folder, file))] as const)
    try {
      await verifyFiles(filesInFolder(folder), manifest)
      const entry = this.knownSnapshots.get(manifest.snapshot)
      if ((await entry?.opened) === snapshot)
        for (const [file, version] of versions) entry?.fileVersions.set(file, version)
      this.#common.log.warn(details, 'files that seemed damaged are intact')
    } catch (error) {
      if (isDamage(error)) this.#withdrawSoon(snapshot, error)
      else {
        if (this.current === snapshot) this.#fault = reasonOf(error)
        this.#common.log.error({ ...details, err: error }, 'files that seem damaged cannot be read')
      }
    } finally {
      this.#readingAgain.delete(snapshot)
    }
  }

  async #openKnown(id: SnapshotId, entry: KnownSnapshot): Promise<Snapshot | null> {
    const { table } = this
    try {
      const manifest = await manifestOf(this.#common.store, table, id)
      return manifest === null ? null : await this.#open(manifest, entry)
    } catch (error) {
      entry.hasOtherFields = error instanceof Unfit
      // Damage and other fields are permanent. After other errors, the next request tries again.
      if (!(error instanceof DamagedFile) && !entry.hasOtherFields) entry.opened = null
      this.#common.log.error(
        { err: error, table: tableId(table), snapshot: id },
        'older snapshot cannot be served to requests pinned to it',
      )
      return null
    }
  }

  /** Drops expired snapshots; the next ingest deletes their files, an hour later at the earliest. */
  #forgetOld(): void {
    const { current, knownSnapshots } = this
    if (current === null) return
    const expiredIds = removableSnapshots(
      [...knownSnapshots.keys()],
      current.manifest,
      new Date(),
      this.#common.retention,
    )
    for (const id of expiredIds) knownSnapshots.delete(id)
  }

  #logError(error: unknown, action: string): void {
    if (this.#lastLogged === messageOf(error)) return
    this.#lastLogged = messageOf(error)
    const folder = `${this.#common.store.address}/${layout.table(this.table)}`
    this.#common.log.error({ err: error, table: tableId(this.table), folder }, action)
  }
}

function unopened(): KnownSnapshot {
  return { opened: null, hasOtherFields: false, fileVersions: new Map() }
}
