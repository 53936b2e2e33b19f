import type { Table } from '../../core/catalog/catalog.ts'

export interface Source {
  readonly folder: string
  readonly file: string
  readonly table: Table
  readonly fields: string
  readonly rows: number
  readonly bin: string
}
