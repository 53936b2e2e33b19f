import request from 'supertest'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import {
  evaluate,
  indexOf,
  randomQuery,
  shown,
  type Random,
  type RandomQuery,
  type Row,
} from './evaluator.ts'
import type { Page, Service } from './service.ts'

/** Mulberry32: the same queries for the same seed. */
export function randomFrom(start: number): Random {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A whole row as JSON has it. */
export function rowText(table: Table, row: Row): string {
  return JSON.stringify(sortedKeys(shownRow(table, { fields: null }, row)))
}

function shownRow(table: Table, ask: Pick<RandomQuery, 'fields'>, row: Row): Record<string, unknown> {
  const fields = table.fields.filter(({ name }) => ask.fields?.includes(name) ?? true)
  return Object.fromEntries(
    fields.map((field) => [field.name, shown(field, row[indexOf(table, field.name)] ?? null)]),
  )
}

/** Asks one random thing -> what differs from the second reading; null where nothing does. */
export async function compareOne(
  service: Service,
  table: Table,
  rows: readonly Row[],
  random: Random,
): Promise<string | null> {
  const ask = randomQuery(random, table, rows)
  const expected = evaluate(table, rows, ask)
  const pageSize = [1, 7, 50, 200][Math.floor(random() * 4)] ?? 50
  const lastPage = Math.max(1, Math.ceil(expected.length / pageSize))
  const page = random() < 0.4 ? 1 : 1 + Math.floor(random() * lastPage)
  ask.query.set('page_size', String(pageSize))
  ask.query.set('page', String(page))
  const address = `/api/v1/dataset/${tableId(table)}/data/?${ask.query.toString()}`
  const response = await request(service.app).get(address)
  if (response.status !== 200) return `${address}: ${response.status} ${response.text}`
  const { count, results } = response.body as Page
  if (count !== expected.length) return `${address}: count ${count}, expected ${expected.length}`
  const due = expected.slice((page - 1) * pageSize, page * pageSize).map((row) => shownRow(table, ask, row))
  const [got, want] = [JSON.stringify(results), JSON.stringify(due.map(sortedKeys))]
  return got === want ? null : `${address}:\n${got.slice(0, 300)}\n${want.slice(0, 300)}`
}

function sortedKeys(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
