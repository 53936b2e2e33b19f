import type { Parameter } from '../../core/duckdb/connection.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import { isChoice, isTextColumn } from './arrow-columns.ts'
import type { OutputColumn, ColumnFormat } from './format.ts'

export const arrowFormat: ColumnFormat = {
  name: 'arrow',
  mediaTypes: ['application/vnd.apache.arrow.stream'],
  contentType: 'application/vnd.apache.arrow.stream',
  ending: 'arrows',
  savedAs: null,
  aggregates,
  // Import on demand: the library is large and would slow down each start.
  writer: async (columns) => (await import('./arrow-writer.ts')).arrowWriter(columns),
}

function aggregates(columns: readonly OutputColumn[], parameter: (value: Parameter) => string): string[] {
  return columns.flatMap((column) => {
    const name = `part.${quotedName(column.field.name)}`
    if (isChoice(column)) return [`list(${choiceSql(name, parameter(column.choices))})`]
    const values = typeRow(column.field.type).arrow.values(name)
    if (!isTextColumn(column)) return [`list(${values})`]
    return [`encode(string_agg(coalesce(${values}, ''), ''))`, `list(strlen(${values})::uinteger)`]
  })
}

/** SQL: index among the choices. Unknown values become -1, not null, so that the writer can refuse them. */
function choiceSql(column: string, choices: string): string {
  return `case when ${column} is not null then coalesce(list_position(${choices}, ${column}), 0)::integer - 1 end`
}
