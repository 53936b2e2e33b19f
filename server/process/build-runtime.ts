import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Log } from '../base/log.ts'
import { fileAddresses } from '../http/addresses.ts'
import { clientOf, type ClientOf } from '../http/client.ts'
import { freshnessOf } from '../http/headers.ts'
import { Responder } from '../http/responder.ts'
import { Limiter } from '../limits/limiter.ts'
import { policiesOf, type Policy } from '../limits/policies.ts'
import type { Runtime } from '../routes/runtime.ts'
import type { FittedCatalog } from '../snapshots/fitted-catalog.ts'
import { PublicViews } from '../snapshots/public-views.ts'
import { Readiness } from '../snapshots/readiness.ts'
import { Snapshots } from '../snapshots/snapshots.ts'
import { Dictionaries } from '../table/indexes/dictionaries.ts'
import { PlannedSelections } from '../table/selection/planned-selections.ts'
import { SelectionCache } from '../table/selection/selection-cache.ts'
import type { Resources } from './resources.ts'
import { openCounts, type Counting } from './workers/counts.ts'

/** Services of a catalog, and objects that the next catalog reuses. */
export interface BuiltRuntime {
  readonly runtime: Runtime
  readonly selectionCache: SelectionCache
  readonly limits: Limits
}

interface Limits {
  readonly policies: readonly Policy[]
  readonly counting: Counting | null
  readonly limiter: Limiter | null
}

let runtimeCount = 0

/**
 * Builds services without loading a table.
 * @param before runtime of the catalog that this one replaces; null for the first one
 */
export async function buildRuntime(
  resources: Resources,
  { catalog, lacking: lackingFields }: Pick<FittedCatalog, 'catalog' | 'lacking'>,
  before: BuiltRuntime | null,
): Promise<BuiltRuntime> {
  const { settings, store, pool, scanPool, clickHouse, log, memory, sendBudget } = resources
  const retention = { count: settings.snapshotsKept, graceMs: settings.snapshotGraceMs }
  const { onOtherFields } = resources
  const previous = before?.runtime ?? null
  const snapshots = new Snapshots({
    store,
    catalog,
    retention,
    log,
    previous: previous?.snapshots ?? null,
    lacking: lackingFields,
    onOtherFields,
  })
  const selectionCache = new SelectionCache(settings.selectionBytesMax)
  const dictionaries = new Dictionaries(pool, settings.dictionaryBytesMax)
  const selections = new PlannedSelections(scanPool, dictionaries, selectionCache, settings, clickHouse)
  runtimeCount += 1
  const scratchFolder = path.join(resources.spill, `catalog-${runtimeCount}`)
  await mkdir(scratchFolder)
  const client = clientWith(resources)
  const limits = await limitsOf(resources, catalog, client, before)
  const runtime: Runtime = {
    ...resources,
    ...settings,
    catalog,
    client,
    limiter: limits.limiter,
    freshness: freshnessOf(settings.maxAgeSeconds),
    snapshots,
    readiness: new Readiness(snapshots, previous?.readiness ?? null),
    engine: { pool, selections, memory, scans: { pool: scanPool, valuesMax: settings.scanValuesMax } },
    dictionaries,
    responder: new Responder(settings, sendBudget),
    views: new PublicViews({
      catalog,
      snapshots,
      warehouse: store.isRemote ? null : store.localFolder,
      filesAddress: fileAddresses(settings.publicUrl).base,
      scratch: scratchFolder,
    }),
    scratch: scratchFolder,
  }
  return { runtime, selectionCache, limits }
}

/** The next catalogs keep this function, so it must not keep objects of a single catalog. */
function clientWith({
  settings,
  log,
}: {
  readonly settings: Resources['settings']
  readonly log: Log
}): ClientOf {
  return clientOf(settings, () => {
    log.warn('X-Forwarded-For is ignored, so all clients of a proxy count as one: set TRUST_PROXY')
  })
}

/** Reuses counts of equal limits, so that a reload does not reset usage. */
async function limitsOf(
  { settings, worker, log }: Resources,
  catalog: Catalog,
  client: ClientOf,
  before: BuiltRuntime | null,
): Promise<Limits> {
  const policies = policiesOf(catalog.limits, settings.processors)
  if (before !== null && isDeepStrictEqual(before.limits.policies, policies)) return before.limits
  const counting = settings.rateLimits ? await openCounts(policies, settings, worker, log) : null
  return {
    policies,
    counting,
    limiter: counting === null ? null : new Limiter(policies, client, counting.countsFor),
  }
}
