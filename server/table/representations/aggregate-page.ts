import { parameterFor, unquotedIn } from '../../query/conditions.ts'
import { isParameterName } from '../../query/query.ts'
import { mixedTotal, type Total } from '../../query/totals.ts'
import { totalIn } from './total-in.ts'
import { duckdbVersion } from '../../../core/duckdb/database.ts'
import { inAlphabet } from '../../../core/warehouse/format/row-json.ts'
import { tableId, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedName } from '../../../core/sql.ts'
import { withoutFinalZeros, quotedJson } from '../../../core/text.ts'
import type { ColumnFormat, LineFormat, RowFormat } from '../../formats/format.ts'
import { jsonFormat } from '../../formats/json.ts'
import type { AggregateQuery, Aggregation } from '../../query/aggregate-query.ts'
import { InvalidQuery } from '../../query/errors.ts'
import { isRounded } from '../../query/measures.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { Parameters } from '../engine/plan.ts'
import type { Requester } from '../engine/requester.ts'
import { selectGroups } from '../groups/group-order.ts'
import type { Groups } from '../groups/groups.ts'
import {
  hintHeader,
  pageRange,
  pagingHeaders,
  type PageLinks,
  type PageRange,
  type RowEngine,
} from './page.ts'

export interface Aggregate {
  readonly groups: Groups
  /** Groups that satisfy the conditions, in the order of the query. */
  readonly selected: Uint32Array
  readonly queryMs: number
  readonly orderMs: number
}

/** Bump this when the serialization changes, so that cached bodies of the old format are not reused. */
const representationVersion = 1

export function aggregateKey(
  snapshot: Snapshot,
  query: AggregateQuery,
  format: RowFormat,
  links: PageLinks,
): string {
  const { table, manifest } = snapshot
  return JSON.stringify([
    'aggregate',
    representationVersion,
    duckdbVersion,
    tableId(table),
    manifest.snapshot,
    format.name,
    links.to(1),
    query.page,
    query.filter.key,
    // As in `queryKey`: refusals may differ.
    unquotedIn(query.filter),
    query.filter.words.length > 0 ? table.search : [],
    table.minGroupSize,
  ])
}

export async function aggregate(
  snapshot: Snapshot,
  query: Aggregation,
  { selections }: RowEngine,
  requester: Requester,
): Promise<Aggregate> {
  const began = performance.now()
  const groups = await selections.groups({ snapshot, filter: query.filter, requester }, query)
  const start = performance.now()
  const selectedGroups = selectGroups(groups, query)
  return { groups, selected: selectedGroups, queryMs: start - began, orderMs: performance.now() - start }
}

interface AggregateBody {
  readonly pieces: readonly (string | Uint8Array)[]
  readonly headers: Readonly<Record<string, string>>
  readonly serverTiming: string
  readonly groupsOnPage: number
  /** Time besides grouping, which is charged before. */
  readonly ms: number
}

/**
 * Writes a page of the groups that satisfy the conditions on measures, with headers about all of them.
 * @throws InvalidPage, and the errors of `aggregate`
 */
export async function aggregateBody(
  snapshot: Snapshot,
  query: AggregateQuery,
  format: RowFormat,
  links: PageLinks,
  engine: RowEngine,
  requester: Requester,
): Promise<AggregateBody> {
  const { groups, selected, queryMs, orderMs } = await aggregate(snapshot, query, engine, requester)
  const search = { snapshot, filter: query.filter, requester }
  // Only a selection without rows gets hints here, and finding it costs little.
  const { hints = [] } = groups.rows === 0 ? await engine.selections.find(search) : {}
  const began = performance.now()
  const range = pageRange(selected.length, query)
  const page = selected.subarray(range.first, range.first + range.rows)
  const columns = columnsOf(query, groups)
  // Keys of JSON objects are in alphabetical order; CSV and Excel keep the order of the query.
  const writtenColumns = format.keepsColumnOrder === true ? columns : inAlphabet(columns)
  const pieces =
    'line' in format
      ? linesOf(
          format,
          writtenColumns,
          page,
          format === jsonFormat ? jsonHead(range, groups.rows, links) : null,
        )
      : await columnPieces(format, writtenColumns, page, engine, requester)
  const sendMs = orderMs + performance.now() - began
  return {
    pieces,
    groupsOnPage: page.length,
    ms: sendMs,
    headers: {
      ...pagingHeaders(range, links),
      ...(groups.rows === 0
        ? hintHeader(hints)
        : totalsHint(await totalIn(mixedTotal(snapshot.table, query), search, engine))),
      'Acervo-Rows': String(groups.rows),
    },
    serverTiming: `query;dur=${queryMs.toFixed(2)}, send;dur=${sendMs.toFixed(2)}`,
  }
}

/** If measures mix rows with their totals, names conditions that separate them. */
function totalsHint(total: Total | null): { 'Acervo-Hint'?: string } {
  if (total === null) return {}
  const { field, value } = total
  const [equal, excluding] = (['eq', 'ne'] as const).map((operator) => {
    const condition = parameterFor({ field, operator, values: [value] }, isParameterName)
    return new URLSearchParams([condition]).toString()
  })
  return { 'Acervo-Hint': `measures mix rows with their totals; try ${excluding} or ${equal}` }
}

interface Column {
  readonly name: string
  readonly field: Field
  readonly isRounded: boolean
  readonly values: readonly (string | null)[]
}

function columnsOf({ terms, measures }: Aggregation, { columns }: Groups): Column[] {
  const ofTerms = terms.map((field) => ({ name: field.name, field, isRounded: false }))
  const ofMeasures = measures.map((measure) => ({
    name: measure.name,
    field: measure.column,
    isRounded: isRounded(measure),
  }))
  return [...ofTerms, ...ofMeasures].map((column, index) => ({ ...column, values: columns[index] ?? [] }))
}

function jsonHead(range: PageRange, rows: number, { to }: PageLinks): string {
  const link = (page: number): string => JSON.stringify(to(page))
  const next = range.page < range.lastPage ? link(range.page + 1) : 'null'
  const previous = range.page > 1 ? link(range.page - 1) : 'null'
  return `{"count":${range.count},"rows":${rows},"next":${next},"previous":${previous},"results":[`
}

function linesOf(
  format: LineFormat,
  columns: readonly Column[],
  page: Uint32Array,
  envelopeStart: string | null,
): string[] {
  const { stored, separator } = format
  const { before, between, after } = stored.around
  const lines = Array.from(page, (group) => {
    const values = columns.map((column) => {
      const text = column.values[group] ?? null
      return stored.before(column.field) + (text === null ? stored.null : valueOf(format, column, text))
    })
    return `${before}${values.join(between)}${after}`
  })
  const fields = columns.map(({ field }) => field)
  const tail = envelopeStart === null ? format.tail(page.length) : ']}'
  return [(envelopeStart ?? format.head(fields)) + lines.join(separator) + tail]
}

function valueOf(
  { stored, keepsColumnOrder }: LineFormat,
  { field, isRounded: mayEnd }: Column,
  text: string,
): string {
  // In CSV, the JSON value `null` is text, unlike a missing value.
  if (field.type === 'json' && keepsColumnOrder === true)
    return stored.value(quotedJson(text), { ...field, type: 'text' })
  const { kind, text: inJson } = typeRow(field.type).wire
  if (!mayEnd) return stored.value(kind === 'text' ? quotedJson(inJson(text)) : inJson(text), field)
  const shortText = withoutFinalZeros(text)
  const scale = shortText.includes('.') ? shortText.length - shortText.indexOf('.') - 1 : 0
  return stored.value(shortText, { ...field, scale })
}

const decimalDigitsMax = 38

/** Encodes groups as Arrow or Parquet: DuckDB converts their texts into the types of the fields. */
async function columnPieces(
  format: ColumnFormat,
  columns: readonly Column[],
  pageGroups: Uint32Array,
  { pool }: RowEngine,
  { client, signal }: Requester,
): Promise<readonly Uint8Array[]> {
  const output = columns.map(({ field }) => ({
    field: { ...field, precision: Math.min(field.precision, decimalDigitsMax) },
    choices: null,
  }))
  const writer = await format.writer(output)
  if (pageGroups.length > 0) {
    for (const { name, field, values } of columns) {
      if (typeRow(field.type).arrow.type !== 'decimal') continue
      const isTooLong = (group: number): boolean =>
        (values[group] ?? '').replaceAll(/\D/g, '').length > decimalDigitsMax
      if (field.scale > decimalDigitsMax || pageGroups.some(isTooLong)) {
        const message = `A value of "${name}" has more than ${decimalDigitsMax} digits, which Arrow cannot represent: request another format.`
        throw new InvalidQuery([{ parameter: 'format', message }])
      }
    }
    const parameters = new Parameters()
    const rows = parameters.add(
      JSON.stringify(Array.from(pageGroups, (group) => columns.map(({ values }) => values[group] ?? null))),
    )
    const casts = output.map(
      ({ field }, index) =>
        `texts[${index + 1}]::${typeRow(field.type).stored(field)} as ${quotedName(field.name)}`,
    )
    const aggregates = format.aggregates(output, (value) => parameters.add(value))
    const sql = `select ${aggregates.join(', ')} from (
      select ${casts.join(', ')} from (select unnest(from_json(${rows}, '[["VARCHAR"]]')) as texts)) as part`
    const plan = { sql, parameters: parameters.values, reads: null }
    writer.write((await pool.columns(plan, client, signal())).columns, pageGroups.length)
  }
  writer.finish()
  return writer.takeBytes()
}
