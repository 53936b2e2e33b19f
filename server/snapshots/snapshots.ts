import { ServedTable, type TablesContext } from './served-table.ts'
import { isDeepStrictEqual } from 'node:util'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { publishedBefore } from '../../core/warehouse/history.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { readLooks, type Looked } from '../../core/warehouse/state-files.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import { readReport, type SnapshotReport } from '../../core/warehouse/report.ts'
import { filesInFolder, requireFiles } from '../../core/warehouse/whole.ts'
import type { FittedCatalog } from './fitted-catalog.ts'
import { isDamage } from './open.ts'
import type { Snapshot } from './snapshot.ts'
import { statusOf, whyMissing, type TableStatus } from './status.ts'

interface SnapshotOptions extends Pick<TablesContext, 'store' | 'retention' | 'log'> {
  readonly catalog: Catalog
  /** Of the catalog before: what it knows of tables that are declared as they were is taken over. */
  readonly before?: Snapshots | null
  /** By `dataset/table`: fields that are declared and not published yet. */
  readonly lacking?: FittedCatalog['lacking']
  readonly onOtherFields?: TablesContext['onOtherFields']
}

/** Tables that are looked at at the same time: each reads its files through memory of its own. */
const looksMax = 8
/** The spec's readers see a refresh within 2 s. */
const pollEveryMs = 1000
/** Files that are looked at at each poll: all of some hundred tables. What is read of them is proved in any case. */
const noticedFilesMax = 2000

/** Follows the pointers of the warehouse. A request takes one snapshot, once, and stays with it. */
export class Snapshots {
  readonly #common: TablesContext
  readonly #tables: ReadonlyMap<string, ServedTable>
  readonly #lacking: FittedCatalog['lacking']
  /** The table whose files come next to be looked at. */
  #noticeNext = 0
  #isStopped = false
  #timer: NodeJS.Timeout | undefined

  constructor({ catalog, before = null, lacking = new Map(), ...options }: SnapshotOptions) {
    this.#lacking = lacking
    this.#common =
      before === null
        ? {
            ...options,
            onOtherFields: options.onOtherFields ?? (() => undefined),
            news: { version: 0, isFollowing: false },
          }
        : before.#common
    this.#common.news.version += 1
    this.#tables = new Map(
      allTables(catalog).map((table) => [
        tableId(table),
        (before === null ? null : before.#declaredAs(table)) ?? new ServedTable(table, this.#common),
      ]),
    )
  }

  /** The newest whole snapshot of a table, or null where there is none with the declared fields. */
  current(table: Table): Snapshot | null {
    return this.#tables.get(tableId(table))?.current ?? null
  }

  /**
   * Works with a snapshot. Its files stay for an hour at least after the last that can ask for it.
   *
   * @param asked its id, or null for the current one
   * @param work gets null where there is no such snapshot (any more)
   */
  async use<T>(
    table: Table,
    asked: SnapshotId | null,
    work: (snapshot: Snapshot | null) => Promise<T>,
  ): Promise<T> {
    const served = this.#tables.get(tableId(table))
    const current = served?.current ?? null
    if (asked === null || asked === current?.manifest.snapshot) return work(current)
    // The id is a reader's word: it only chooses among those that were found in the warehouse.
    return work((await served?.pinned(asked)) ?? null)
  }

  /** Returns whether a snapshot has not expired; it may be damaged, or unreadable now. */
  isKept(table: Table, id: SnapshotId): boolean {
    return this.#tables.get(tableId(table))?.kept.has(id) === true
  }

  /** The manifest that was last published of a table, whether or not it serves; null before there is one. */
  latest(table: Table): Manifest | null {
    return this.#tables.get(tableId(table))?.latest ?? null
  }

  /** What is known of a table; null where it is declared in another way now. */
  #declaredAs(table: Table): ServedTable | null {
    const known = this.#tables.get(tableId(table))
    return known !== undefined && isDeepStrictEqual(known.table, table) ? known : null
  }

  get statuses(): TableStatus[] {
    return [...this.#tables.values()].map((served) =>
      statusOf(served, this.#lacking.get(tableId(served.table)) ?? []),
    )
  }

  /** Tables that are published and cannot be asked for: not looked at yet, or not whole. */
  get missing(): { readonly table: string; readonly why: string }[] {
    return [...this.#tables.values()].flatMap((served) => {
      const why = whyMissing(served)
      return why === null ? [] : [{ table: tableId(served.table), why }]
    })
  }

  /**
   * Reads the files of every snapshot that is served again, and takes those out of service that are damaged: the one
   * published before serves then, until another is published.
   *
   * @param hash reads a file, as slowly as it likes
   */
  async scrub(hash: (file: string) => Promise<string>): Promise<void> {
    for await (const { served, id, kept, snapshot } of this.#opened()) {
      try {
        await requireFiles(filesInFolder(snapshot.folder, hash), snapshot.manifest)
      } catch (error) {
        if (!isDamage(error)) throw error
        await served.inTurn(async () => {
          if (served.kept.get(id) === kept) await served.takeOut(snapshot, error)
        })
      }
    }
  }

  /** Of the files that a scrub reads. */
  async bytes(): Promise<number> {
    let sum = 0
    for await (const { snapshot } of this.#opened())
      for (const { bytes } of filesOf(snapshot.manifest)) sum += bytes
    return sum
  }

  /** What is brought here is looked at when it comes, and goes. */
  async *#opened() {
    if (this.#common.store.isElsewhere) return
    for (const served of this.#tables.values()) {
      for (const [id, kept] of served.kept) {
        const snapshot = kept.opened === null ? null : await kept.opened
        if (snapshot !== null) yield { served, id, kept, snapshot }
      }
    }
  }

  /** Why what is published of a table is not what is served; null where it is. */
  fault(table: Table): string | null {
    return this.#tables.get(tableId(table))?.fault ?? null
  }

  /** What was published before the current snapshot, the latest first, as far as it is kept. */
  async earlier(table: Table): Promise<Manifest[]> {
    const current = this.current(table)
    const earlier: Manifest[] = []
    if (current === null) return earlier
    const kept = this.#tables.get(tableId(table))?.kept
    for await (const manifest of publishedBefore(this.#common.store, table, current.manifest)) {
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
        report: await readReport(this.#common.store, table, manifest),
      })),
    )
  }

  /** Another number whenever another snapshot of any table serves. */
  get version(): number {
    return this.#common.news.version
  }

  /** When its source was last looked at and gave no new snapshot. */
  async looked(table: Table): Promise<Looked | null> {
    return (await readLooks(this.#common.store, table))[0] ?? null
  }

  /** The current snapshots of all tables. */
  get served(): Snapshot[] {
    return [...this.#tables.values()].flatMap(({ current }) => current ?? [])
  }

  /** How many tables have a snapshot. */
  get size(): number {
    return [...this.#tables.values()].filter(({ current }) => current !== null).length
  }

  /** Polls every table once: takes snapshots that changed, whole or not at all, and forgets old ones. */
  async refresh(): Promise<void> {
    const looks = inOrder(this.#tables.values(), looksMax, (served) => served.look())
    while ((await looks.next()).done !== true);
    await this.#notice()
  }

  /** Looks at the files of the tables whose turn it is. */
  async #notice(): Promise<void> {
    const all = [...this.#tables.values()]
    const from = this.#noticeNext % Math.max(1, all.length)
    let looked = 0
    for (const served of [...all.slice(from), ...all.slice(0, from)]) {
      if (looked >= noticedFilesMax) return
      this.#noticeNext += 1
      looked += await served.inTurn(() => served.noticeChanges())
    }
  }

  /** Looks at a table now, where that was not done yet. */
  async loaded(table: Table): Promise<void> {
    const served = this.#tables.get(tableId(table))
    if (served?.seen === '') await served.look()
  }

  /** Polls again and again until stopped, which may have been before; never twice at once. */
  follow(): void {
    if (this.#isStopped) return
    this.#common.news.isFollowing = true
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
