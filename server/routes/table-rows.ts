import type { Runtime } from './runtime.ts'
import type { Family } from '../../core/catalog/catalog.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { addressesOf, fileAddresses, withQuery } from '../http/addresses.ts'
import { contentName } from '../http/responder.ts'
import { acceptable, negotiate } from '../http/negotiation.ts'
import type { Problem } from '../http/problems.ts'
import type { QueryParameters } from '../query/parameters.ts'
import { type Resource, pathOf } from '../http/resource.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { jsonFormat } from '../formats/json.ts'
import { rowFormats } from '../formats/registry.ts'
import { isStoredAsGzip, pageBody, pageOf, type Page } from '../table/representations/page.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { fileNameOf } from './file-name.ts'
import { findDataset, findTable, unavailable, pageLinks, requesterOf } from './find.ts'
import { problemOf } from './problem-of.ts'

/** Rows of a table in pages (spec: Endpoints 3 and 6, Page envelope, Row). */
export function tableRows(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, snapshots, engine, freshness, pageBytesMax } = service
  const [addresses, files] = [addressesOf(family, publicUrl), fileAddresses(publicUrl)]
  return {
    path: '/dataset/:dataset/:table/data',
    name: 'Table Rows',
    description: `The rows of a table, in pages and in its declared order. ${catalog.notice}`,
    offers: rowFormats,
    countsAs: 'rows',
    find: async (request) => {
      const { params, target, headers } = request
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      const query = parseRowQuery(table, target)
      const format = negotiate(headers, query.format, rowFormats)
      // Links may omit `format=json` only if the Accept header alone selects JSON.
      const isImplied = format === jsonFormat && acceptable(headers, rowFormats) === jsonFormat
      const given = isImplied ? withoutParameter(query.parameters, 'format') : query.parameters
      const address = inFormOf(pathOf(target), addresses.data(dataset, table))
      const downloadUrl = files.download(table)
      const pinned = query.snapshot === 'current' ? null : query.snapshot
      const goneProblem = (): Problem => {
        const current = snapshots.current(table)
        const newest = new Map([...given, ['snapshot', current?.manifest.snapshot ?? 'current']])
        return unavailable(table, pinned, snapshots, withQuery(address, newest, 1))
      }
      const orGone = (snapshot: Snapshot | null): Snapshot => {
        if (snapshot === null) throw goneProblem()
        return snapshot
      }
      const pageIn = (found: Snapshot | null): Page => {
        const snapshot = orGone(found)
        const linked = linkedParameters(given, query, snapshot.manifest.snapshot)
        return pageOf(snapshot, query, format, pageLinks(address, linked, format, rowFormats, downloadUrl))
      }
      const page =
        pinned === null
          ? pageIn(snapshots.current(table))
          : await snapshots.use(table, pinned, async (found) => pageIn(found))
      const { snapshot: id } = page.snapshot.manifest
      return {
        name: contentName(page.key),
        cacheControl: pinned === null ? freshness.changing : freshness.immutable,
        mediaType: format.contentType,
        headers: {
          'Acervo-Snapshot': id,
          // Links to other pages come with the body: they need the number of pages.
          Link: linkTo(downloadUrl),
          ...(page.range !== null && { 'Acervo-Count': String(page.range.count) }),
          // File name for formats that browsers may save.
          ...(format.savedAs !== null && {
            'Content-Disposition': `${format.savedAs}; filename="${fileNameOf(page.snapshot, query, format.ending, page.range?.page ?? query.page)}"`,
          }),
        },
        // The cost of rows whose number is still unknown is charged when the body is built.
        work: { rowBytes: page.range === null ? 0 : page.range.rows * page.snapshot.rowBytes },
        hasRanges: true,
        isAtHand: false,
        isStoredAsGzip: isStoredAsGzip(page),
        body: (signal, mayBeGzip) =>
          snapshots.use(table, id, async (snapshot) => {
            orGone(snapshot)
            const requester = requesterOf(request, signal, pageBytesMax)
            return pageBody(page, engine, requester, mayBeGzip).catch((error: unknown) => {
              throw problemOf(error, downloadUrl)
            })
          }),
      }
    },
  }
}

/**
 * Returns the parameters of links. `snapshot=current` becomes the id, so that all pages are from the same
 * snapshot.
 */
export function linkedParameters(
  given: QueryParameters,
  query: Pick<RowQuery, 'snapshot'>,
  snapshot: SnapshotId,
): QueryParameters {
  return query.snapshot === null ? given : new Map([...given, ['snapshot', snapshot]])
}

export function withoutParameter(parameters: QueryParameters, name: string): QueryParameters {
  return new Map([...parameters].filter(([other]) => other !== name))
}

/** Returns a link to all rows as one file. */
export function linkTo(download: string): string {
  return `<${download}>; rel="alternate"; type="application/gzip"`
}

/**
 * Gives an address the final slash of the requested path, or none: links to other pages keep the path (spec:
 * Page envelope).
 */
export function inFormOf(path: string, address: string): string {
  const bare = address.replace(/\/$/, '')
  return path.endsWith('/') ? `${bare}/` : bare
}
