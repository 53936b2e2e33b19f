import { ServedTable, type TablesContext } from './served-table.ts'
import { isDeepStrictEqual } from 'node:util'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { publishedBefore } from '../../core/warehouse/history.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { readChecks, type SourceCheck, type Withdrawn } from '../../core/warehouse/state-files.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport, type SnapshotReport } from '../../core/warehouse/report.ts'
import { filesInFolder, verifyFiles } from '../../core/warehouse/verify-files.ts'
import type { FittedCatalog } from './fitted-catalog.ts'
import { isDamage } from './open.ts'
import type { Snapshot } from './snapshot.ts'
import { statusOf, missingReason, type TableStatus } from './status.ts'

interface SnapshotOptions extends Pick<TablesContext, 'store' | 'retention' | 'log'> {
  readonly catalog: Catalog
  /** Snapshots of the previous catalog; tables with the same declaration are reused. */
  readonly previous?: Snapshots | null
  /** Declared fields not published yet, by `dataset/table`. */
  readonly lacking?: FittedCatalog['lacking']
  readonly onOtherFields?: TablesContext['onOtherFields']
}

/** Each table needs its own buffers to read files. */
const concurrentTablesMax = 8
/** The spec requires a refresh to be visible within 2 s. */
const pollEveryMs = 1000
/** Files per poll: enough for some hundred tables; requests detect changes too. */
const noticedFilesMax = 2000

/** Follows the pointers; a request uses one snapshot to its end. */
export class Snapshots {
  readonly #common: TablesContext
  readonly #tables: ReadonlyMap<string, ServedTable>
  readonly #lacking: FittedCatalog['lacking']
  #noticeNext = 0
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor({ catalog, previous = null, lacking = new Map(), ...options }: SnapshotOptions) {
    this.#lacking = lacking
    this.#common =
      previous === null
        ? {
            ...options,
            onOtherFields: options.onOtherFields ?? (() => false),
            news: { version: 0, hasLoadedTables: false },
          }
        : previous.#common
    this.#common.news.version += 1
    this.#tables = new Map(
      allTables(catalog).map((table) => [
        tableId(table),
        (previous === null ? null : previous.#reusableTable(table)) ?? new ServedTable(table, this.#common),
      ]),
    )
  }

  /** Newest intact snapshot; null if none has the declared fields. */
  current(table: Table): Snapshot | null {
    return this.#tables.get(tableId(table))?.current ?? null
  }

  /**
   * Needs no lock: files stay for at least an hour after a snapshot expires.
   * @param requestedId null for the current one
   * @param work gets null if the snapshot does not exist or has expired
   */
  async use<T>(
    table: Table,
    requestedId: SnapshotId | null,
    work: (snapshot: Snapshot | null) => Promise<T>,
  ): Promise<T> {
    const servedTable = this.#tables.get(tableId(table))
    const current = servedTable?.current ?? null
    if (requestedId === null || requestedId === current?.manifest.snapshot) return work(current)
    // The id comes from the request: it only selects among snapshots found in the warehouse.
    return work((await servedTable?.pinned(requestedId)) ?? null)
  }

  /** True even for a damaged or unreadable snapshot. */
  isKept(table: Table, id: SnapshotId): boolean {
    return this.#tables.get(tableId(table))?.knownSnapshots.has(id) === true
  }

  /** True once a snapshot was found to have other fields than the catalog, so that it is not served. */
  hasOtherFields(table: Table, id: SnapshotId): boolean {
    return this.#tables.get(tableId(table))?.knownSnapshots.get(id)?.hasOtherFields === true
  }

  /** Last published manifest, served or not; null at first. */
  latest(table: Table): Manifest | null {
    return this.#tables.get(tableId(table))?.latest ?? null
  }

  #reusableTable(table: Table): ServedTable | null {
    const servedTable = this.#tables.get(tableId(table))
    return servedTable !== undefined && isDeepStrictEqual(servedTable.table, table) ? servedTable : null
  }

  get statuses(): TableStatus[] {
    return [...this.#tables.values()].map((servedTable) =>
      statusOf(servedTable, this.#lacking.get(tableId(servedTable.table)) ?? []),
    )
  }

  /** Published tables that are not loaded yet, or damaged. */
  get missing(): { readonly table: string; readonly why: string }[] {
    return [...this.#tables.values()].flatMap((servedTable) => {
      const reason = missingReason(servedTable)
      return reason === null ? [] : [{ table: tableId(servedTable.table), why: reason }]
    })
  }

  /**
   * Rereads all opened snapshots, and withdraws damaged ones; predecessors serve until the next publication.
   * @param hash hashes a file at a limited rate
   */
  async scrub(hash: (file: string) => Promise<string>): Promise<void> {
    for await (const { served, id, kept: entry, snapshot } of this.#opened()) {
      try {
        await verifyFiles(filesInFolder(snapshot.folder, hash), snapshot.manifest)
      } catch (error) {
        if (!isDamage(error)) throw error
        await served.inTurn(async () => {
          if (served.knownSnapshots.get(id) === entry) await served.withdraw(snapshot, error)
        })
      }
    }
  }

  async bytes(): Promise<number> {
    let sum = 0
    for await (const { snapshot } of this.#opened())
      for (const { bytes } of filesOf(snapshot.manifest)) sum += bytes
    return sum
  }

  /** Remote files are verified when they are fetched. */
  async *#opened() {
    if (this.#common.store.isRemote) return
    for (const servedTable of this.#tables.values()) {
      for (const [id, entry] of servedTable.knownSnapshots) {
        const snapshot = entry.opened === null ? null : await entry.opened
        if (snapshot !== null) yield { served: servedTable, id, kept: entry, snapshot }
      }
    }
  }

  fault(table: Table): string | null {
    return this.#tables.get(tableId(table))?.fault ?? null
  }

  rollbacks(table: Table): readonly Withdrawn[] {
    return this.#tables.get(tableId(table))?.rollbacks ?? []
  }

  async earlier(table: Table): Promise<Manifest[]> {
    const current = this.current(table)
    const earlierManifests: Manifest[] = []
    if (current === null) return earlierManifests
    const knownSnapshots = this.#tables.get(tableId(table))?.knownSnapshots
    for await (const manifest of publishedBefore(this.#common.store, table, current.manifest)) {
      if (knownSnapshots?.has(manifest.snapshot) === true) earlierManifests.push(manifest)
    }
    return earlierManifests
  }

  /** All snapshots that can be queried, the current one first. */
  async retainedSnapshots(table: Table): Promise<{ manifest: Manifest; report: SnapshotReport | null }[]> {
    const current = this.current(table)
    if (current === null) return []
    const earlierManifests = await this.earlier(table)
    return Promise.all(
      [current.manifest, ...earlierManifests].map(async (manifest) => ({
        manifest,
        report: await readReport(this.#common.store, table, manifest),
      })),
    )
  }

  get version(): number {
    return this.#common.news.version
  }

  async lastCheck(table: Table): Promise<SourceCheck | null> {
    return (await readChecks(this.#common.store, table))[0] ?? null
  }

  get served(): Snapshot[] {
    return [...this.#tables.values()].flatMap(({ current }) => current ?? [])
  }

  get size(): number {
    return [...this.#tables.values()].filter(({ current }) => current !== null).length
  }

  /** Serves new snapshots, each completely or not at all, and drops expired ones. */
  async refresh(): Promise<void> {
    const refreshes = inOrder(this.#tables.values(), concurrentTablesMax, (servedTable) =>
      servedTable.refresh(),
    )
    while ((await refreshes.next()).done !== true);
    await this.#notice()
  }

  async #notice(): Promise<void> {
    const tables = [...this.#tables.values()]
    const from = this.#noticeNext % Math.max(1, tables.length)
    let checkedFiles = 0
    for (const servedTable of [...tables.slice(from), ...tables.slice(0, from)]) {
      if (checkedFiles >= noticedFilesMax) return
      this.#noticeNext += 1
      checkedFiles += await servedTable.inTurn(() => servedTable.noticeChanges())
    }
  }

  async loaded(table: Table): Promise<void> {
    const servedTable = this.#tables.get(tableId(table))
    if (servedTable?.pointerVersion === '') await servedTable.refresh()
  }

  /** Polls until stopped, never concurrently. */
  follow(): void {
    if (this.#isStopped) return
    this.#common.news.hasLoadedTables = true
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
}
