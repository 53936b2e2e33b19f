import { tableId, type Family, type Table } from '../../core/catalog/catalog.ts'
import { rowFormats } from '../formats/registry.ts'
import { addressesOf, fileAddresses, withQuery } from '../http/addresses.ts'
import { Problem } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { contentName } from '../http/responder.ts'
import {
  withoutReservedNames,
  changesParameterNames,
  parseChangedRows,
  parseChangesTarget,
  type ChangesTarget,
} from '../query/changes-query.ts'
import { changesOf, comparableVersions, type ChangesSnapshot } from '../snapshots/changes.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { linkToFile, pageBody, pageOf } from '../table/representations/page.ts'
import { fileNameOf } from './file-name.ts'
import { findDataset, findTable, requesterOf, unavailable } from './find.ts'
import { problemOf } from './problem-of.ts'
import { requestedQuery } from './requested-rows.ts'
import type { Runtime } from './runtime.ts'

/** Rows that differ between two snapshots; an extension of the spec. */
export function tableChanges(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, snapshots, engine, freshness, pageBytesMax } = service
  const addresses = addressesOf(family, publicUrl)
  const files = fileAddresses(publicUrl)
  return {
    path: '/dataset/:dataset/:table/changes',
    name: 'Table Changes',
    description: `The rows of a table that changed between two of its snapshots. ${catalog.notice}`,
    offers: rowFormats,
    countsAs: 'rows',
    find: async (request) => {
      const dataset = findDataset(catalog, request.params)
      const table = findTable(dataset, request.params)
      const requestedRange = parseChangesTarget(request.target)
      const base = addresses.changes(dataset, table)
      const readView = async <T>(
        id: ChangesTarget['to'],
        work: (view: ChangesSnapshot) => T | Promise<T>,
      ): Promise<T> =>
        snapshots.use(table, id, async (later) => {
          if (later === null) throw unavailable(table, id, snapshots, base)
          const view = changesOf(later, requestedRange.since)
          if (view === null) throw unknownChanges(table, later, requestedRange, base)
          return work(view)
        })
      const view = await readView(requestedRange.to, (current) => current)
      const query = parseChangedRows(view, requestedRange.target, ['snapshot'])
      const { since, added, removed, changed, file } = view.changes
      const { snapshot: id } = view.manifest
      const shown = {
        ...query,
        parameters: new Map<string, string>([
          ...withoutReservedNames(query.parameters, changesParameterNames),
          ['since', since],
          // The next page is of the same snapshots, also after a publication.
          ['to', id],
        ]),
      }
      const address = file === null ? files.download(table) : files.file(table, id, file)
      const { format, linksIn, packingIn } = requestedQuery(
        service,
        request,
        view.table,
        shown,
        base,
        address,
      )
      const page = pageOf(view, query, format, linksIn(view))
      const packing = packingIn(view, query.columns, query)
      const isPinned = requestedRange.to !== null && requestedRange.since !== null
      return {
        name: contentName(page.key + packing.key),
        cacheControl: isPinned ? freshness.immutable : freshness.changing,
        mediaType: format.contentType,
        headers: {
          'Acervo-Snapshot': id,
          'Acervo-Since': since,
          'Acervo-Changes': `added=${added}, removed=${removed}, changed=${changed}`,
          Link: linkToFile(address),
          ...(page.range !== null && { 'Acervo-Count': String(page.range.count) }),
          ...(format.savedAs !== null && {
            'Content-Disposition': `${format.savedAs}; filename="${fileNameOf(view, shown, format.ending, page.range?.page ?? query.page)}"`,
          }),
        },
        work: { rowBytes: page.range === null ? 0 : page.range.rows * view.rowBytes },
        hasRanges: true,
        isAtHand: false,
        body: (signal) =>
          readView(id, async () => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const body = await pageBody(page, engine, requester).catch((error: unknown) => {
              throw problemOf(error, address)
            })
            return { ...body, pieces: await packing.pack(body.pieces, body.range.rows) }
          }),
      }
    },
  }
}

/**
 * Explains that changes were never computed, or are not kept; links to the oldest kept ones.
 */
export function unknownChanges(
  table: Table,
  later: Snapshot,
  { since, to }: Pick<ChangesTarget, 'since' | 'to'>,
  base: string,
): Problem {
  const { snapshot } = later.manifest
  const oldestStart = comparableVersions(later.manifest).at(-1)
  const startText = since === null ? 'the snapshot before it' : since
  if (oldestStart === undefined)
    return new Problem(
      'snapshot-gone',
      `The changes of ${tableId(table)} from ${startText} to ${snapshot} are not known: these snapshots were not compared when the later one was published.`,
    )
  const parameters = [['since', oldestStart] as const, ...(to === null ? [] : [['to', to] as const])]
  const address = withQuery(base, new Map<string, string>(parameters), 1)
  return new Problem(
    'snapshot-gone',
    `The changes of ${tableId(table)} from ${startText} to ${snapshot} are not kept. The oldest ones begin at ${oldestStart}: ${address}`,
    { headers: { Link: `<${address}>; rel="alternate"` } },
  )
}
