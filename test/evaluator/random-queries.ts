import request from 'supertest'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { evaluate, randomQuery, shown, type Random, type RandomQuery, type Row } from './rows.ts'
import type { Page, Service } from '../support/service.ts'

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

/** Each row as JSON has it, keys in alphabetical order; of the chosen fields, where some are. */
export function rowTexts(
  table: Table,
  rows: readonly Row[],
  chosen: readonly string[] | null = null,
): string[] {
  const fields = table.fields
    .map((field, at) => ({ field, at }))
    .filter(({ field }) => chosen?.includes(field.name) ?? true)
    .toSorted((a, b) => (a.field.name < b.field.name ? -1 : 1))
  return rows.map((row) =>
    JSON.stringify(
      Object.fromEntries(fields.map(({ field, at }) => [field.name, shown(field, row[at] ?? null)])),
    ),
  )
}

/** Sends a query -> how the answer differs from that of the evaluator; null if it does not. */
export async function compareOne(
  service: Service,
  table: Table,
  rows: readonly Row[],
  random: Random,
  ask: RandomQuery = randomQuery(random, table, rows),
): Promise<string | null> {
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
  const due = rowTexts(table, expected.slice((page - 1) * pageSize, page * pageSize), ask.fields)
  const [got, want] = [JSON.stringify(results), `[${due.join(',')}]`]
  return got === want ? null : `${address}:\n${got.slice(0, 300)}\n${want.slice(0, 300)}`
}
