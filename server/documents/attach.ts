import type { Table } from '../../core/catalog/catalog.ts'
import type { FileAddresses } from '../http/addresses.ts'

const plainNamePattern = /^[a-z_][a-z0-9_]*$/

/** Line for a DuckDB client that reads all rows; clauses can follow. */
export function attachLine({ dataset, name: part }: Table, { base }: FileAddresses): string {
  const names = [dataset, part].map((name) => (plainNamePattern.test(name) ? name : `"${name}"`)).join('.')
  return `INSTALL httpfs; LOAD httpfs; ATTACH '${base}/warehouse.duckdb' AS acervo (READ_ONLY); SELECT * FROM acervo.${names}`
}
