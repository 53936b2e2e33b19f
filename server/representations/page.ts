import { duckdbVersion } from '../../core/duckdb/database.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { TooLarge } from '../engine/errors.ts'
import { unquotedIn } from '../query/conditions.ts'
import { InvalidPage } from '../query/errors.ts'
import type { RowQuery } from '../query/query.ts'
import type { Blocks, ReadRows } from '../fetch/blocks.ts'
import type { Pool, Timing } from '../engine/pool.ts'
import { envelopeHead, envelopeTail, isEnveloped, pageHeaders, type PageLinks } from './envelope.ts'
import { hintHeader } from './hint-header.ts'
import { formOf, isLineForm, type Form, type LineForm, type RowFormat } from '../formats/format.ts'
import type { PackedRows } from '../fetch/packed-rows.ts'
import { gather, gatherColumns, type Gathered } from '../fetch/gather.ts'
import { groupsOf, valuesOfGroups } from '../fetch/cost.ts'
import { cutsOf, type Cut, type Slice } from '../fetch/cuts.ts'
import { priceOfGathered, priceOfScan } from '../limits/prices.ts'
import type { Requester } from '../engine/requester.ts'
import type { MemoryGate } from '../engine/memory-gate.ts'
import type { Near } from '../indexes/near.ts'
import type { Hint, Selection, Selections } from '../select/selections.ts'
import { isWhole } from '../select/whole.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'

/** A page that is named before it is known. */
export interface Page {
  readonly snapshot: Snapshot
  readonly query: RowQuery
  readonly form: Form
  readonly links: PageLinks
  /** Where all rows are asked for, as they lie: then the manifest alone says which these are. */
  readonly range: PageRange | null
  /** Alike for pages of the same bytes, whichever process makes them. */
  readonly key: string
}

/** A page as it goes out. */
export interface PageBody {
  /** They follow each other. */
  readonly pieces: readonly (string | Uint8Array)[]
  readonly headers: Readonly<Record<string, string>>
  readonly serverTiming: string
  readonly range: PageRange
  /** Where its rows lie; null where they follow each other from the first of the range on. */
  readonly positions: Uint32Array | null
  /** Why a page without rows may have none. */
  readonly hints: readonly Hint[]
}

/** One page of a count of rows. */
interface PageRange extends Slice {
  readonly count: number
  /** From 1. */
  readonly page: number
  readonly lastPage: number
}

/** What pages are made with. */
export interface RowEngine {
  readonly blocks: Blocks
  readonly pool: Pool
  readonly packed: PackedRows
  readonly selections: Selections
  readonly memory: MemoryGate
}

/** Raised when the same rows are written in another way, so that no cache takes old bytes for new. */
const representation = 4

/**
 * What a query comes to, before any statement is run.
 *
 * @throws InvalidPage where that can be told yet
 */
export function pageOf(snapshot: Snapshot, query: RowQuery, format: RowFormat, links: PageLinks): Page {
  const { table, manifest } = snapshot
  const form = formOf(table, format, query)
  const range = isWhole(snapshot, query) ? rangeOf(manifest.rows, query) : null
  const page = range?.page ?? query.page
  // The links are a part of an enveloped page.
  const named = [queryKey(snapshot, form, query), links.to(1), query.pageSize, page]
  return { snapshot, query, form, links, range, key: named.join('\n') }
}

/** Alike for queries that come to the same rows in the same bytes, whichever page of them it is. */
export function queryKey(snapshot: Snapshot, form: Form, query: RowQuery): string {
  const { table, manifest, report } = snapshot
  return JSON.stringify([
    representation,
    duckdbVersion,
    tableId(table),
    manifest.snapshot,
    form.key,
    query.key,
    // A list without quotes may be refused where the same values in quotes are not.
    unquotedIn(query),
    query.ordering,
    // What the catalog says of a search may change without a new snapshot.
    query.words.length > 0 ? table.search : [],
    // Of which the dictionaries of Arrow are made.
    report === null,
  ])
}

/** @throws InvalidPage past the end; nothing at all has a page 1 */
function rangeOf(count: number, { page: asked, pageSize }: RowQuery): PageRange {
  const lastPage = Math.max(1, Math.ceil(count / pageSize))
  const page = asked === 'last' ? lastPage : asked
  if (page > lastPage) throw new InvalidPage()
  const first = (page - 1) * pageSize
  return { count, page, lastPage, first, rows: Math.min(pageSize, count - first) }
}

/**
 * The bytes of a page that is not at hand, with what its headers tell. The rows are written by DuckDB and never become JavaScript values.
 *
 * @throws InvalidPage, TooCostly, QueueFull, QueryTimeout or TooLarge
 */
export async function pageBody(page: Page, engine: RowEngine, requester: Requester): Promise<PageBody> {
  const { form, range } = page
  if (range !== null && isLineForm(form)) return blockBody(page, form, range, engine, requester)
  return gatheredBody(page, engine, requester)
}

/** A page all of whose rows are in kept blocks; null where some would have to be read. */
export function pageAtHand(
  page: Page,
  { blocks }: Pick<RowEngine, 'blocks'>,
  limits: Pick<Requester, 'pageBytesMax'>,
): PageBody | null {
  const { snapshot, form, range } = page
  if (range === null || !isLineForm(form) || !isSmall(page, range, limits)) return null
  const cuts = cutsOf(snapshot, range)
  const rows = allKept(cuts, (cut) => blocks.kept(snapshot, form, cut))
  if (rows === null) return null
  prefetchNext(snapshot, form, range, cuts, blocks)
  return cutBody(page, form, range, rows, [])
}

/** A page of all rows as they lie: cut from blocks, uncopied. */
async function blockBody(
  page: Page,
  form: LineForm,
  range: PageRange,
  { blocks, memory }: RowEngine,
  requester: Requester,
): Promise<PageBody> {
  const { snapshot } = page
  requireSmall(page, range, requester)
  const cuts = cutsOf(snapshot, range)
  const read: ReadRows[] = []
  const make = async (): Promise<Uint8Array[]> => {
    // Looked for when it is its turn, since what waits in the queue must not hold what it has found.
    const kept = cuts.map((cut) => blocks.kept(snapshot, form, cut))
    const missing = cuts.filter((_cut, index) => kept[index] === null)
    read.push(...(await Promise.all(missing.map((cut) => blocks.read(snapshot, form, cut, requester)))))
    const fresh = read.values()
    return kept.map((bytes) => bytes ?? fresh.next().value?.bytes ?? new Uint8Array())
  }
  const bytes = range.rows * snapshot.rowBytes
  const rows = await memory.during(bytes, requester.client, requester.signal(), make)
  if (read.length === 0) prefetchNext(snapshot, form, range, cuts, blocks)
  return cutBody(
    page,
    form,
    range,
    rows,
    read.map(({ timing }) => timing),
  )
}

function cutBody(
  page: Page,
  form: LineForm,
  range: PageRange,
  rows: readonly Uint8Array[],
  timings: readonly Timing[],
): PageBody {
  const began = performance.now()
  return {
    pieces: piecesOf(page, form, range, rows),
    headers: pageHeaders(range, page.links),
    serverTiming: timingOf(timings, performance.now() - began),
    range,
    positions: null,
    hints: [],
  }
}

/** The rows of all cuts, where none has to be read. */
function allKept(cuts: readonly Cut[], find: (cut: Cut) => Uint8Array | null): Uint8Array[] | null {
  const found = cuts.map(find)
  return found.every((bytes) => bytes !== null) ? found : null
}

/** A page of what a filter or an order has chosen: gathered from wherever the rows lie. */
async function gatheredBody(page: Page, engine: RowEngine, requester: Requester): Promise<PageBody> {
  const { snapshot, query, form, links } = page
  const asked = performance.now()
  const selection = await engine.selections.find(snapshot, query, requester)
  const range = rangeOf(selection.count, query)
  requireSmall(page, range, requester)
  const { near, positions } = await located(selection, range, requester)
  const bytes = range.rows * snapshot.rowBytes
  const isPacked = isLineForm(form) && engine.packed.has(snapshot, form, near)
  const decoded = (): number => valuesOfGroups(groupsOf(snapshot, positions), form.fields.length)
  // What is no more than a page is paid for as one.
  const price = priceOfGathered(isPacked ? 0 : decoded(), bytes)
  if (price.counts > 1) await requester.pay(price)
  const selecting = { queue: 0, query: performance.now() - asked }
  const read = async (): Promise<Gathered> => {
    if (!isLineForm(form)) return gatherColumns(snapshot, form, positions, query, engine.pool, requester)
    const packed = isPacked ? await engine.packed.read(snapshot, form, near, requester) : null
    if (packed !== null) return { pieces: [packed.bytes], timings: [packed.timing] }
    // Packs too large for an ask: it was paid for as if they would do.
    if (isPacked) await requester.pay(priceOfScan(decoded()))
    return gather(snapshot, form, positions, engine.pool, requester)
  }
  const gathered = await engine.memory.during(bytes, requester.client, requester.signal(), read)
  const began = performance.now()
  const pieces = isLineForm(form) ? piecesOf(page, form, range, gathered.pieces) : gathered.pieces
  const timings = [selecting, ...gathered.timings]
  return {
    pieces,
    headers: { ...pageHeaders(range, links), ...hintHeader(selection.hints) },
    serverTiming: timingOf(timings, performance.now() - began),
    range,
    positions,
    hints: selection.hints ?? [],
  }
}

async function located(
  selection: Selection,
  { first, rows }: Slice,
  requester: Requester,
): Promise<{ readonly near: Near; readonly positions: Uint32Array }> {
  if (selection.near !== undefined) return selection.near(first, rows, requester)
  const positions = await selection.slice(first, rows, requester)
  return { near: { packs: null, places: positions }, positions }
}

function piecesOf(
  { links }: Page,
  { format, fields }: LineForm,
  range: PageRange,
  rows: readonly Uint8Array[],
): PageBody['pieces'] {
  const isInEnvelope = isEnveloped(format)
  const pieces: (string | Uint8Array)[] = [isInEnvelope ? envelopeHead(range, links) : format.head(fields)]
  for (const [index, piece] of rows.entries()) {
    if (index > 0) pieces.push(format.separator)
    pieces.push(piece)
  }
  pieces.push(isInEnvelope ? envelopeTail : format.tail(range.rows))
  return pieces
}

function isSmall(
  { snapshot }: Page,
  { rows }: Slice,
  { pageBytesMax }: Pick<Requester, 'pageBytesMax'>,
): boolean {
  return rows * snapshot.rowBytes <= pageBytesMax
}

function requireSmall(page: Page, slice: Slice, requester: Requester): void {
  if (!isSmall(page, slice, requester)) throw new TooLarge()
}

/** Whoever finds a block and comes to its end is on a walk, and will want the next one. */
function prefetchNext(
  snapshot: Snapshot,
  form: LineForm,
  range: PageRange,
  cuts: readonly Cut[],
  blocks: Blocks,
): void {
  const last = cuts.at(-1)
  if (last !== undefined && last.first + last.rows + range.rows > snapshot.blockRows)
    blocks.prefetch(snapshot, form, last)
}

/** The longest wait in the queue, the time of all queries, and what it took to put the answer together. */
function timingOf(read: readonly Timing[], send: number): string {
  const queue = read.reduce((longest, timing) => Math.max(longest, timing.queue), 0)
  const query = read.reduce((sum, timing) => sum + timing.query, 0)
  return `queue;dur=${queue.toFixed(2)}, query;dur=${query.toFixed(2)}, send;dur=${send.toFixed(2)}`
}
