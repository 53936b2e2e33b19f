import { plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'
import { compareBytes } from '../../text.ts'

export const string: FieldTypeRow = {
  ...plainType,
  isText: true,
  pattern: () => null,
  expects: () => 'any text',
  stored: () => 'VARCHAR',
  rendered: unchangedSql,
  parse: unchangedSql,
  compare: compareBytes,
  isQuotedInCsv: true,
  schema: { type: 'string' },
  operandSchema: () => ({ type: 'string', minLength: 1, maxLength: 1000, pattern: '^[^\\u0000]*$' }),
  called: {
    tableSchema: 'string',
    csvw: 'string',
    croissant: 'sc:Text',
    typescript: 'string',
    python: 'str',
    r: 'character',
  },
}

/** A long text of several lines. */
export const text: FieldTypeRow = string
