import { always, plainText, same, type FieldTypeRow } from './field-type.ts'

const words = ['Água', 'Boa Vista', 'Caçador', 'Ilhéus', 'Jaú', 'Mossoró', 'São Paulo', 'Três Corações']

/** Any text, such as a name or a code. */
export const string: FieldTypeRow = {
  isText: true,
  parts: null,
  hasDigits: false,
  moment: null,
  dialect: null,
  pattern: () => null,
  expects: () => 'any text',
  stored: () => 'VARCHAR',
  certain: always,
  value: same,
  canonical: same,
  rendered: same,
  isNarrowed: false,
  isSummed: false,
  measure: null,
  isOrdered: true,
  parse: same,
  // DuckDB compares bytes.
  compare: (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)),
  json: same,
  wire: plainText,
  isPlainInJson: true,
  csv: same,
  isQuotedInCsv: true,
  arrow: { type: 'utf8', values: same },
  schema: { type: 'string' },
  askedSchema: () => ({ type: 'string', minLength: 1, maxLength: 1000, pattern: '^[^\\u0000]*$' }),
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

/** The same, long: of some lines. */
export const text: FieldTypeRow = {
  ...string,
  sample: (random) => `${random.pick(words)}, "${random.pick(words)}"\n${random.pick(words)}`,
}
