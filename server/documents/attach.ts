import type { Table } from '../../core/catalog/catalog.ts'
import type { FileAddresses } from '../http/addresses.ts'

/** Names that need no quotes in SQL. Other names are quoted, and a JSON document has to escape the quotes. */
const plainNamePattern = /^[a-z_][a-z0-9_]*$/

/** Returns a line with which a DuckDB client reads all rows of a table from this server; clauses can follow. */
export function attachLine({ dataset, name: part }: Table, { base }: FileAddresses): string {
  const names = [dataset, part].map((name) => (plainNamePattern.test(name) ? name : `"${name}"`)).join('.')
  return `INSTALL httpfs; LOAD httpfs; ATTACH '${base}/warehouse.duckdb' AS acervo (READ_ONLY); SELECT * FROM acervo.${names}`
}
