import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName } from '../../core/sql.ts'
import type { LineFormat } from './format.ts'
import { copiedJson } from './json.ts'
import { quotedJson } from '../../core/text.ts'

/** Each row as a JSON list of texts with all digits, for HTML pages; not available to clients. */
export const cellsFormat: LineFormat = {
  name: 'cells',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  savedAs: null,
  line: (fields) => `to_json([${fields.map(cell).join(', ')}])::varchar`,
  written: {
    key: 'cells',
    valueForm: 'rendered',
    before: () => '',
    value: quotedJson,
    copies: () => copiedJson,
    null: 'null',
    around: { before: '[', between: ',', after: ']' },
  },
  separator: ',',
  repeatsNames: false,
  head: () => '[',
  tail: () => ']',
}

function cell(field: Field): string {
  return typeRow(field.type).rendered(`part.${quotedName(field.name)}`)
}
