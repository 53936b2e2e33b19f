import type { Table } from '../../core/catalog/catalog.ts'

/** Source of the compared table, and the folder of the peers. */
export interface Source {
  /** Folder for data of the peers. */
  readonly folder: string
  /** CSV, gzipped, in a folder of its dataset. */
  readonly file: string
  readonly table: Table
  /** Names and types of its fields, as JSON. */
  readonly fields: string
  readonly rows: number
  /** Programs of the peers' Python. */
  readonly bin: string
}
