import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { allTables, type Catalog } from '../../core/catalog/catalog.ts'
import { sumsOf } from '../../core/warehouse/hash.ts'
import { writeViews, type PublishedTable } from '../../core/warehouse/views.ts'
import type { Snapshots } from './snapshots.ts'

interface PublicViewsOptions {
  readonly catalog: Catalog
  readonly snapshots: Snapshots
  /** Null if the parts are remote. */
  readonly warehouse: string | null
  /** Address of the parts, without a final slash. */
  readonly filesAddress: string
  /** Folder for temporary files of this process. */
  readonly scratch: string
}

interface BuiltViews {
  readonly folder: string
  readonly file: string
  readonly sha256: string
}

/** DuckDB views of the tables at their public addresses; built on demand after a change. */
export class PublicViews {
  readonly #options: PublicViewsOptions
  #key = ''
  #built: Promise<BuiltViews> | null = null
  #number = 0

  constructor(options: PublicViewsOptions) {
    this.#options = options
  }

  async current(): Promise<BuiltViews> {
    const { catalog, snapshots } = this.#options
    const servedSnapshots = allTables(catalog).flatMap((table) => snapshots.current(table) ?? [])
    const key = servedSnapshots.map(({ manifest }) => manifest.snapshot).join()
    if (this.#built === null || key !== this.#key) {
      this.#key = key
      const building = this.#build(servedSnapshots)
      this.#built = building
      building.catch(() => {
        if (this.#built === building) this.#built = null
      })
    }
    return this.#built
  }

  /** The next request builds a new file. */
  readonly forget = (): void => {
    this.#built = null
  }

  async #build(
    servedSnapshots: readonly NonNullable<ReturnType<Snapshots['current']>>[],
  ): Promise<BuiltViews> {
    const { catalog, snapshots, warehouse, filesAddress: base, scratch } = this.#options
    const tables: PublishedTable[] = []
    for (const { table, manifest } of servedSnapshots) {
      const dataset = catalog.datasets.get(table.dataset)
      if (dataset !== undefined)
        tables.push({ dataset, table, manifest, earlier: await snapshots.earlier(table) })
    }
    this.#number += 1
    const file = `warehouse-${this.#number}.duckdb`
    const draft = path.join(scratch, `draft-${file}`)
    await writeViews(draft, tables, { warehouse, base, scratch })
    await rename(draft, path.join(scratch, file))
    // Keep the previous file: a request may be about to open it.
    await rm(path.join(scratch, `warehouse-${this.#number - 2}.duckdb`), { force: true })
    const { sha256 } = await sumsOf(path.join(scratch, file))
    return { folder: scratch, file, sha256 }
  }
}
