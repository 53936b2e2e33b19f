import type { Field } from '../../../../core/catalog/catalog.ts'
import { typeRow } from '../../../../core/catalog/field-types.ts'
import { orderTerm } from '../../../../core/sql.ts'
import { inAlphabet } from '../../../../core/warehouse/format/row-json.ts'
import { RowValues } from '../../../../core/warehouse/format/row-store.ts'
import { isBisected } from '../../../../core/warehouse/format/positions.ts'
import type { Order } from '../../../../core/warehouse/manifest.ts'
import type { Condition } from '../../../query/conditions.ts'
import { compareValues, equalValues, readValue, type Operator } from '../../../query/operators.ts'
import type { Snapshot } from '../../../snapshots/snapshot.ts'
import { EventLoopYielder } from '../../../base/queue.ts'
import type { Requester } from '../../engine/requester.ts'
import { OrderedTable } from '../../indexes/ordered-table.ts'
import { hasRowStores } from '../../reading/row-store.ts'
import { StoredRows } from '../../reading/stored-rows.ts'
import { RowSet } from '../row-set.ts'
import type { Search } from '../selections.ts'
import type { AccessPath } from '../access-path.ts'

/** Ranks from `from` up to, but not including, `to`. */
export interface Span {
  readonly from: number
  readonly to: number
}

interface Sorted {
  readonly field: Field
  readonly order: Order | null
  readonly direction: 'asc' | 'desc'
}

/** Sorting more positions would delay other requests. */
const positionsMax = 200_000

export interface OrderStep {
  readonly condition: Condition
  readonly sorted: Sorted
}

/** Bisects a stored order for a single condition; null if its rows are too many. */
export const orderBisection = {
  plan({ snapshot, filter: { conditions } }): OrderStep | null {
    const [condition, second] = conditions
    if (condition === undefined || second !== undefined) return null
    const sortedField = sortedFor(snapshot, condition)
    return sortedField === null || sortedField.order === null ? null : { condition, sorted: sortedField }
  },
  async find({ snapshot, requester }, { condition, sorted }) {
    const spans = await spansOf(snapshot, sorted, condition, requester)
    const rows = spans?.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0) ?? Infinity
    if (spans === null || rows > positionsMax) return null
    return RowSet.fromPositions(await positionsIn(snapshot, sorted, spans), snapshot.manifest.parts)
  },
} satisfies AccessPath<OrderStep, RowSet | null>

/**
 * Positions that can satisfy conditions on the leading field of the order.
 * @throws DamagedTable
 */
export async function leadingSpan({ snapshot, filter: { conditions }, requester }: Search): Promise<Span> {
  let span: Span = { from: 0, to: snapshot.manifest.rows }
  for (const condition of conditions) {
    const sortedField = sortedFor(snapshot, condition)
    // Without a separate order, the table's own order begins with the field.
    const isLeading = sortedField?.order === null
    const spans = isLeading ? await spansOf(snapshot, sortedField, condition, requester) : null
    if (spans === null) continue
    const filledSpans = spans.filter(({ from, to }) => from < to)
    if (filledSpans.length === 0) return { from: 0, to: 0 }
    span = {
      from: Math.max(span.from, Math.min(...filledSpans.map(({ from }) => from))),
      to: Math.min(span.to, Math.max(...filledSpans.map(({ to }) => to))),
    }
  }
  return span
}

const bisectedOperators: ReadonlySet<Operator> = new Set([
  'eq',
  'in',
  'range',
  'gt',
  'gte',
  'lt',
  'lte',
  'isnull',
])

/** Sequence in which bisection finds the rows; null if there is none. */
export function sortedFor(snapshot: Snapshot, { field, operator }: Condition): Sorted | null {
  const { manifest } = snapshot
  const { name } = field
  if (!bisectedOperators.has(operator) || !hasRowStores(snapshot) || !isBisected(field)) return null
  for (const direction of ['asc', 'desc'] as const)
    if (manifest.order[0] === orderTerm({ field: name, direction })) return { field, order: null, direction }
  const order = manifest.orders?.find(({ keys: [key] }) => key?.field === name)
  const direction = order?.keys[0]?.direction
  return order === undefined || direction === undefined ? null : { field, order, direction }
}

/**
 * Finds the rows that satisfy a condition by bisecting the field by which they are sorted; null if a value
 * cannot be compared.
 * @throws DamagedTable
 */
async function spansOf(
  snapshot: Snapshot,
  sortedField: Sorted,
  condition: Condition,
  requester: Requester,
): Promise<Span[] | null> {
  const { field, direction } = sortedField
  const { operator, values } = condition
  const { rows } = snapshot.manifest
  return withValueReader(snapshot, sortedField, async (valueAt) => {
    const isDescending = direction === 'desc'
    const first = (isAfter: (value: string) => boolean): number => {
      let [low, high] = [0, rows]
      while (low < high) {
        const middle = (low + high) >> 1
        const value = valueAt(middle)
        // Nulls are last.
        if (value === null || isAfter(value)) high = middle
        else low = middle + 1
      }
      return low
    }
    const nulls = first(() => false)
    const compare = (value: string, target: string): number =>
      isDescending ? compareValues(field, target, value) : compareValues(field, value, target)
    const lower = (operand: string): number => first((value) => compare(value, operand) >= 0)
    const upper = (operand: string): number => first((value) => compare(value, operand) > 0)
    const [least = '', last = least] = [values[0], values.at(-1)]
    const spanAbove = (from: (value: string) => number, to: (value: string) => number): Span =>
      isDescending ? { from: 0, to: to(least) } : { from: from(least), to: nulls }
    const spanBelow = (from: (value: string) => number, to: (value: string) => number): Span =>
      isDescending ? { from: from(least), to: nulls } : { from: 0, to: to(least) }
    const spansOfValues = async (operands: readonly string[]): Promise<Span[]> => {
      const yielder = new EventLoopYielder(requester.signal)
      const spans: Span[] = []
      for (const value of operands) {
        await yielder.next()
        spans.push({ from: lower(value), to: upper(value) })
      }
      return spans
    }
    switch (operator) {
      case 'eq':
      case 'in':
        return spansOfValues(equalValues(field, values))
      case 'range':
        return [
          isDescending ? { from: lower(last), to: upper(least) } : { from: lower(least), to: upper(last) },
        ]
      case 'gte':
        return [spanAbove(lower, upper)]
      case 'gt':
        return [spanAbove(upper, lower)]
      case 'lte':
        return [spanBelow(lower, upper)]
      case 'lt':
        return [spanBelow(upper, lower)]
      case 'isnull':
        return [values[0] === 'true' ? { from: nulls, to: rows } : { from: 0, to: nulls }]
      default:
        throw new TypeError(`no bisection for ${operator}`)
    }
  })
}

async function positionsIn(
  snapshot: Snapshot,
  { order }: Sorted,
  spans: readonly Span[],
): Promise<Uint32Array> {
  const places = placesIn(spans)
  if (order === null) return places
  const release = await snapshot.pin([order.positions.file])
  try {
    return new OrderedTable(snapshot, order).positions(places).toSorted()
  } finally {
    release()
  }
}

function placesIn(spans: readonly Span[]): Uint32Array {
  const places = new Uint32Array(spans.reduce((sum, { from, to }) => sum + Math.max(0, to - from), 0))
  let [filled, end] = [0, 0]
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    for (let place = Math.max(from, end); place < to; place += 1, filled += 1) places[filled] = place
    end = Math.max(end, to)
  }
  return places.subarray(0, filled)
}

class Incomparable extends Error {}

/**
 * Calls `work` with a function that returns the canonical value at a rank. Null if a value cannot be
 * compared.
 */
async function withValueReader<T>(
  snapshot: Snapshot,
  { field, order }: Sorted,
  work: (valueAt: (rank: number) => string | null) => Promise<T>,
): Promise<T | null> {
  const { row_stores: stores = [] } = snapshot.manifest
  const fields = inAlphabet(snapshot.table.fields)
  const index = fields.findIndex(({ name }) => name === field.name)
  const rowValues = new RowValues(fields)
  const { isText, csvOfJson } = typeRow(field.type)
  const files = [...stores.map(({ file }) => file), ...(order === null ? [] : [order.positions.file])]
  const release = await snapshot.pin(files)
  const table = order === null ? null : new OrderedTable(snapshot, order)
  const storedRows = new StoredRows(snapshot, stores)
  try {
    const readAt = (rank: number): string | null => {
      const position = table === null ? rank : (table.positions(Uint32Array.of(rank))[0] ?? 0)
      const row = storedRows.row(position)
      if (row === null) throw new Incomparable()
      rowValues.find(row.bytes, row.start, index + 1)
      const json = row.bytes.toString('utf8', rowValues.starts[index], rowValues.ends[index])
      const value = JSON.parse(json) as string | number | null
      if (value === null) return null
      if (isText) return String(value)
      const text = readValue(field, typeof value === 'string' ? value : (csvOfJson?.(json, field) ?? json))
      if (text === null) throw new Incomparable()
      return text
    }
    // Bisections for several values start with the same ranks, so their values are cached.
    const valuesAt = new Map<number, string | null>()
    return await work((rank) => {
      const cachedValue = valuesAt.get(rank)
      if (cachedValue !== undefined) return cachedValue
      const value = readAt(rank)
      valuesAt.set(rank, value)
      return value
    })
  } catch (error) {
    if (error instanceof Incomparable) return null
    throw error
  } finally {
    release()
  }
}
