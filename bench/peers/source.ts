import type { Table } from '../../core/catalog/catalog.ts'

/** What the table that is compared is loaded from, and where. */
export interface Source {
  /** For whatever the peers keep. */
  readonly folder: string
  /** CSV, gzipped, in a folder of its dataset. */
  readonly file: string
  readonly table: Table
  /** Names and types of its fields, as JSON. */
  readonly fields: string
  readonly rows: number
  /** Of the Python that the peers run in. */
  readonly bin: string
}
