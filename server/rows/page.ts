import { withQuery } from '../http/addresses.ts'
import type { RowAsk } from './ask.ts'
import type { Connections } from './connections.ts'
import { planPage } from './plan.ts'
import { selectRows, slicePage } from './selection.ts'
import type { Snapshot } from './snapshots.ts'

/** The body of a page in pieces that follow each other (spec: Page envelope). */
export interface PageBody {
  readonly count: number
  readonly pieces: readonly (string | Uint8Array)[]
}

/**
 * One page of a snapshot as JSON bytes. The rows are written by DuckDB and never become JavaScript values.
 *
 * @param address of the rows, without a query, for the links to other pages
 * @throws Problem invalid-page, overloaded or query-timeout
 */
export async function pageBody(
  snapshot: Snapshot,
  ask: RowAsk,
  address: string,
  connections: Connections,
  signal: AbortSignal,
): Promise<PageBody> {
  const selection = selectRows(snapshot.manifest)
  const slice = slicePage(selection, ask)
  const link = (page: number): string => JSON.stringify(withQuery(address, ask.given, page))
  const next = slice.page < slice.lastPage ? link(slice.page + 1) : 'null'
  const previous = slice.page > 1 ? link(slice.page - 1) : 'null'
  const plans = planPage(snapshot, slice)
  const blobs = plans.length === 0 ? [] : await connections.blobs(plans, signal)
  return {
    count: selection.count,
    pieces: [
      `{"count":${selection.count},"next":${next},"previous":${previous},"results":[`,
      ...blobs.flatMap((blob, index) => (index === 0 ? [blob] : [',', blob])),
      ']}',
    ],
  }
}
