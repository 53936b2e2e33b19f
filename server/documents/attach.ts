import type { Table } from '../../core/catalog/catalog.ts'
import type { FileAddresses } from '../http/addresses.ts'

/** The lines by which a DuckDB client reads all of a table where it lies; more may follow. */
export function attachLines({ dataset, name }: Table, { base }: FileAddresses): string {
  const names = [dataset, name].map((one) => `"${one}"`).join('.')
  return `INSTALL httpfs;\nLOAD httpfs;\nATTACH '${base}/warehouse.duckdb' AS acervo (READ_ONLY);\nSELECT * FROM acervo.${names}`
}
