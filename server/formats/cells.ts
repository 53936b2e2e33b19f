import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import { csvOf } from './csv.ts'
import { copiesAll, copiesNothing, type LineFormat } from './format.ts'
import { quotedJson } from '../../core/text.ts'

/** Rows as JSON lists of texts with all digits, for HTML pages alone. */
export const cellsFormat: LineFormat = {
  name: 'cells',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  savedAs: null,
  line: (fields) => `to_json([${fields.map(cell).join(', ')}])::varchar`,
  stored: {
    isJson: false,
    around: { before: '[', between: ',', after: ']' },
    before: () => '',
    copies: ({ type }) => (isCopied(type) ? copiesAll : copiesNothing),
    value: (json, field) => {
      const { moment, wire } = typeRow(field.type)
      if (moment === 'datetime') return json.replace('T', ' ')
      return wire.kind === 'text' ? json : quotedJson(csvOf(json, field))
    },
    null: 'null',
  },
  separator: ',',
  repeatsNames: false,
  head: () => '[',
  tail: () => ']',
}

function isCopied(type: FieldType): boolean {
  const { moment, wire } = typeRow(type)
  return wire.kind === 'text' && moment !== 'datetime'
}

function cell(field: Field): string {
  return typeRow(field.type).rendered(`part.${quotedName(field.name)}`)
}
