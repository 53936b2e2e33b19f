import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { messageOf } from '../../core/errors.ts'
import { versionOf } from '../../core/warehouse/fingerprint.ts'
import { manifestOf, publishedOf, snapshotsIn } from '../../core/warehouse/published.ts'
import { newestIn, publishedBefore } from '../../core/warehouse/history.ts'
import { layout, type SnapshotId } from '../../core/warehouse/layout.ts'
import { readLooks, type Looked } from '../../core/warehouse/state-files.ts'
import { filesOf, holdsFields, orderTerms, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport, type SnapshotReport } from '../../core/warehouse/report.ts'
import { removable, type Retention } from '../../core/warehouse/retention.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { DamagedFile, filesInFolder, requireFile, requireFiles } from '../../core/warehouse/whole.ts'
import type { Log } from '../base/log.ts'
import type { FittedCatalog } from './fitted-catalog.ts'
import { openSnapshot } from './open.ts'
import {
  isDamage,
  reasonOf,
  Unfit,
  emptyState,
  inTurn,
  unopened,
  type KnownSnapshot,
  type TableState,
} from './table-state.ts'
import type { Snapshot } from './snapshot.ts'
import { statusOf, whyMissing, type TableStatus } from './status.ts'

interface SnapshotOptions {
  readonly store: Store
  readonly catalog: Catalog
  readonly retention: Retention
  readonly log: Log
  /** Of the catalog before: what it knows of tables that are declared as they were is taken over. */
  readonly before?: Snapshots | null
  /** By `dataset/table`: fields that are declared and not published yet. */
  readonly lacking?: FittedCatalog['lacking']
  /** Called when a table is published with other fields than it is served with. */
  readonly onOtherFields?: () => void
}

/** Tables that are looked at at the same time: each reads its files through memory of its own. */
const looksMax = 8
/** The spec's readers see a refresh within 2 s. */
const pollEveryMs = 1000
/** A report that could not be read is read again after this time. */
const reportAgainMs = 10_000
/** Files that are looked at at each poll: all of some hundred tables. What is read of them is proved in any case. */
const noticedFilesMax = 2000

/** Follows the pointers of the warehouse. A request takes one snapshot, once, and stays with it. */
export class Snapshots {
  readonly #store: Store
  readonly #retention: Retention
  readonly #log: Log
  readonly #states: ReadonlyMap<string, TableState>
  readonly #lacking: FittedCatalog['lacking']
  readonly #onOtherFields: () => void
  readonly #readingAgain = new Set<Snapshot>()
  /** One for all catalogs, since a snapshot may be taken out by those who opened it under one before. */
  readonly #changes: { version: number }
  /** The table whose files come next to be looked at. */
  #noticeNext = 0
  /** What is there at the start is no news. */
  #following = false
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor({ store, catalog, retention, log, before = null, ...fitting }: SnapshotOptions) {
    this.#lacking = fitting.lacking ?? new Map()
    this.#onOtherFields = fitting.onOtherFields ?? (() => undefined)
    this.#store = store
    this.#retention = retention
    this.#log = log
    const known = (table: Table): TableState | null => (before === null ? null : before.#stateOf(table))
    this.#states = new Map(
      allTables(catalog).map((table) => [tableId(table), known(table) ?? emptyState(table)]),
    )
    this.#changes = before === null ? { version: 0 } : before.#changes
    this.#following = before !== null
    if (before !== null) this.#changes.version += 1
  }

  /** The newest whole snapshot of a table, or null where there is none with the declared fields. */
  current(table: Table): Snapshot | null {
    return this.#states.get(tableId(table))?.current ?? null
  }

  /**
   * Works with a snapshot. Its files stay for an hour at least after the last that can ask for it (`#forgetOld`).
   *
   * @param asked its id, or null for the current one
   * @param work gets null where there is no such snapshot (any more)
   */
  async use<T>(
    table: Table,
    asked: SnapshotId | null,
    work: (snapshot: Snapshot | null) => Promise<T>,
  ): Promise<T> {
    const state = this.#states.get(tableId(table))
    const current = state?.current ?? null
    if (asked === null || asked === current?.manifest.snapshot) {
      return work(current)
    }
    // The id is a reader's word: it only chooses among those that were found in the warehouse.
    if (state === undefined) return work(null)
    // Another server, or another worker, may have seen a newer one first.
    if (!state.kept.has(asked) && asked > (current?.manifest.snapshot ?? '')) await this.#look(state)
    const kept = state.kept.get(asked)
    if (kept === undefined) return work(null)
    kept.opened ??= this.#openKnown(state, asked, kept)
    return work(await kept.opened)
  }

  /** Returns whether a snapshot has not expired; it may be damaged, or unreadable now. */
  isKept(table: Table, id: SnapshotId): boolean {
    return this.#states.get(tableId(table))?.kept.has(id) === true
  }

  /** The manifest that was last published of a table, whether or not it serves; null before there is one. */
  latest(table: Table): Manifest | null {
    return this.#states.get(tableId(table))?.latest ?? null
  }

  /** Null where it is declared in another way now. */
  #stateOf(table: Table): TableState | null {
    const known = this.#states.get(tableId(table))
    return known !== undefined && isDeepStrictEqual(known.table, table) ? known : null
  }

  get statuses(): TableStatus[] {
    return [...this.#states.values()].map((state) =>
      statusOf(state, this.#lacking.get(tableId(state.table)) ?? []),
    )
  }

  /** Tables that are published and cannot be asked for: not looked at yet, or not whole. */
  get missing(): { readonly table: string; readonly why: string }[] {
    return [...this.#states.values()].flatMap((state) => {
      const why = whyMissing(state)
      return why === null ? [] : [{ table: tableId(state.table), why }]
    })
  }

  /**
   * Reads the files of every snapshot that is served again, and takes those out of service that are damaged: the one
   * published before serves then, until another is published.
   *
   * @param hash reads a file, as slowly as it likes
   */
  async scrub(hash: (file: string) => Promise<string>): Promise<void> {
    for await (const { state, id, kept, snapshot } of this.#served()) {
      try {
        await requireFiles(filesInFolder(snapshot.folder, hash), snapshot.manifest)
      } catch (error) {
        if (!isDamage(error)) throw error
        await inTurn(state, async () => {
          if (state.kept.get(id) === kept) await this.#takeOut(state, snapshot, error)
        })
      }
    }
  }

  /** Of the files that a scrub reads. */
  async bytes(): Promise<number> {
    let sum = 0
    for await (const { snapshot } of this.#served())
      for (const { bytes } of filesOf(snapshot.manifest)) sum += bytes
    return sum
  }

  /** What is brought here is looked at when it comes, and goes. */
  async *#served() {
    if (this.#store.isElsewhere) return
    for (const state of this.#states.values()) {
      for (const [id, kept] of state.kept) {
        const snapshot = kept.opened === null ? null : await kept.opened
        if (snapshot !== null) yield { state, id, kept, snapshot }
      }
    }
  }

  /** Why what is published of a table is not what is served; null where it is. */
  fault(table: Table): string | null {
    return this.#states.get(tableId(table))?.fault ?? null
  }

  /** What was published before the current snapshot, the latest first, as far as it is kept. */
  async earlier(table: Table): Promise<Manifest[]> {
    const current = this.current(table)
    const earlier: Manifest[] = []
    if (current === null) return earlier
    const kept = this.#states.get(tableId(table))?.kept
    for await (const manifest of publishedBefore(this.#store, table, current.manifest)) {
      if (kept?.has(manifest.snapshot) === true) earlier.push(manifest)
    }
    return earlier
  }

  /** The manifests of what can be asked for of a table, the current first, with what their ingests saw. */
  async kept(table: Table): Promise<{ manifest: Manifest; report: SnapshotReport | null }[]> {
    const current = this.current(table)
    if (current === null) return []
    const earlier = await this.earlier(table)
    return Promise.all(
      [current.manifest, ...earlier].map(async (manifest) => ({
        manifest,
        report: await readReport(this.#store, table, manifest),
      })),
    )
  }

  /** Another number whenever another snapshot of any table serves. */
  get version(): number {
    return this.#changes.version
  }

  /** When its source was last looked at and gave no new snapshot. */
  async looked(table: Table): Promise<Looked | null> {
    return (await readLooks(this.#store, table))[0] ?? null
  }

  /** The current snapshots of all tables. */
  get served(): Snapshot[] {
    return [...this.#states.values()].flatMap(({ current }) => current ?? [])
  }

  /** How many tables have a snapshot. */
  get size(): number {
    return [...this.#states.values()].filter(({ current }) => current !== null).length
  }

  /** Polls every table once: takes snapshots that changed, whole or not at all, and forgets old ones. */
  async refresh(): Promise<void> {
    const looks = inOrder(this.#states.values(), looksMax, (state) => this.#look(state))
    while ((await looks.next()).done !== true);
    await this.#notice()
  }

  /** Looks at the files of the tables whose turn it is. */
  async #notice(): Promise<void> {
    const states = [...this.#states.values()]
    const from = this.#noticeNext % Math.max(1, states.length)
    let looked = 0
    for (const state of [...states.slice(from), ...states.slice(0, from)]) {
      if (looked >= noticedFilesMax) return
      this.#noticeNext += 1
      await inTurn(state, async () => {
        looked += await this.#noticeChanges(state)
      })
    }
  }

  /** Looks at a table now, where that was not done yet. */
  async loaded(table: Table): Promise<void> {
    const state = this.#states.get(tableId(table))
    if (state?.seen === '') await this.#look(state)
  }

  async #look(state: TableState): Promise<void> {
    await inTurn(state, () => this.#poll(state))
  }

  /** Polls again and again until stopped, which may have been before; never twice at once. */
  follow(): void {
    if (this.#isStopped) return
    this.#following = true
    this.#timer = setTimeout(() => {
      void this.refresh().finally(() => {
        this.follow()
      })
    }, pollEveryMs)
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  async #poll(state: TableState): Promise<void> {
    const { table } = state
    // Where the pointer cannot be looked at, reading it tells why.
    const seen = (await this.#store.stat(layout.pointer(table)).catch(() => null))?.version ?? 'none'
    if (seen !== state.seen) {
      let manifest: Manifest | null = null
      try {
        manifest = await publishedOf(this.#store, table)
        if (manifest === null && (await snapshotsIn(this.#store, table)).length > 0) {
          throw new Unfit(
            'current.json is gone, though there are snapshots; run `make ingest` to publish the table anew',
          )
        }
        if (manifest !== null) {
          this.#noteLatest(state, manifest)
          await this.#take(state, manifest)
        }
        state.seen = seen
        state.trouble = null
        state.fault = null
      } catch (error) {
        // Polled again where the reason may pass.
        if (error instanceof DamagedFile) state.seen = seen
        state.fault = reasonOf(error)
        this.#tell(state, error, 'snapshot refused; the one before goes on serving')
        if (state.current === null) await this.#fallBack(state, manifest)
      }
    } else await this.#takeReport(state)
    this.#forgetOld(state)
  }

  /** Takes a snapshot again whose report could not be read from the store, once it can be. */
  async #takeReport(state: TableState): Promise<void> {
    const { table, current } = state
    if (!this.#store.isElsewhere || current?.report !== null) return
    if (performance.now() < state.reportReadAt + reportAgainMs) return
    state.reportReadAt = performance.now()
    if ((await readReport(this.#store, table, current.manifest)) === null) return
    await this.#take(state, current.manifest).catch((error: unknown) =>
      this.#tell(state, error, 'the snapshot was not taken again with its report'),
    )
  }

  #noteLatest(state: TableState, manifest: Manifest): void {
    if (state.latest?.snapshot === manifest.snapshot) return
    state.latest = manifest
    if (!holdsFields(manifest, state.table)) this.#onOtherFields()
  }

  /**
   * Reads those files again whose size, times or inode are others than when they were read.
   *
   * @returns how many it looked at
   */
  async #noticeChanges(state: TableState): Promise<number> {
    let looked = 0
    // What is brought here is looked at whenever it is held.
    if (this.#store.isElsewhere) return looked
    for (const kept of state.kept.values()) {
      const snapshot = kept.opened === null ? null : await kept.opened
      if (snapshot === null) continue
      const { folder, manifest } = snapshot
      for (const stored of filesOf(manifest)) {
        looked += 1
        const now = versionOf(path.join(folder, stored.file))
        if (now === kept.seen.get(stored.file)) continue
        try {
          await requireFile(filesInFolder(folder), stored)
          kept.seen.set(stored.file, now)
        } catch (error) {
          if (isDamage(error)) await this.#takeOut(state, snapshot, error)
          else this.#tell(state, error, 'a file that changed cannot be read')
          break
        }
      }
    }
    return looked
  }

  async #take(state: TableState, manifest: Manifest): Promise<void> {
    const { table } = state
    const taken = { seen: new Map<string, string>() }
    const snapshot = await this.#open(state, manifest, taken)
    if (manifest.order.join() !== orderTerms(table).join()) {
      this.#log.warn(
        { table: tableId(table) },
        'its order is not that of the catalog: ingest the table again',
      )
    }
    const { snapshot: id, rows } = manifest
    this.#serve(state, snapshot)
    for (const other of await snapshotsIn(this.#store, table)) {
      if (!state.kept.has(other)) state.kept.set(other, unopened())
    }
    state.kept.set(id, { ...taken, opened: Promise.resolve(snapshot) })
    this.#log[this.#following ? 'info' : 'debug'](
      { table: tableId(table), snapshot: id, rows },
      'snapshot taken',
    )
  }

  /**
   * Serves the snapshot that was published before the one that cannot be, or, where the pointer itself cannot be read
   * (`from` is null), the newest in the warehouse.
   */
  async #fallBack(state: TableState, from: Manifest | null): Promise<void> {
    const { table } = state
    this.#serve(state, null)
    try {
      const candidates =
        from === null ? newestIn(this.#store, table) : publishedBefore(this.#store, table, from)
      for await (const manifest of candidates) {
        try {
          await this.#take(state, manifest)
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

  #serve(state: TableState, snapshot: Snapshot | null): void {
    state.current = snapshot
    this.#changes.version += 1
  }

  async #takeOut(state: TableState, { manifest, folder }: Snapshot, error: unknown): Promise<void> {
    const { snapshot: id } = manifest
    this.#log.error(
      { err: error, table: tableId(state.table), snapshot: id, folder },
      'snapshot damaged, and taken out of service',
    )
    state.kept.set(id, { ...unopened(), opened: Promise.resolve(null) })
    if (state.current?.manifest.snapshot !== id) return
    state.fault = reasonOf(error)
    await this.#fallBack(state, manifest)
  }

  #open(state: TableState, manifest: Manifest, known: Pick<KnownSnapshot, 'seen'>): Promise<Snapshot> {
    return openSnapshot(this.#store, state.table, manifest, known, {
      takeOut: (snapshot, error) => this.#takeOutSoon(state, snapshot, error),
      doubt: (snapshot, why) => void this.#readAgain(state, snapshot, why),
      reading: (progress) => (state.reading = progress),
    })
  }

  /** A reader has proved it; what is being done to the table comes first. */
  #takeOutSoon(state: TableState, snapshot: Snapshot, error: DamagedFile): void {
    if (state.current === snapshot) state.fault = reasonOf(error)
    void inTurn(state, async () => {
      const kept = state.kept.get(snapshot.manifest.snapshot)
      if ((await kept?.opened) === snapshot) await this.#takeOut(state, snapshot, error)
    }).catch((cause: unknown) => this.#tell(state, cause, 'a damaged snapshot was not taken out'))
  }

  /** Reads all files of a snapshot again, and takes it out of service where they are damaged. */
  async #readAgain(state: TableState, snapshot: Snapshot, why: string): Promise<void> {
    if (this.#readingAgain.has(snapshot)) return
    this.#readingAgain.add(snapshot)
    const { folder, manifest } = snapshot
    const about = { table: tableId(state.table), snapshot: manifest.snapshot, why }
    // Taken before, so that no later change passes for what was read.
    const versions = filesOf(manifest).map(({ file }) => [file, versionOf(path.join(folder, file))] as const)
    try {
      await requireFiles(filesInFolder(folder), manifest)
      const kept = state.kept.get(manifest.snapshot)
      if ((await kept?.opened) === snapshot)
        for (const [file, version] of versions) kept?.seen.set(file, version)
      this.#log.warn(about, 'files were in doubt, and are whole')
    } catch (error) {
      if (isDamage(error)) this.#takeOutSoon(state, snapshot, error)
      else {
        if (state.current === snapshot) state.fault = reasonOf(error)
        this.#log.error({ ...about, err: error }, 'files in doubt cannot be read')
      }
    } finally {
      this.#readingAgain.delete(snapshot)
    }
  }

  async #openKnown(state: TableState, id: SnapshotId, kept: KnownSnapshot): Promise<Snapshot | null> {
    const { table } = state
    try {
      const manifest = await manifestOf(this.#store, table, id)
      return manifest === null ? null : await this.#open(state, manifest, kept)
    } catch (error) {
      // Polled again where the reason may pass.
      if (!(error instanceof DamagedFile)) kept.opened = null
      this.#log.error({ err: error, table: tableId(table), snapshot: id }, 'kept snapshot refused')
      return null
    }
  }

  /** What is over its time is asked for no more. Its files are the next ingest's to remove, an hour later at the earliest. */
  #forgetOld({ current, kept }: TableState): void {
    if (current === null) return
    const over = removable([...kept.keys()], current.manifest, new Date(), this.#retention)
    for (const id of over) kept.delete(id)
  }

  #tell(state: TableState, error: unknown, what: string): void {
    if (state.trouble === messageOf(error)) return
    state.trouble = messageOf(error)
    const folder = `${this.#store.address}/${layout.table(state.table)}`
    this.#log.error({ err: error, table: tableId(state.table), folder }, what)
  }
}
