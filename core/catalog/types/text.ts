import { plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'
import { compareBytes } from '../../text.ts'

const words = ['Água', 'Boa Vista', 'Caçador', 'Ilhéus', 'Jaú', 'Mossoró', 'São Paulo', 'Três Corações']

/** Any text, such as a name or a code. */
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
  sample: (random) => `${random.pick(words)} ${random.between(1, 99)}`,
}

/** A long text of several lines. */
export const text: FieldTypeRow = {
  ...string,
  sample: (random) => `${random.pick(words)}, "${random.pick(words)}"\n${random.pick(words)}`,
}
