import { duckdbVersion } from '../../../core/duckdb/database.ts'
import { tableId } from '../../../core/catalog/catalog.ts'
import { shorten } from '../../../core/text.ts'
import { TooLarge } from '../engine/errors.ts'
import { unquotedIn } from '../../query/conditions.ts'
import { InvalidPage } from '../../query/errors.ts'
import type { RowQuery } from '../../query/query.ts'
import type { Pool, Timing } from '../engine/pool.ts'
import { rowForm, isLineForm, type Form, type LineForm, type RowFormat } from '../../formats/format.ts'
import { areStored, canReadStored, readStored, textBytesOf } from '../reading/row-store.ts'
import { gather, gatherColumns, type Gathered } from '../reading/gather.ts'
import { rowGroupsOf, valuesOfGroups } from '../reading/plan.ts'
import type { Requester } from '../engine/requester.ts'
import type { MemoryGate } from '../../base/queue.ts'
import { consecutive, type Hint, type Selections, isWholeTable } from '../selection/selections.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { jsonFormat } from '../../formats/json.ts'

export interface Page {
  readonly snapshot: Snapshot
  readonly query: RowQuery
  readonly form: Form
  readonly links: PageLinks
  /** Known from the manifest if the query selects the whole table in its order; else null. */
  readonly range: PageRange | null
  /** Equal for pages with the same bytes, in every process. */
  readonly key: string
}

export interface PageBody {
  readonly pieces: readonly (string | Uint8Array)[]
  readonly isGzip: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly serverTiming: string
  readonly range: PageRange
  readonly positions: Uint32Array
  readonly hints: readonly Hint[]
}

export interface PageRange {
  readonly first: number
  readonly rows: number
  readonly count: number
  readonly page: number
  readonly lastPage: number
}

export interface RowEngine {
  readonly pool: Pool
  readonly selections: Selections
  readonly memory: MemoryGate
  /** Connections for scans, and how many values a scan may read. */
  readonly scans: { readonly pool: Pool; readonly valuesMax: number }
}

/** Bump this when the serialization changes, so that cached bodies of the old format are not reused. */
const representationVersion = 6

/**
 * Describes a page before any statement runs.
 * @throws InvalidPage if the manifest shows that there is no such page
 */
export function pageOf(snapshot: Snapshot, query: RowQuery, format: RowFormat, links: PageLinks): Page {
  const { table, manifest } = snapshot
  const form = rowForm(table, format, query)
  const range = isWholeTable(snapshot, query) ? pageRange(manifest.rows, query) : null
  const page = range?.page ?? query.page
  // The key includes a link, since an envelope contains links.
  const nameParts = [queryKey(snapshot, form, query), links.to(1), query.pageSize, page]
  return { snapshot, query, form, links, range, key: nameParts.join('\n') }
}

/** Equal for queries that write the same rows in the same bytes, on any page. */
export function queryKey(snapshot: Snapshot, form: Form, query: RowQuery): string {
  const { table, manifest, report } = snapshot
  return JSON.stringify([
    representationVersion,
    duckdbVersion,
    tableId(table),
    manifest.snapshot,
    form.key,
    query.key,
    // `in=a,b` and `in="a","b"` share no entry, since only the first may be refused.
    unquotedIn(query),
    query.ordering,
    // The search fields of the catalog may change without a new snapshot.
    query.words.length > 0 ? table.search : [],
    // Without a report, Arrow files have no dictionaries.
    report === null,
  ])
}

/** @throws InvalidPage beyond the last page; an empty result has a page 1 */
export function pageRange(
  count: number,
  { page: requestedPage, pageSize }: Pick<RowQuery, 'page' | 'pageSize'>,
): PageRange {
  const lastPage = Math.max(1, Math.ceil(count / pageSize))
  const page = requestedPage === 'last' ? lastPage : requestedPage
  if (page > lastPage) throw new InvalidPage()
  const first = (page - 1) * pageSize
  return { count, page, lastPage, first, rows: Math.min(pageSize, count - first) }
}

/** Tells whether rows are stored in gzip as they are sent. */
export function isStoredAsGzip({ snapshot, form }: Page): boolean {
  return isLineForm(form) && isEnveloped(form.format) && areStored(snapshot, form)
}

/**
 * Finds and reads the rows of a page, and writes its body and headers. Corrects the caller's charge for a
 * page of unknown size once the rows are known.
 * @throws InvalidPage, TooCostly, QueueFull, QueryTimeout or TooLarge
 */
export async function pageBody(
  page: Page,
  engine: RowEngine,
  requester: Requester,
  mayBeGzip = false,
): Promise<PageBody> {
  const { snapshot, query, form, links } = page
  const startedAt = performance.now()
  const selection =
    page.range === null ? await engine.selections.find({ snapshot, filter: query, requester }) : null
  const range = page.range ?? pageRange(selection?.count ?? 0, query)
  const bytes = range.rows * snapshot.rowBytes
  if (bytes > requester.pageBytesMax) throw new TooLarge()
  const positions =
    selection === null
      ? consecutive(range.first, range.rows)
      : await selection.slice(range.first, range.rows, requester)
  const isStored = isLineForm(form) && canReadStored(snapshot, form, positions.length)
  const valuesToDecode = (): number => valuesOfGroups(rowGroupsOf(snapshot, positions), form.fields.length)
  if (selection !== null) {
    const paidByCaller = { rowBytes: 0 }
    await requester.pay({ rowBytes: bytes, values: isStored ? 0 : valuesToDecode() }, paidByCaller)
  }
  const selectionTiming = { queue: 0, query: performance.now() - startedAt }
  const readPage = async (): Promise<Gathered & { readonly isGzip?: boolean }> => {
    if (!isLineForm(form)) return gatherColumns(snapshot, form, positions, query, engine.pool, requester)
    const envelope = isStoredAsGzip(page) ? { head: envelopeHead(range, links), tail: envelopeTail } : null
    const storedPieces = isStored
      ? await readStored(snapshot, form, positions, mayBeGzip ? envelope : null, requester)
      : null
    if (storedPieces !== null) return { ...storedPieces, timings: [storedPieces.timing] }
    // DuckDB reads what `readStored` did not, as too large. The caller charged for pages without a selection.
    if (isStored && selection !== null) await requester.pay({ values: valuesToDecode() })
    return gather(snapshot, form, positions, engine.pool, requester)
  }
  const memoryBytes = isStored ? textBytesOf(snapshot, positions) : bytes
  const gathered = await engine.memory.during(memoryBytes, requester.client, requester.signal, readPage)
  const { isGzip = false } = gathered
  const writingStartedAt = performance.now()
  const pieces = isLineForm(form) && !isGzip ? piecesOf(page, form, range, gathered.pieces) : gathered.pieces
  const timings = [selectionTiming, ...gathered.timings]
  return {
    pieces,
    isGzip,
    headers: { ...pagingHeaders(range, links), ...hintHeader(selection?.hints) },
    serverTiming: timingOf(timings, performance.now() - writingStartedAt, selection?.plan ?? 'table'),
    range,
    positions,
    hints: selection?.hints ?? [],
  }
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

/** Server-Timing: longest wait, all queries, assembly, and how the rows were found. */
function timingOf(timings: readonly Timing[], send: number, plan: string): string {
  const queue = timings.reduce((longest, timing) => Math.max(longest, timing.queue), 0)
  const query = timings.reduce((sum, timing) => sum + timing.query, 0)
  return `queue;dur=${queue.toFixed(2)}, query;dur=${query.toFixed(2)}, send;dur=${send.toFixed(2)}, plan;desc="${plan}"`
}

export interface PageLinks {
  readonly to: (page: number) => string
  readonly alternates: (page: number) => readonly { readonly address: string; readonly mediaType: string }[]
  readonly downloadUrl: string
}

interface PageOfCount {
  readonly count: number
  readonly page: number
  readonly lastPage: number
}

function isEnveloped(format: RowFormat): boolean {
  return format === jsonFormat
}

function envelopeHead({ count, page, lastPage }: PageOfCount, { to }: PageLinks): string {
  const link = (target: number): string => JSON.stringify(to(target))
  const next = page < lastPage ? link(page + 1) : 'null'
  const previous = page > 1 ? link(page - 1) : 'null'
  return `{"count":${count},"next":${next},"previous":${previous},"results":[`
}

const envelopeTail = ']}'

/** Proxies accept 4 kB of headers; other headers take half of that. */
const linkLengthMax = 1200

/** The envelope as headers, for all formats. */
export function pagingHeaders(range: PageOfCount, links: PageLinks): Record<string, string> {
  return { 'Acervo-Count': String(range.count), Link: linkHeader(range, links) }
}

export function linkToFile(address: string): string {
  const type = address.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/gzip'
  return `<${address}>; rel="alternate"; type="${type}"`
}

/** Link header (RFC 8288), without less important links if it would become too long. */
function linkHeader({ page, lastPage }: PageOfCount, { to, alternates, downloadUrl }: PageLinks): string {
  const links = [
    linkToFile(downloadUrl),
    ...(page < lastPage ? [`<${to(page + 1)}>; rel="next"`] : []),
    ...(page > 1 ? [`<${to(page - 1)}>; rel="prev"`] : []),
    `<${to(1)}>; rel="first"`,
    `<${to(lastPage)}>; rel="last"`,
    ...alternates(page).map(({ address, mediaType }) => `<${address}>; rel="alternate"; type="${mediaType}"`),
  ]
  // Two links always stay: the whole file, and the next page if there is one.
  return joinedWithin(links, linkLengthMax, 2)
}

/** Leaves out items beyond the maximum length, but never the first `alwaysCount`. */
function joinedWithin(items: readonly string[], lengthMax: number, alwaysCount: number): string {
  let length = 0
  const fits = (item: string, index: number): boolean => {
    length += item.length + 2
    return index < alwaysCount || length <= lengthMax
  }
  return items.filter(fits).join(', ')
}

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%20', ' ')

const hintHeaderMax = 800
const hintShownMax = 30

/**
 * Names operands without rows, and the nearest values: `city: "sao paulo" is not a value; nearest "S%C3%A3o
 * Paulo"; try city__iexact`, percent-encoded except for blanks, and separated by commas.
 */
export function hintHeader(hints: readonly Hint[] = []): { 'Acervo-Hint'?: string } {
  const texts = hints.map(({ condition: { field }, missing, nearest, isSameInAnyCase }) => {
    const name = encodeURIComponent(field.name)
    const parts = [`${name}: "${encoded(shorten(missing, hintShownMax))}" is not a value`]
    if (nearest !== null) parts.push(`nearest "${encoded(nearest)}"`)
    return [...parts, ...(isSameInAnyCase ? [`try ${name}__iexact`] : [])].join('; ')
  })
  return texts.length === 0 ? {} : { 'Acervo-Hint': joinedWithin(texts, hintHeaderMax, 1) }
}
