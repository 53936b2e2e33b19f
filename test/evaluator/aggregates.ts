import request from 'supertest'
import { tableId, type Field, type Table } from '../../core/catalog/catalog.ts'
import { termsOf } from '../../server/query/aggregate-query.ts'
import type { Term } from '../../server/query/date-parts.ts'
import { functionsOf, isRounded, measureOf, rowsName, type Measure } from '../../server/query/measures.ts'
import { operatorsOf } from '../../server/query/operators.ts'
import { quotedJson } from '../../core/text.ts'
import {
  compareCells,
  evaluate,
  indexOf,
  isSame,
  pick,
  randomQuery,
  termCell,
  textOf,
  type Cell,
  type Random,
  type Row,
} from './rows.ts'
import type { Service } from '../support/service.ts'

/** Aggregates computed from rows in memory with exact arithmetic, without Acervo or DuckDB. */

/** Values of a group: those of its terms, then of its measures. */
export type GroupCells = readonly Cell[]

/** Groups sorted by their terms, nulls last, and the rows of each. */
export function evaluateGroups(
  table: Table,
  rows: readonly Row[],
  terms: readonly Term[],
  measures: readonly Measure[],
): { readonly cells: GroupCells; readonly rows: readonly Row[] }[] {
  const places = terms.map((term) => indexOf(table, term.part?.base.name ?? term.name))
  const groups = new Map<string, { keys: Cell[]; rows: Row[] }>()
  if (terms.length === 0) groups.set('', { keys: [], rows: [] })
  for (const row of rows) {
    const keys = terms.map((term, at) => termCell(term, row[places[at] ?? 0] ?? null))
    const name = keys.map((key) => `${typeof key} ${String(key)}`).join('\0')
    const group = groups.get(name) ?? { keys, rows: [] }
    group.rows.push(row)
    groups.set(name, group)
  }
  return [...groups.values()]
    .map(({ keys, rows: groupRows }) => ({
      cells: [...keys, ...measures.map((measure) => measured(table, groupRows, measure))],
      rows: groupRows,
    }))
    .toSorted((a, b) => {
      for (const at of terms.keys()) {
        const order = nullsLast(a.cells[at] ?? null, b.cells[at] ?? null, false)
        if (order !== 0) return order
      }
      return 0
    })
}

function nullsLast(a: Cell, b: Cell, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return isDescending ? compareCells(b, a) : compareCells(a, b)
}

function measured(table: Table, rows: readonly Row[], { aggregate, field, column }: Measure): Cell {
  if (field === null) return BigInt(rows.length)
  const at = indexOf(table, field.name)
  const values = rows.flatMap((row) => row[at] ?? [])
  switch (aggregate) {
    case 'count':
      return BigInt(values.length)
    case 'distinct':
      return BigInt(new Set(values).size)
    case 'min':
      return values.reduce<Cell>(
        (best, cell) => (best === null || compareCells(cell, best) < 0 ? cell : best),
        null,
      )
    case 'max':
      return values.reduce<Cell>(
        (best, cell) => (best === null || compareCells(cell, best) > 0 ? cell : best),
        null,
      )
    case 'sum':
      return mean(values, 1n, field, column)
    case 'avg':
      return mean(values, BigInt(values.length), field, column)
    default: {
      const sorted = values.toSorted(compareCells)
      const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1)
      return mean(middle, BigInt(middle.length), field, column)
    }
  }
}

/** The sum of numbers divided by a number, exact or next to it; null without numbers. */
function mean(values: readonly Cell[], divisor: bigint, field: Field, column: Field): Cell {
  if (values.length === 0) return null
  if (field.type === 'float') {
    const units = values.reduce<bigint>((sum, value) => sum + unitsOf(Number(value)), 0n)
    return nearestDouble(units, divisor)
  }
  const sum = values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)
  const scaled = sum * 10n ** BigInt(column.scale - (field.type === 'decimal' ? field.scale : 0))
  const [quotient, rest] = [scaled / divisor, scaled % divisor]
  const isFar = 2n * (rest < 0n ? -rest : rest) >= divisor
  return quotient + (isFar ? (scaled < 0n ? -1n : 1n) : 0n)
}

/** A double as a number of the least positive doubles. */
export function unitsOf(value: number): bigint {
  const magnitude = bitsToUnits(new BigUint64Array(Float64Array.of(Math.abs(value)).buffer)[0] ?? 0n)
  return value < 0 ? -magnitude : magnitude
}

function bitsToUnits(bits: bigint): bigint {
  const [exponent, fraction] = [bits >> 52n, bits & (2n ** 52n - 1n)]
  return exponent === 0n ? fraction : (fraction + 2n ** 52n) << (exponent - 1n)
}

/** Doubles of one sign are ordered as their bits are: bisection finds the greatest that is not above the quotient. */
export function nearestDouble(units: bigint, divisor: bigint): number {
  const magnitude = units < 0n ? -units : units
  let [low, high] = [0n, 0x7fefffffffffffffn]
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (bitsToUnits(middle) * divisor <= magnitude) low = middle
    else high = middle - 1n
  }
  const [below, above] = [low, low + 1n].map((bits) => magnitude - bitsToUnits(bits) * divisor) as [
    bigint,
    bigint,
  ]
  const isUp = below > -above || (below === -above && low % 2n === 1n)
  const nearest = new Float64Array(BigUint64Array.of(isUp ? low + 1n : low).buffer)[0] ?? 0
  return units < 0n ? -nearest : nearest
}

/** A double as the API writes it. */
function floatText(value: number): string {
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  if (value !== 0 && (Number(power) < -4 || Number(power) >= 16))
    return `${mantissa}e${Number(power) < 0 ? '-' : '+'}${String(Math.abs(Number(power))).padStart(2, '0')}`
  if (Number.isInteger(value)) return `${BigInt(value)}.0`
  const fraction = mantissa.split('.')[1] ?? ''
  return value.toFixed(Math.max(1, fraction.length - Number(power)))
}

/** The canonical text of a cell. */
export function canonicalCell(field: Field, cell: Cell): string | null {
  if (cell === null) return null
  return typeof cell === 'number' ? (Number.isFinite(cell) ? floatText(cell) : null) : textOf(field, cell)
}

/** A cell as the JSON of an aggregate has it. */
function jsonOf(field: Field, cell: Cell, isShort: boolean): string {
  const text = canonicalCell(field, cell)
  if (text === null) return 'null'
  if (typeof cell === 'bigint') return isShort ? text.replace(/\.?0*$/, '') : text
  if (typeof cell !== 'string') return text
  if (field.type === 'json' || field.type === 'list') return cell
  if (field.type === 'point') return `{"lat":${cell.replace(',', ',"lon":')}}`
  return quotedJson(cell)
}

interface RandomAggregate {
  readonly query: URLSearchParams
  /** Parameters that select the rows, which `data` takes too. */
  readonly rowQuery: URLSearchParams
  readonly expected: string
  /** A group of the page, as a query for its rows, and their number; null without terms that are filters. */
  readonly group: { readonly query: URLSearchParams; readonly rows: number } | null
}

const comparisons: Record<string, (order: number) => boolean> = {
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0,
}

/** Makes a random aggregate of a table, and its answer. */
export function randomAggregate(random: Random, table: Table, rows: readonly Row[]): RandomAggregate {
  const { query, ...asked } = randomQuery(random, table, rows)
  for (const name of ['fields', 'ordering', 'order-by']) query.delete(name)
  const rowQuery = new URLSearchParams(query)
  const termList = termsOf(table)
  const terms = someOf(random, termList, pick(random, [0, 1, 1, 1, 2, 2, 3]))
  const names = [
    rowsName(table),
    rowsName(table),
    ...table.fields.flatMap((field) => functionsOf(table, field).map((of) => `${field.name}__${of}`)),
  ]
  const measures = someOf(random, names, pick(random, [1, 1, 2, 4])).flatMap(
    (name) => measureOf(table, name) ?? [],
  )
  const keys: Field[] = [...terms, ...measures.map(({ column }) => column)]
  query.set('group', terms.map(({ name }) => name).join())
  if (measures.length > 1 || measures[0]?.aggregate !== 'rows' || random() < 0.5)
    query.set('measure', measures.map(({ name }) => name).join())
  const evaluated = evaluate(table, rows, { ...asked, ordering: [] })
  const covered = evaluated.length
  let groups = evaluateGroups(table, evaluated, terms, measures)
  for (let left = pick(random, [0, 0, 1, 2]); left > 0 && groups.length > 0; left -= 1) {
    const at = Math.floor(random() * measures.length)
    const measure = measures[at]
    const operand = pick(random, groups).cells[terms.length + at] ?? null
    if (measure === undefined || ['json', 'list', 'point'].includes(measure.column.type)) continue
    const possible = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const
    const operator = pick(
      random,
      possible.filter((candidate) => operatorsOf(measure.column).includes(candidate)),
    )
    const { column } = measure
    const text = operand === null ? 'None' : (canonicalCell(column, operand) ?? '')
    if (text === '' || text.length > 200 || (operand === null && operator !== 'eq')) continue
    const name = operator === 'eq' && random() < 0.5 ? column.name : `${column.name}__${operator}`
    if (operand === null && name !== column.name) continue
    if (text === 'None' && operand !== null) continue
    if ([column.name, `${column.name}__${operator}`].some((key) => query.has(key))) continue
    query.set(name, text)
    groups = groups.filter(({ cells }) => {
      const cell = cells[terms.length + at] ?? null
      if (operand === null) return cell === null
      if (operator === 'eq') return cell !== null && isSame(cell, operand)
      if (operator === 'ne') return cell === null || !isSame(cell, operand)
      return cell !== null && comparisons[operator]?.(compareCells(cell, operand)) === true
    })
  }
  const ordering = someOf(random, keys, pick(random, [0, 0, 1, 2])).map(({ name }) => ({
    at: keys.findIndex((key) => key.name === name),
    name,
    isDescending: random() < 0.5,
  }))
  if (ordering.length > 0)
    query.set('ordering', ordering.map(({ name, isDescending }) => (isDescending ? '-' : '') + name).join())
  const sorted = groups.toSorted((a, b) => {
    for (const { at, isDescending } of ordering) {
      const order = nullsLast(a.cells[at] ?? null, b.cells[at] ?? null, isDescending)
      if (order !== 0) return order
    }
    return 0
  })
  const pageSize = pick(random, [1, 7, 50, 1000])
  const page = 1 + Math.floor(random() * Math.max(1, Math.ceil(sorted.length / pageSize)))
  query.set('page_size', String(pageSize))
  query.set('page', String(page))
  const shown = sorted.slice((page - 1) * pageSize, page * pageSize)
  const columns = keys
    .map((field, at) => ({
      field,
      at,
      isShort: at >= terms.length && isRounded(measures[at - terms.length] as Measure),
    }))
    .toSorted((a, b) => (a.field.name < b.field.name ? -1 : 1))
  const results = shown.map(({ cells }) => {
    const members = columns.map(
      ({ field, at, isShort }) =>
        `${JSON.stringify(field.name)}:${jsonOf(field, cells[at] ?? null, isShort)}`,
    )
    return `{${members.join()}}`
  })
  return {
    query,
    rowQuery,
    expected: `"count":${sorted.length},"rows":${covered} [${results.join()}]`,
    group: shown.length === 0 ? null : groupQuery(table, terms, pick(random, shown), rowQuery),
  }
}

/** The terms of a group as filters of its rows; null if a term is no filter, or names a condition of the query. */
function groupQuery(
  table: Table,
  terms: readonly Term[],
  { cells, rows }: { readonly cells: GroupCells; readonly rows: readonly Row[] },
  rowQuery: URLSearchParams,
): RandomAggregate['group'] {
  const query = new URLSearchParams(rowQuery)
  for (const [at, term] of terms.entries()) {
    const text = canonicalCell(term, cells[at] ?? null)
    const isTaken = [...query.keys()].some((name) => name === term.name || name.startsWith(`${term.name}__`))
    if (!table.filters.includes(term.part?.base.name ?? term.name) || isTaken || (text?.length ?? 0) > 500)
      return null
    // A bare None means null.
    query.set(text === 'None' ? `${term.name}__eq` : term.name, text === '' ? '""' : (text ?? 'None'))
  }
  return { query, rows: rows.length }
}

function someOf<T>(random: Random, items: readonly T[], count: number): T[] {
  return [...new Set(Array.from({ length: Math.min(count, items.length) }, () => pick(random, items)))]
}

/** Requests a random aggregate and the rows of one of its groups; returns a difference, or null. */
export async function compareAggregate(
  service: Service,
  table: Table,
  rows: readonly Row[],
  random: Random,
): Promise<string | null> {
  const { query, expected, group } = randomAggregate(random, table, rows)
  const base = `/api/v1/dataset/${tableId(table)}`
  const address = `${base}/aggregate/?${query.toString()}`
  const response = await request(service.app).get(address)
  if (response.status !== 200) return `${address}: ${response.status} ${response.text}`
  const [, head = '', results = ''] =
    /^\{("count":\d+,"rows":\d+),"next":(?:null|"[^"]*"),"previous":(?:null|"[^"]*"),"results":(.*)\}$/s.exec(
      response.text,
    ) ?? []
  const got = `${head} ${results}`
  if (got !== expected) {
    let same = 0
    while (got[same] === expected[same]) same += 1
    const from = Math.max(0, same - 100)
    return `${address}:\n${got.slice(from, from + 200)}\n${expected.slice(from, from + 200)}`
  }
  if (group === null) return null
  const rowsOf = `${base}/data/?${group.query.toString()}&page_size=1`
  const answer = await request(service.app).get(rowsOf)
  const count: unknown = (answer.body as { readonly count?: unknown }).count
  return count === group.rows ? null : `${rowsOf}: count ${String(count)}, expected ${group.rows}`
}
