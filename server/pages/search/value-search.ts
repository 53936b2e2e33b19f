import { allTables, type CatalogTexts, type Field, type Table } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { EventLoopYielder } from '../../base/queue.ts'
import { distinctValues, type Dictionaries } from '../../table/indexes/dictionaries.ts'
import type { Requester } from '../../table/engine/requester.ts'
import { foldText } from '../../../core/folding.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Snapshots } from '../../snapshots/snapshots.ts'

/** A value that a search names. */
export interface ValueMatch {
  readonly table: Table
  readonly field: Field
  readonly value: string
  /** Number of its rows; null if unknown. */
  readonly rows: number | null
}

/** Maximum number of values that a search reads, of all tables; fields with few values come first. */
const valuesMax = 1_000_000

/**
 * Returns the values of filter fields that equal one of the phrases, ignoring case and accents. Reads the
 * dictionaries of the snapshots, which the server caches within a bound, or else the values of their reports.
 * @param phrases folded
 */
export async function findValues(
  catalog: CatalogTexts,
  snapshots: Snapshots,
  dictionaries: Dictionaries,
  phrases: readonly string[],
  requester: Requester,
): Promise<ValueMatch[]> {
  const wanted = new Set(phrases)
  const matches: ValueMatch[] = []
  const columns: { table: Table; field: Field; snapshot: Snapshot; count: number }[] = []
  for (const table of allTables(catalog)) {
    const snapshot = snapshots.current(table)
    if (snapshot === null) continue
    for (const field of table.fields) {
      if (!typeRow(field.type).isText || !table.filters.includes(field.name)) continue
      const count = distinctValues(snapshot, field.name)
      if (count > 0) columns.push({ table, field, snapshot, count })
      else
        matches.push(
          ...reportedValues(table, field, snapshot).filter(({ value }) => wanted.has(foldText(value))),
        )
    }
  }
  const yielder = new EventLoopYielder(requester.signal)
  let read = 0
  for (const { table, field, snapshot, count } of columns.toSorted((a, b) => a.count - b.count)) {
    read += count
    if (read > valuesMax) break
    const dictionary = await dictionaries.values(snapshot, field, requester)
    await yielder.next()
    for (const [code, folded] of (dictionary?.folded ?? []).entries()) {
      if (!wanted.has(folded)) continue
      const rows = dictionary?.rows[code] ?? 0
      if (rows >= table.minGroupSize)
        matches.push({ table, field, value: dictionary?.values[code] ?? '', rows })
    }
  }
  return matches
}

/** Returns the values of a field that the report of a snapshot has, without those of too small groups. */
function reportedValues(table: Table, field: Field, { choices, report }: Snapshot): ValueMatch[] {
  const top = report?.fields.find(({ name }) => name === field.name)?.top ?? []
  const counts = new Map(top.map(({ value, rows }) => [value, rows]))
  const values = new Set([...counts.keys(), ...(choices.get(field.name) ?? [])])
  return [...values].map((value) => ({ table, field, value, rows: counts.get(value) ?? null }))
}
