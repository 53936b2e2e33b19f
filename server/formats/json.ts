import { rowJson } from '../../core/warehouse/format/row-json.ts'
import { quotedJson } from '../../core/text.ts'
import { copiesAll, type LineFormat, type StoredLine } from './format.ts'

export const storedJson: StoredLine = {
  isJson: true,
  around: { before: '{', between: ',', after: '}' },
  before: ({ name }) => `${quotedJson(name)}:`,
  copies: () => copiesAll,
  value: (json) => json,
  null: 'null',
}

export const jsonFormat: LineFormat = {
  name: 'json',
  mediaTypes: ['application/json'],
  contentType: 'application/json',
  ending: 'json',
  savedAs: null,
  line: rowJson,
  stored: storedJson,
  separator: ',',
  repeatsNames: true,
  head: () => '[',
  tail: () => ']',
}
