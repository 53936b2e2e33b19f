import { duckdbVersion } from '../../core/warehouse/duckdb.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { withQuery } from '../http/addresses.ts'
import { pageTooLarge } from '../http/problems.ts'
import { nameOf, type Body } from '../http/answers.ts'
import type { RowAsk } from './ask.ts'
import type { Blocks, Reader, ReadRows } from './blocks.ts'
import { cutsOf, type Cut } from './plan.ts'
import { selectRows, slicePage, type Slice } from './selection.ts'
import type { Snapshot } from './snapshot.ts'

/** A page that is known in all but its rows. */
export interface Page {
  readonly snapshot: Snapshot
  readonly slice: Slice
  readonly count: number
  /** The envelope up to the first row (spec: Page envelope). */
  readonly head: string
  /** The same name, the same bytes, whichever process answers. */
  readonly name: string
}

/** Raised when the same rows are written in another way, so that no cache takes old bytes for new. */
const representation = 1

/**
 * What an ask comes to, before any query.
 *
 * @param address of the rows, without a query, for the links to other pages
 * @throws Problem invalid-page
 */
export function pageOf(snapshot: Snapshot, ask: RowAsk, address: string): Page {
  const { count } = selectRows(snapshot.manifest)
  const slice = slicePage({ count }, ask)
  // A walk that began at the current snapshot goes on with the one that this was.
  const linked =
    ask.snapshot === null ? ask.given : new Map([...ask.given, ['snapshot', snapshot.manifest.snapshot]])
  const link = (page: number): string => JSON.stringify(withQuery(address, linked, page))
  const next = slice.page < slice.lastPage ? link(slice.page + 1) : 'null'
  const previous = slice.page > 1 ? link(slice.page - 1) : 'null'
  const head = `{"count":${count},"next":${next},"previous":${previous},"results":[`
  const { table, manifest } = snapshot
  const all = [
    representation,
    duckdbVersion,
    tableId(table),
    manifest.snapshot,
    slice.first,
    slice.rows,
    head,
  ]
  return { snapshot, slice, count, head, name: nameOf(all.join('\n')) }
}

/**
 * The bytes of a page, cut from blocks and not copied. The rows are written by DuckDB and never become
 * JavaScript values.
 *
 * @throws Problem overloaded, query-timeout or page-too-large
 */
export async function pageBody(page: Page, blocks: Blocks, reader: Reader): Promise<Body> {
  const { snapshot, slice, head } = page
  if (slice.rows * snapshot.rowBytes > reader.pageBytesMax) throw pageTooLarge()
  const cuts = cutsOf(snapshot, slice)
  const kept = cuts.map((cut) => blocks.kept(snapshot, cut))
  const missing = cuts.filter((_cut, index) => kept[index] === null)
  const read =
    missing.length === 0 ? [] : await Promise.all(missing.map((cut) => blocks.read(snapshot, cut, reader)))
  const began = performance.now()
  const pieces: (string | Uint8Array)[] = [head]
  const fresh = read.values()
  for (const rows of kept) {
    if (pieces.length > 1) pieces.push(',')
    pieces.push(rows ?? fresh.next().value?.bytes ?? new Uint8Array())
  }
  pieces.push(']}')
  if (missing.length === 0) foreseeNext(page, cuts, blocks)
  return { pieces, serverTiming: timingOf(read, performance.now() - began) }
}

/** Whoever finds a block and comes to its end is on a walk, and will want the next one. */
function foreseeNext({ snapshot, slice }: Page, cuts: readonly Cut[], blocks: Blocks): void {
  const last = cuts.at(-1)
  if (last !== undefined && last.first + last.rows + slice.rows > snapshot.blockRows)
    blocks.foresee(snapshot, last)
}

/** The longest wait in line, the time of all queries, and what it took to put the answer together. */
function timingOf(read: readonly ReadRows[], send: number): string {
  const queue = read.reduce((longest, { timing }) => Math.max(longest, timing.queue), 0)
  const query = read.reduce((sum, { timing }) => sum + timing.query, 0)
  return `queue;dur=${queue.toFixed(2)}, query;dur=${query.toFixed(2)}, send;dur=${send.toFixed(2)}`
}
