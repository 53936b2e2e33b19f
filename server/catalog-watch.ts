import { setTimeout as wait } from 'node:timers/promises'
import type { Catalog } from '../core/catalog/catalog.ts'
import { catalogVersion } from '../core/catalog/catalog-files.ts'
import { loadCatalog, ParsedFiles } from '../core/catalog/load.ts'
import { messageOf } from '../core/errors.ts'
import type { Log } from './log.ts'

/** What is told to everybody: the faults themselves are for whoever reads the log. */
const faultTold = 'the catalog that was written last has faults, which the log tells; the one before serves'

/** Reads the catalog again when its files change, or when it is asked to. */
export class CatalogWatch {
  readonly #file: string
  readonly #log: Log
  readonly #take: (catalog: Catalog) => Promise<void>
  readonly #files = new ParsedFiles()
  readonly #stop = new AbortController()
  #hash: string
  #fault: string | null = null
  #turn: Promise<void> = Promise.resolve()

  /** @param take serves by another catalog */
  constructor(file: string, catalog: Catalog, log: Log, take: (catalog: Catalog) => Promise<void>) {
    this.#file = file
    this.#hash = catalog.hash
    this.#log = log
    this.#take = take
  }

  /** Why what is written is not what serves; null where it is. */
  get fault(): string | null {
    return this.#fault
  }

  /** @param everyMs how often the files are looked at; 0 for never */
  begin(everyMs: number): void {
    const { signal } = this.#stop
    void followVersions(this.#file, everyMs, signal, () => this.look()).catch((error: unknown) => {
      this.#log.error({ err: error }, 'the catalog is not followed any more')
    })
  }

  /** Once nothing is being taken any more. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#turn
  }

  /** Reads the catalog now, when whoever asked before is done. Never fails: what is wrong is told by the log. */
  async look(): Promise<void> {
    const before = this.#turn
    const look = async (): Promise<void> => {
      await before
      await this.#look()
    }
    this.#turn = look()
    await this.#turn
  }

  async #look(): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      const began = performance.now()
      const catalog = await loadCatalog(this.#file, null, this.#files)
      if (catalog.hash === this.#hash) this.#log.info('the catalog is as it was')
      else {
        await this.#take(catalog)
        this.#hash = catalog.hash
        const ms = Math.round(performance.now() - began)
        this.#log.info({ datasets: catalog.datasets.size, ms }, 'another catalog serves')
      }
      this.#fault = null
    } catch (error) {
      this.#fault = faultTold
      this.#log.error(
        { reason: messageOf(error) },
        'the catalog is not taken; the one before goes on serving',
      )
    }
  }
}

/**
 * Tells when the files of a catalog are others, until it is stopped. They are when they have stopped changing, since one
 * may be half written.
 *
 * @param everyMs how often they are looked at; 0 for never
 */
export async function followVersions(
  file: string,
  everyMs: number,
  signal: AbortSignal,
  changed: () => Promise<void>,
): Promise<void> {
  if (everyMs === 0) return
  const versionNow = async (): Promise<string | null> => catalogVersion(file).catch(() => null)
  const pause = async (): Promise<boolean> => wait(everyMs, true, { signal, ref: false }).catch(() => false)
  let taken = await versionNow()
  let seen = taken
  while (await pause()) {
    const now = await versionNow()
    // The system may have run short of something: the next look tells.
    if (now === null) continue
    taken ??= now
    if (now !== taken && now === seen) {
      taken = now
      await changed()
    }
    seen = now
  }
}
