import type { Table } from '../../core/catalog/catalog.ts'

/** Source of the compared table, and the folder of the peers. */
export interface Source {
  readonly folder: string
  /** CSV, gzipped, in a folder of its dataset. */
  readonly file: string
  readonly table: Table
  readonly fields: string
  readonly rows: number
  readonly bin: string
}
