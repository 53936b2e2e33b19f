import type { Catalog } from '../../core/catalog/catalog.ts'
import { followVersions } from '../../core/catalog/catalog-files.ts'
import { loadCatalog, ParsedFiles } from '../../core/catalog/load.ts'
import { messageOf, StartError } from '../../core/errors.ts'
import type { Log } from '../base/log.ts'

const catalogFault = 'the current catalog has errors, which are in the log; the previous one is used'

/** Reloads the catalog on changes, or on request. */
export class CatalogWatch {
  readonly #file: string
  readonly #log: Log
  readonly #switchCatalog: (catalog: Catalog) => Promise<void>
  readonly #files = new ParsedFiles()
  readonly #stop = new AbortController()
  #hash: string
  #fault: string | null = null
  #lastReload: Promise<unknown> = Promise.resolve()

  constructor(file: string, catalog: Catalog, log: Log, switchCatalog: (catalog: Catalog) => Promise<void>) {
    this.#file = file
    this.#hash = catalog.hash
    this.#log = log
    this.#switchCatalog = switchCatalog
  }

  get fault(): string | null {
    return this.#fault
  }

  /**
   * @param everyMs 0 for never
   * @param version of the files before the current catalog was read, so that later changes are noticed
   */
  begin(everyMs: number, version: string | null): void {
    const { signal } = this.#stop
    void followVersions(this.#file, version, everyMs, signal, () => this.reload()).catch((error: unknown) => {
      this.#log.error({ err: error }, 'catalog is no longer checked for changes; SIGHUP reloads it')
    })
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#lastReload
  }

  /**
   * Runs calls one after another, and logs errors.
   * @returns false if a retry may succeed without a change of the files
   */
  async reload(): Promise<boolean> {
    const before = this.#lastReload
    const reloadInTurn = async (): Promise<boolean> => {
      await before
      return this.#reload()
    }
    const result = reloadInTurn()
    this.#lastReload = result
    return result
  }

  /** @returns false if it should be tried again */
  async #reload(): Promise<boolean> {
    if (this.#stop.signal.aborted) return true
    try {
      const began = performance.now()
      const catalog = await loadCatalog(this.#file, null, this.#files)
      if (catalog.hash === this.#hash) this.#log.info('catalog unchanged')
      else {
        await this.#switchCatalog(catalog)
        this.#hash = catalog.hash
        const ms = Math.round(performance.now() - began)
        this.#log.info({ datasets: catalog.datasets.size, ms }, 'catalog reloaded')
      }
      this.#fault = null
      return true
    } catch (error) {
      this.#fault = catalogFault
      this.#log.error({ reason: messageOf(error) }, 'catalog rejected; still using the previous one')
      // Errors other than faults of the catalog may be temporary.
      return error instanceof StartError
    }
  }
}
