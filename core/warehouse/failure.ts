import type { Table } from '../catalog/catalog.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

/** Writes why a table was not published, beside its snapshots -> where it is, for people. */
export async function writeFailure(store: Store, table: TableName, report: object): Promise<string> {
  const key = layout.failure(table)
  await store.put(key, `${JSON.stringify(report, null, 2)}\n`)
  return `${store.address}/${key}`
}

/** A table that is well again has no failure. */
export async function clearFailure(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.failure(table))
}
