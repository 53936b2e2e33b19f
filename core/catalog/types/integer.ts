import {
  asNumber,
  compareWhole,
  matches,
  plainNumber,
  plainType,
  unchangedSql,
  withoutLeadingZeros,
  withoutMinusZero,
  type FieldTypeRow,
} from './field-type.ts'

const pattern = '-?[0-9]+'

export const integer: FieldTypeRow = {
  ...plainType,
  dialect: 'integer',
  pattern: () => pattern,
  expects: () => 'a whole number of 64 bits, digits only, such as 1200 or -7',
  stored: () => 'BIGINT',
  canonical: (text) => withoutMinusZero(withoutLeadingZeros(text)),
  isNarrowed: true,
  isSummed: true,
  measure: { number: asNumber, text: String },
  parse: (text) => {
    if (!matches(pattern, text)) return null
    const number = BigInt(text)
    return BigInt.asIntN(64, number) === number ? String(number) : null
  },
  compare: (a, b) => compareWhole(BigInt(a), BigInt(b)),
  wire: plainNumber,
  arrow: { type: 'int64', values: unchangedSql },
  schema: { type: 'integer', format: 'int64' },
  operandSchema: () => ({ type: 'integer', format: 'int64' }),
  called: {
    tableSchema: 'integer',
    csvw: 'long',
    croissant: 'sc:Integer',
    typescript: 'number',
    python: 'int',
    r: 'numeric',
  },
}
