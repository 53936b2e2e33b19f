import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { defaultTexts, workbookBody, workbookOf, type Column } from '../documents/workbook.ts'
import type { RowFormat } from '../formats/format.ts'
import { jsonFormat } from '../formats/json.ts'
import { rowFormats } from '../formats/registry.ts'
import { fileAddresses, withQuery } from '../http/addresses.ts'
import { acceptable, negotiate } from '../http/negotiation.ts'
import { queryTooCostly } from '../http/problems.ts'
import { pathOf, type ResourceRequest } from '../http/resource.ts'
import type { QueryParameters } from '../query/parameters.ts'
import type { RowFilter, RowQuery } from '../query/query.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import type { PageLinks } from '../table/representations/page.ts'
import { findDataset, findTable, pageLinks, unavailable } from './find.ts'
import type { Runtime } from './runtime.ts'

interface RequestedRows<Query> {
  readonly table: Table
  readonly query: Query
  readonly format: RowFormat
  /** Null for the current one. */
  readonly pinned: SnapshotId | null
  readonly downloadUrl: string
  readonly linksIn: (snapshot: Snapshot) => PageLinks
  readonly packingIn: (snapshot: Snapshot, columns: readonly Column[], filter: RowFilter) => Packing
  /** @throws Problem snapshot-gone or not-published */
  readonly requireSnapshot: (snapshot: Snapshot | null) => Snapshot
}

interface Packing {
  /** Identifies all of the answer except its rows: head, tail and format. */
  readonly key: string
  readonly pack: (pieces: Pieces, rows: number) => Promise<Pieces>
}

type Pieces = readonly (string | Uint8Array)[]

export function requestedRows<Query extends Pick<RowQuery, 'format' | 'parameters' | 'snapshot'>>(
  service: Runtime,
  request: ResourceRequest,
  parse: (table: Table, target: string) => Query,
  addressOf: (dataset: Dataset, table: Table) => string,
): RequestedRows<Query> {
  const dataset = findDataset(service.catalog, request.params)
  const table = findTable(dataset, request.params)
  return requestedQuery(service, request, table, parse(table, request.target), addressOf(dataset, table))
}

/**
 * Reads the format and snapshot of a request; prepares its links, its workbook and the error for a deleted snapshot.
 * @param base address of the rows, without a query
 * @param downloadUrl address of all rows as one file
 */
export function requestedQuery<Query extends Pick<RowQuery, 'format' | 'parameters' | 'snapshot'>>(
  { catalog, publicUrl, snapshots }: Runtime,
  { target, headers }: ResourceRequest,
  table: Table,
  query: Query,
  base: string,
  downloadUrl = fileAddresses(publicUrl).download(table),
): RequestedRows<Query> {
  const format = negotiate(headers, query.format, rowFormats)
  // Links may omit `format=json` only if the Accept header alone selects JSON.
  const isFormatImplied = format === jsonFormat && acceptable(headers, rowFormats) === jsonFormat
  const linkParameters = new Map(
    [...query.parameters].filter(([name]) => !isFormatImplied || name !== 'format'),
  )
  const address = inFormOf(pathOf(target), base)
  const pinned = query.snapshot === 'current' ? null : query.snapshot
  return {
    table,
    query,
    format,
    pinned,
    downloadUrl,
    linksIn: ({ manifest: { snapshot } }) => {
      // `snapshot=current` becomes the id, so that all pages are from the same snapshot.
      const linked =
        query.snapshot === null ? linkParameters : new Map([...linkParameters, ['snapshot', snapshot]])
      return pageLinks(address, linked, format, rowFormats, downloadUrl)
    },
    packingIn: (snapshot, columns, filter) => {
      const pack = 'pack' in format ? format.pack : undefined
      if (pack === undefined) return { key: '', pack: async (pieces) => pieces }
      const { parameters } = query
      const workbookSource = {
        ...defaultTexts(catalog),
        snapshot,
        columns,
        filter,
        parameters,
        addressWith: (cited: QueryParameters) => withQuery(address, cited, 1),
      }
      return {
        // The number of rows follows from the query, so the key needs none.
        key: JSON.stringify(workbookOf(workbookSource, 0)),
        pack: async (pieces, rows) => {
          if (rows > table.excelRowsMax)
            throw queryTooCostly(
              `The page has ${rows} rows, but a workbook may have at most ${table.excelRowsMax}: set a smaller page_size.`,
              downloadUrl,
            )
          return workbookBody(pack, pieces, workbookOf(workbookSource, rows))
        },
      }
    },
    requireSnapshot: (snapshot) => {
      if (snapshot !== null) return snapshot
      const current = snapshots.current(table)?.manifest.snapshot ?? 'current'
      const newest = withQuery(address, new Map([...linkParameters, ['snapshot', current]]), 1)
      throw unavailable(table, pinned, snapshots, newest)
    },
  }
}

/** Links to other pages keep the final slash of the path, or none (spec: Page envelope). */
function inFormOf(path: string, address: string): string {
  const withoutSlash = address.replace(/\/$/, '')
  return path.endsWith('/') ? `${withoutSlash}/` : withoutSlash
}
