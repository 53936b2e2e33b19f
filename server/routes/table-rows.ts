import type { Family, Table } from '../../core/catalog/catalog.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import type { SnapshotId } from '../../core/warehouse/layout.ts'
import { addressesOf, fileAddresses, withQuery } from '../http/addresses.ts'
import { negotiate } from '../http/negotiation.ts'
import { Problem } from '../http/problems.ts'
import type { Query } from '../http/query.ts'
import type { Resource } from '../http/resource.ts'
import { pathOf } from '../http/shortcuts.ts'
import { parseRowAsk } from '../rows/ask.ts'
import { pageBody, pageOf } from '../rows/page.ts'
import type { Snapshot } from '../rows/snapshot.ts'
import { findDataset, findTable, notPublished } from './find.ts'
import type { RowService } from './services.ts'

/** The rows of a table in pages (spec: Endpoints 3 and 6, Page envelope, Row). */
export function tableRows(family: Family, service: RowService): Resource {
  const { catalog, publicUrl, limiter, snapshots, blocks, freshness, pageBytesMax } = service
  const [addresses, files] = [addressesOf(family, publicUrl), fileAddresses(publicUrl)]
  return {
    path: '/dataset/:dataset/:table/data',
    name: 'Table Rows',
    description: `The rows of a table, in pages and in its declared order. ${catalog.notice}`,
    limiter,
    instead: ({ dataset, table: name }) => {
      const table = catalog.datasets.get(String(dataset))?.tables.get(String(name))
      if (table === undefined || snapshots.current(table) === null) return null
      const address = files.download(table)
      return { sentence: `All rows are in one file: ${address}.`, link: linkTo(address) }
    },
    find: async ({ params, target, headers, client }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      const ask = parseRowAsk(table, target)
      negotiate(headers, ask.format)
      const address = inFormOf(pathOf(target), addresses.data(dataset, table))
      const pinned = ask.snapshot === 'current' ? null : ask.snapshot
      const orGone = (snapshot: Snapshot | null): Snapshot => {
        if (snapshot === null) throw unavailable(table, pinned, snapshots.current(table), address, ask.given)
        return snapshot
      }
      const current = snapshots.current(table)
      const page =
        pinned === null
          ? pageOf(orGone(current), ask, address)
          : await snapshots.use(table, pinned, async (found) => pageOf(orGone(found), ask, address))
      const { snapshot: id } = page.snapshot.manifest
      return {
        name: page.name,
        lastModified: page.snapshot.lastModified,
        cacheControl: pinned === null ? freshness.changing : freshness.immutable,
        headers: {
          'Acervo-Snapshot': id,
          'Acervo-Count': String(page.count),
          Link: linkTo(files.download(table)),
        },
        isAtHand: false,
        body: (signal) =>
          snapshots.use(table, id, async (kept) => {
            orGone(kept)
            return pageBody(page, blocks, { signal, client, pageBytesMax })
          }),
      }
    },
  }
}

/** To all rows as one file. */
function linkTo(download: string): string {
  return `<${download}>; rel="alternate"; type="application/gzip"`
}

/** Links to other pages have the same path (spec: Page envelope), so also its final slash or its lack. */
function inFormOf(path: string, address: string): string {
  const bare = address.replace(/\/$/, '')
  return path.endsWith('/') ? `${bare}/` : bare
}

function unavailable(
  table: Table,
  pinned: SnapshotId | null,
  current: Snapshot | null,
  address: string,
  given: Query,
): Problem {
  const id = tableId(table)
  if (pinned === null || current === null) return notPublished(table)
  const newest = withQuery(address, new Map([...given, ['snapshot', current.manifest.snapshot]]), 1)
  const detail = `The snapshot ${pinned} of ${id} is not kept here any more; the current one is at ${newest}.`
  return new Problem('snapshot-gone', detail, { headers: { Link: `<${newest}>; rel="latest-version"` } })
}
