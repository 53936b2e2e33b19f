import type { Runtime } from './runtime.ts'
import { tableId, type CatalogTexts, type Dataset, type Table } from '../../core/catalog/catalog.ts'
import type { PageLinks } from '../table/representations/page.ts'
import type { Snapshots } from '../snapshots/snapshots.ts'
import type { Requester } from '../table/engine/requester.ts'
import type { ResourceRequest } from '../http/resource.ts'
import { fileNames, type SnapshotId } from '../../core/warehouse/layout.ts'
import { fileAddresses, withQuery } from '../http/addresses.ts'
import { type WholeTable, Problem } from '../http/problems.ts'
import { attachLine } from '../documents/attach.ts'
import type { Offer } from '../http/negotiation.ts'
import type { QueryParameters } from '../query/parameters.ts'
import { didYouMean, shorten } from '../../core/text.ts'

export function requesterOf(
  { client, account }: ResourceRequest,
  signal: () => AbortSignal,
  pageBytesMax: number,
): Requester {
  return { client, pageBytesMax, signal, pay: (work, paid) => account.spend(work, paid) }
}

/** Download, and SQL for DuckDB; null for an unpublished table. */
export function wholeTableOf({
  catalog,
  snapshots,
  publicUrl,
}: Runtime): (params: RouteParameters) => WholeTable | null {
  const addresses = fileAddresses(publicUrl)
  return ({ dataset, table: name }) => {
    const table = catalog.datasets.get(String(dataset))?.tables.get(String(name))
    const manifest = table === undefined ? undefined : snapshots.current(table)?.manifest
    if (table === undefined || manifest === undefined) return null
    const download = manifest.files.find(({ file }) => file === fileNames.download(table))
    if (download === undefined) return null
    const { bytes, sha512 } = download
    // Use the address of the snapshot: at the stable one, the file and its checksum may change.
    const address = addresses.file(table, manifest.snapshot, download.file)
    return { file: { address, bytes, sha512 }, duckdb: attachLine(table, addresses) }
  }
}

/**
 * @param address of the rows, without a query
 * @param format of the response; the other offers become alternates
 */
export function pageLinks(
  address: string,
  parameters: QueryParameters,
  format: Offer,
  offers: readonly Offer[],
  downloadUrl: string,
): PageLinks {
  return {
    to: (page) => withQuery(address, parameters, page),
    alternates: (page) =>
      offers
        .filter(({ name }) => name !== format.name)
        .map(({ name, mediaTypes: [mediaType] }) => ({
          address: withQuery(address, new Map([...parameters, ['format', name]]), page),
          mediaType,
        })),
    downloadUrl,
  }
}

export type RouteParameters = Readonly<Record<string, unknown>>

/** @throws Problem unknown-dataset */
export function findDataset(catalog: CatalogTexts, { dataset }: RouteParameters): Dataset {
  const slug = String(dataset)
  const datasetAt = catalog.datasets.get(slug)
  if (datasetAt !== undefined) return datasetAt
  throw new Problem(
    'unknown-dataset',
    `There is no dataset ${quoted(slug)}${didYouMean(slug, [...catalog.datasets.keys()])}.`,
  )
}

/** @throws Problem unknown-table */
export function findTable(dataset: Dataset, { table }: RouteParameters): Table {
  const name = String(table)
  const tableAt = dataset.tables.get(name)
  if (tableAt !== undefined) return tableAt
  const tableNames = [...dataset.tables.keys()]
  throw new Problem(
    'unknown-table',
    `There is no table ${quoted(name)} in ${dataset.slug}${didYouMean(name, tableNames)}; its tables: ${tableNames.join(', ') || 'none'}.`,
  )
}

const retryAfterSeconds = 60

/**
 * @param pinnedId requested snapshot; null for the current one
 * @param newest the same address for the current snapshot
 */
export function unavailable(
  table: Table,
  pinnedId: SnapshotId | null,
  snapshots: Snapshots,
  newest: string,
): Problem {
  const current = snapshots.current(table)
  if (pinnedId === null || current === null) return notPublished(table, snapshots.fault(table))
  const detail = `${goneText(table, pinnedId, snapshots)}; the current one is at ${newest}.`
  return new Problem('snapshot-gone', detail, { headers: { Link: `<${newest}>; rel="latest-version"` } })
}

/** Start of a sentence that says why a snapshot cannot be served. */
export function goneText(table: Table, id: SnapshotId, snapshots: Snapshots): string {
  const reason = snapshots.hasOtherFields(table, id)
    ? 'has other fields than the catalog now declares, and is not served'
    : 'is no longer kept'
  return `The snapshot ${id} of ${tableId(table)} ${reason}`
}

/** An earlier snapshot is kept, but cannot be read now. */
export function unavailableNow(table: Table): Problem {
  const detail = `An earlier snapshot of ${tableId(table)} cannot be read now. Try again in ${retryAfterSeconds} s.`
  return new Problem('files-elsewhere', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

/** @param fault reason why the published table cannot be served; null if none is published */
export function notPublished(table: Table, fault: string | null): Problem {
  const id = tableId(table)
  const detail =
    fault === null
      ? `The table ${id} is not published: its operator must run \`acervo ingest ${id}\`.`
      : `The table ${id} cannot be served: ${fault}.`
  return new Problem('not-published', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

function quoted(text: string): string {
  return JSON.stringify(shorten(text))
}
