import { describeField, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../../core/sql.ts'
import { readCsvOptions } from '../../formats/csv.ts'
import type { TableDocument } from '../document.ts'

export const ddl: TableDocument = {
  file: 'schema.sql',
  name: 'SQL',
  description: 'The statement that creates a table for its rows, in DuckDB and PostgreSQL.',
  contentType: 'application/sql; charset=utf-8',
  write: ({ files }, { dataset, table }) => {
    const name = `${quotedName(dataset.slug)}.${quotedName(table.name)}`
    const columns = table.fields.map((field) => `  ${quotedName(field.name)} ${typeOf(field)}`)
    const describedFields = table.fields.filter((field) => describeField(field) !== '')
    return [
      `create schema if not exists ${quotedName(dataset.slug)};`,
      `create table ${name} (\n${columns.join(',\n')}\n);`,
      `comment on table ${name} is ${quotedText(table.description ?? `${dataset.name}: ${table.title ?? table.name}.`)};`,
      ...describedFields.map(
        (field) =>
          `comment on column ${name}.${quotedName(field.name)} is ${quotedText(describeField(field))};`,
      ),
      '-- Its rows, in DuckDB:',
      `-- insert into ${name} from read_csv(${quotedText(files.download(table))}, ${readCsvOptions}, all_varchar = true);`,
      '',
    ].join('\n')
  },
}

/** PostgreSQL requires `DOUBLE PRECISION`, which DuckDB accepts too. */
function typeOf(field: Field): string {
  return typeRow(field.type)
    .stored(field)
    .replace(/^DOUBLE$/, 'DOUBLE PRECISION')
}
