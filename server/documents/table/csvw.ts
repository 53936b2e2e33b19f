import { typeRow } from '../../../core/catalog/field-types.ts'
import { withQuery } from '../../http/addresses.ts'
import { csvFormat } from '../../formats/csv.ts'
import type { TableDocument } from '../document.ts'
import type { TableDescription, Writing } from '../description.ts'

/** CSV on the Web: describes the columns of the complete export. */
export const csvw: TableDocument = {
  file: 'csv-metadata.json',
  name: 'CSVW',
  description: 'The columns of its CSV, as CSV on the Web.',
  contentType: 'application/csvm+json',
  write: (writing, view) => JSON.stringify(csvwOf(writing, view)),
}

function csvwOf({ rows }: Writing, { dataset, table, manifest, nullable }: TableDescription) {
  const [language] = dataset.language
  return {
    '@context': ['http://www.w3.org/ns/csvw', ...(language === undefined ? [] : [{ '@language': language }])],
    url: withQuery(rows.export(dataset, table), new Map([['format', csvFormat.name]]), 1),
    'dc:title': `${dataset.name}: ${table.title ?? table.name}`,
    'dc:description': table.description ?? dataset.description,
    ...(dataset.license !== null && { 'dc:license': { '@id': dataset.license.url } }),
    ...(manifest !== null && {
      'dc:modified': { '@value': manifest.import_date.slice(0, 10), '@type': 'xsd:date' },
    }),
    dialect: { encoding: 'utf-8', header: true, delimiter: ',', quoteChar: '"', doubleQuote: true },
    tableSchema: {
      columns: table.fields.map((field) => ({
        name: variableOf(field.name),
        titles: field.name,
        datatype: datatypeOf(field.type),
        required: !nullable.has(field.name),
        ...(field.title !== null && { 'dc:title': field.title }),
        ...(field.description !== null && { 'dc:description': field.description }),
      })),
    },
  }
}

function datatypeOf(type: TableDescription['table']['fields'][number]['type']): string {
  return typeRow(type).called.csvw
}

/** URI templates allow few characters; CSVW reserves a leading underscore. */
function variableOf(name: string): string {
  const escaped = encodeURIComponent(name).replaceAll(/[!'()*~-]/g, hex)
  return escaped.replace(/^_/, '%5F')
}

function hex(character: string): string {
  return `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}`
}
