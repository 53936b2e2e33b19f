import { tableId, type CatalogTexts, type Dataset, type Table } from '../../core/catalog/catalog.ts'
import { didYouMean } from '../../core/nearest.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { Problem } from '../http/problems.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import { shorten } from '../../core/shorten.ts'

/** The parameters of a route, as decoded from the address. */
export type RouteParameters = Readonly<Record<string, unknown>>

/** @throws Problem unknown-dataset */
export function findDataset(catalog: CatalogTexts, { dataset }: RouteParameters): Dataset {
  const slug = String(dataset)
  const found = catalog.datasets.get(slug)
  if (found !== undefined) return found
  throw new Problem(
    'unknown-dataset',
    `There is no dataset ${quoted(slug)}${didYouMean(slug, [...catalog.datasets.keys()])}.`,
  )
}

/** @throws Problem unknown-table */
export function findTable(dataset: Dataset, { table }: RouteParameters): Table {
  const name = String(table)
  const found = dataset.tables.get(name)
  if (found !== undefined) return found
  const known = [...dataset.tables.keys()]
  throw new Problem(
    'unknown-table',
    `There is no table ${quoted(name)} in ${dataset.slug}${didYouMean(name, known)}; its tables: ${known.join(', ') || 'none'}.`,
  )
}

const retryAfterSeconds = 60

/**
 * @param snapshots say what is current, and why nothing is
 * @param newest the same of the current snapshot, where there is one
 */
export function unavailable(
  table: Table,
  pinned: SnapshotId | null,
  snapshots: Snapshots,
  newest: string,
): Problem {
  const current = snapshots.current(table)
  if (pinned === null || current === null) return notPublished(table, snapshots.fault(table))
  const detail = `The snapshot ${pinned} of ${tableId(table)} is not kept here any more; the current one is at ${newest}.`
  return new Problem('snapshot-gone', detail, { headers: { Link: `<${newest}>; rel="latest-version"` } })
}

/** @param fault why what is published cannot be served; null where nothing is */
export function notPublished(table: Table, fault: string | null): Problem {
  const id = tableId(table)
  const detail =
    fault === null
      ? `The table ${id} is not published: the operator runs \`make ingest TABLES=${id}\`.`
      : `The table ${id} cannot be served: ${fault}.`
  return new Problem('not-published', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

function quoted(text: string): string {
  return JSON.stringify(shorten(text))
}
