import {
  asNumber,
  compareWhole,
  matches,
  plainNumber,
  plainType,
  withoutLeadingZeros,
  withoutMinusZero,
  type Digits,
  type FieldTypeRow,
} from './field-type.ts'

/** Accepts `.5` and `5.` for 0.5 and 5. */
function pattern({ precision, scale }: Digits): string {
  const fraction = scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
  return `-?(0*[0-9]{1,${precision - scale}}(\\.(${fraction})?)?|\\.${fraction})`
}

export const decimal: FieldTypeRow = {
  ...plainType,
  hasDigits: true,
  dialect: 'number',
  pattern,
  expects: ({ precision, scale }) =>
    `a decimal number with at most ${precision - scale} digits before and ${scale} after the point, such as ` +
    (scale === 0 ? '-12' : `-12.${'5'.padEnd(Math.min(scale, 2), '0')}`),
  stored: ({ precision, scale }) => `DECIMAL(${precision},${scale})`,
  canonical: (text, { scale }) => {
    const integerPart = withoutLeadingZeros(`regexp_replace(split_part(${text}, '.', 1), '^(-?)$', '\\10')`)
    const fraction = scale === 0 ? '' : ` || '.' || rpad(split_part(${text}, '.', 2), ${scale}, '0')`
    return withoutMinusZero(`(${integerPart}${fraction})`)
  },
  isSummed: true,
  measure: { number: asNumber, text: String },
  parse: (text, digits) => {
    if (!matches(pattern(digits), text)) return null
    const [, minus = '', integerPart = '', fraction = ''] = /^(-?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
    const { scale } = digits
    const number = `${integerPart.replace(/^0+/, '') || '0'}${scale === 0 ? '' : `.${fraction.padEnd(scale, '0').slice(0, scale)}`}`
    return /[1-9]/.test(number) ? `${minus}${number}` : number
  },
  // Canonical texts of a field have the same number of decimal places, so their digits compare like the
  // numbers.
  compare: (a, b) => compareWhole(BigInt(a.replace('.', '')), BigInt(b.replace('.', ''))),
  // to_json would write 12.0 for a decimal without fraction.
  json: (column, { scale }) => (scale === 0 ? `${column}::hugeint` : column),
  wire: plainNumber,
  // JSON omits final zeros of decimals, and may write an exponent.
  csvOfJson: (json, { scale }) => {
    if (json.includes('e')) return Number(json).toFixed(scale)
    const [integer = '', fraction = ''] = json.split('.')
    return scale === 0 ? json : `${integer}.${fraction.padEnd(scale, '0')}`
  },
  // Removes the point from the text, since a cast to an integer would round.
  arrow: { type: 'decimal', values: (column) => `replace(${column}::varchar, '.', '')::hugeint` },
  schema: { type: 'number' },
  // A text, since a double would lose digits.
  operandSchema: (digits) => ({ type: 'string', pattern: `^${pattern(digits)}$`, maxLength: 100 }),
  called: {
    tableSchema: 'number',
    csvw: 'decimal',
    croissant: 'sc:Float',
    typescript: 'number',
    python: 'float',
    r: 'numeric',
  },
}
