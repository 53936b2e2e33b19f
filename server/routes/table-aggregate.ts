import type { Family } from '../../core/catalog/catalog.ts'
import { rowFormats } from '../formats/registry.ts'
import { addressesOf, fileAddresses } from '../http/addresses.ts'
import { Problem } from '../http/problems.ts'
import type { Resource } from '../http/resource.ts'
import { contentName } from '../http/responder.ts'
import { costOfWork } from '../limits/costs.ts'
import { parseAggregateQuery, type AggregateQuery } from '../query/aggregate-query.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { TooCostly } from '../table/engine/errors.ts'
import { aggregateSql } from '../table/groups/public-sql.ts'
import { aggregateBody, aggregateKey } from '../table/representations/aggregate-page.ts'
import { fileNameOf } from './file-name.ts'
import { requesterOf } from './find.ts'
import { problemOf } from './problem-of.ts'
import type { Runtime } from './runtime.ts'
import { linkToFile } from '../table/representations/page.ts'
import { requestedRows } from './requested-rows.ts'

/** Groups with measures, in pages; an extension of the spec. */
export function tableAggregate(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, snapshots, engine, freshness, pageBytesMax } = service
  const addresses = addressesOf(family, publicUrl)
  return {
    path: '/dataset/:dataset/:table/aggregate',
    name: 'Table Aggregate',
    description: `Groups of the rows of a table, with sums and other measures. ${catalog.notice}`,
    offers: rowFormats,
    countsAs: 'rows',
    find: async (request) => {
      const requested = requestedRows(service, request, parseAggregateQuery, addresses.aggregate)
      const { table, query, format, pinned, downloadUrl, requireSnapshot } = requested
      const snapshot = await snapshots.use(table, pinned, async (snapshotOrNull) =>
        requireSnapshot(snapshotOrNull),
      )
      const { snapshot: id } = snapshot.manifest
      const links = requested.linksIn(snapshot)
      const packing = requested.packingIn(snapshot, [...query.terms, ...query.measures], query.filter)
      const key = aggregateKey(snapshot, query, format, links)
      return {
        name: contentName(key + packing.key),
        cacheControl: pinned === null ? freshness.changing : freshness.immutable,
        mediaType: format.contentType,
        headers: {
          'Acervo-Snapshot': id,
          Link: linkToFile(downloadUrl),
          ...(format.savedAs !== null && {
            'Content-Disposition': `${format.savedAs}; filename="${fileNameOf(snapshot, query, format.ending, query.page)}"`,
          }),
        },
        work: { rowBytes: 0 },
        hasRanges: true,
        isAtHand: false,
        body: (signal) =>
          snapshots.use(table, id, async (pinnedSnapshot) => {
            const requester = requesterOf(request, signal, pageBytesMax)
            const availableSnapshot = requireSnapshot(pinnedSnapshot)
            const body = await aggregateBody(
              availableSnapshot,
              query,
              format,
              links,
              engine,
              requester,
            ).catch((error: unknown) => {
              if (error instanceof TooCostly) throw tooCostly(error, availableSnapshot, query, service)
              throw problemOf(error, downloadUrl)
            })
            return { ...body, pieces: await packing.pack(body.pieces, body.groupsOnPage) }
          }),
      }
    },
  }
}

/** 422 with SQL by which a client can compute the same groups. */
function tooCostly(
  error: TooCostly,
  snapshot: Snapshot,
  query: AggregateQuery,
  { publicUrl }: Runtime,
): Problem {
  const { table, manifest } = snapshot
  const { terms, measures, filter } = query
  const columns = terms.length + measures.length + filter.conditions.length + filter.words.length
  const addresses = fileAddresses(publicUrl)
  const sql = aggregateSql(snapshot, query, (file) => addresses.file(table, manifest.snapshot, file))
  const detail = `${error.message} The member "sql" asks the same of the public files, with DuckDB.`
  const cost = costOfWork({ values: columns * manifest.rows })
  return new Problem('query-too-costly', detail, { members: { groups_estimate: error.groups, cost, sql } })
}
