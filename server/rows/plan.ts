import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Parameter } from '../../core/warehouse/duckdb.ts'
import { quotedName } from '../../core/warehouse/sql.ts'
import type { Slice } from './selection.ts'
import type { Snapshot } from './snapshots.ts'

/** SQL and parameters, not yet run: one statement a part, each answering one BLOB of JSON rows. */
export interface Plan {
  readonly sql: string
  readonly parameters: readonly Parameter[]
}

/**
 * The statements that write the rows of a slice as JSON, to be joined by commas. The parts come from the
 * manifest, so a page costs the same at any depth; the aggregate is ordered explicitly, since two threads
 * over two row groups would mix the rows.
 */
export function planPage(snapshot: Snapshot, slice: Pick<Slice, 'first' | 'rows'>): Plan[] {
  const end = slice.first + slice.rows
  const sql = `select encode(string_agg(line, ',' order by position)) from (
    select part.file_row_number as position, to_json(${rowStruct(snapshot.table)})::varchar as line
    from read_parquet($1, file_row_number = true) as part where part.file_row_number between $2 and $3)`
  return snapshot.manifest.parts
    .filter((part) => part.firstRow < end && part.firstRow + part.rows > slice.first)
    .map((part) => {
      const first = Math.max(slice.first, part.firstRow) - part.firstRow
      const last = Math.min(end, part.firstRow + part.rows) - part.firstRow - 1
      return { sql, parameters: [path.join(snapshot.folder, part.file), first, last] }
    })
}

/** Keys in alphabetical order, as in the spec's pages (spec: Row). */
function rowStruct(table: Table): string {
  const fields = table.fields.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const members = fields.map((field) => {
    const name = quotedName(field.name)
    return `${name} := ${typeRow(field.type).json(`part.${name}`, field)}`
  })
  return `struct_pack(${members.join(', ')})`
}
