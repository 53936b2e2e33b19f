import { link } from 'node:fs/promises'
import path from 'node:path'
import { allTables, type Catalog, type Table } from '../core/catalog/catalog.ts'
import { randomRows, repeatedRows, writeSource, type SourceRow } from './rows.ts'

export const rowsOf = {
  large: 10_000_000,
  packed: 10_000_000,
  packed_small: 350_000,
  small: 100_000,
  narrow: 1_000_000,
  wide: 1_000_000,
  people: 10_000_000,
  fresh: 50_000,
} as const
export type BenchTable = keyof typeof rowsOf

export async function writeSources(folder: string, catalog: Catalog, scale: number): Promise<void> {
  for (const table of allTables(catalog)) {
    const rows = Math.round(rowsOf[table.name as BenchTable] * scale)
    const file = path.join(folder, table.dataset, `${table.name}.csv.gz`)
    if (table.name === 'packed') await link(path.join(folder, table.dataset, 'large.csv.gz'), file)
    else await writeSource(file, table, await rowsFor(table, rows))
  }
}

/** Writes a source of the table `fresh` with the version in every row, so that answers show their version. */
export async function writeFresh(folder: string, catalog: Catalog, version: number): Promise<void> {
  const table = allTables(catalog).find(({ name }) => name === 'fresh')
  if (table === undefined) throw new Error('the catalog of the benchmark has no table fresh')
  await writeSource(path.join(folder, table.dataset, 'fresh.csv.gz'), table, freshRows(rowsOf.fresh, version))
}

async function rowsFor(table: Table, rows: number): Promise<Iterable<SourceRow>> {
  if (table.name === 'fresh') return freshRows(rows, 0)
  if (table.name === 'people') return repeatedRows('socios-brasil/socios', rows)
  const isCasoFull = ['large', 'small', 'packed_small'].includes(table.name)
  return isCasoFull ? repeatedRows('covid19/caso_full', rows) : randomRows(table, rows)
}

function* freshRows(rows: number, version: number): Generator<SourceRow> {
  for (let id = 0; id < rows; id += 1) yield { id, version, label: `row ${id} of version ${version}` }
}
