import type { Runtime } from './runtime.ts'
import type { Family } from '../../core/catalog/catalog.ts'
import { addressesOf } from '../http/addresses.ts'
import { contentName } from '../http/responder.ts'
import type { Resource } from '../http/resource.ts'
import { parseRowQuery } from '../query/query.ts'
import { rowFormats } from '../formats/registry.ts'
import { isStoredAsGzip, linkToFile, pageBody, pageOf, type Page } from '../table/representations/page.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { fileNameOf } from './file-name.ts'
import { requesterOf } from './find.ts'
import { problemOf } from './problem-of.ts'
import { requestedRows } from './requested-rows.ts'

/** Spec: Endpoints 3 and 6, Page envelope, Row. */
export function tableRows(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, snapshots, engine, freshness, pageBytesMax } = service
  const addresses = addressesOf(family, publicUrl)
  return {
    path: '/dataset/:dataset/:table/data',
    name: 'Table Rows',
    description: `The rows of a table, in pages and in its declared order. ${catalog.notice}`,
    offers: rowFormats,
    countsAs: 'rows',
    find: async (request) => {
      const requested = requestedRows(service, request, parseRowQuery, addresses.data)
      const { table, query, format, pinned, downloadUrl, requireSnapshot } = requested
      const pageIn = (snapshotOrNull: Snapshot | null): Page => {
        const snapshot = requireSnapshot(snapshotOrNull)
        return pageOf(snapshot, query, format, requested.linksIn(snapshot))
      }
      const page =
        pinned === null
          ? pageIn(snapshots.current(table))
          : await snapshots.use(table, pinned, async (pinnedSnapshot) => pageIn(pinnedSnapshot))
      const { snapshot: id } = page.snapshot.manifest
      const packing = requested.packingIn(page.snapshot, query.columns, query)
      return {
        name: contentName(page.key + packing.key),
        cacheControl: pinned === null ? freshness.changing : freshness.immutable,
        mediaType: format.contentType,
        headers: {
          'Acervo-Snapshot': id,
          // Links to other pages come with the body: they need the number of pages.
          Link: linkToFile(downloadUrl),
          ...(page.range !== null && { 'Acervo-Count': String(page.range.count) }),
          ...(format.savedAs !== null && {
            'Content-Disposition': `${format.savedAs}; filename="${fileNameOf(page.snapshot, query, format.ending, page.range?.page ?? query.page)}"`,
          }),
        },
        // Rows still unknown are charged when the body is built.
        work: { rowBytes: page.range === null ? 0 : page.range.rows * page.snapshot.rowBytes },
        hasRanges: true,
        isAtHand: false,
        isStoredAsGzip: isStoredAsGzip(page),
        body: (signal, mayBeGzip) =>
          snapshots.use(table, id, async (snapshot) => {
            requireSnapshot(snapshot)
            const requester = requesterOf(request, signal, pageBytesMax)
            const body = await pageBody(page, engine, requester, mayBeGzip).catch((error: unknown) => {
              throw problemOf(error, downloadUrl)
            })
            return { ...body, pieces: await packing.pack(body.pieces, body.range.rows) }
          }),
      }
    },
  }
}
