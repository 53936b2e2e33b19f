import type { Parameter } from '../../core/duckdb/connection.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import type { Column, ColumnFormat } from './format.ts'

/** Rows as an Arrow IPC stream. */
export const arrow: ColumnFormat = {
  name: 'arrow',
  mediaTypes: ['application/vnd.apache.arrow.stream'],
  contentType: 'application/vnd.apache.arrow.stream',
  ending: 'arrows',
  savedAs: null,
  aggregates,
  // The library is large, and no start has to wait for it.
  writer: async (columns) => (await import('./arrow-writer.ts')).arrowWriter(columns),
}

/** Of a text whose values are few and known a number is sent for each. */
export function isChoice({ field, choices }: Column): boolean {
  return choices !== null && typeRow(field.type).arrow.type === 'utf8'
}

export function isText(column: Column): boolean {
  return !isChoice(column) && typeRow(column.field.type).arrow.type === 'utf8'
}

/** The lists and BLOBs of which `recordBatch` makes columns. */
function aggregates(columns: readonly Column[], parameter: (value: Parameter) => string): string[] {
  return columns.flatMap((column) => {
    const name = `part.${quotedName(column.field.name)}`
    if (isChoice(column)) return [`list(${choiceSql(name, parameter(column.choices))})`]
    const values = typeRow(column.field.type).arrow.values(name)
    if (!isText(column)) return [`list(${values})`]
    return [`encode(string_agg(coalesce(${values}, ''), ''))`, `list(strlen(${values})::uinteger)`]
  })
}

/** SQL: the place of a value among its choices. One that is none of them must not pass for a null. */
function choiceSql(column: string, choices: string): string {
  return `case when ${column} is not null then coalesce(list_position(${choices}, ${column}), 0)::integer - 1 end`
}
