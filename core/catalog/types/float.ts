import { asNumber, matches, plainNumber, plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'

const pattern = '-?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?'

const significantMax = 17

// Stores -0 as 0, since the dictionary of a Parquet column would keep only one of the two.
const oneZero = (number: string): string => `case when ${number} = 0 then 0.0::double else ${number} end`

/** Exponents from which, and below which, DuckDB writes a double with an exponent. */
const [exponentMax, exponentMin] = [16, -4]

/** Matches numbers that JSON and DuckDB write in the same way. */
const plainDouble = /^-?(?:[1-9]\d{0,14}\.\d+|0\.(?:0|0{0,3}[1-9]\d*))$/

/** Formats a JSON number as DuckDB does: the fewest digits that identify a double, as in `5.0` or `1e-07`. */
function doubleText(json: string): string {
  if (plainDouble.test(json)) return json
  const number = Number(json)
  if (number === 0) return '0.0'
  const [mantissa = '', power = ''] = Math.abs(number).toExponential().split('e')
  const [digits, exponent, sign] = [mantissa.replace('.', ''), Number(power), number < 0 ? '-' : '']
  if (exponent < exponentMin || exponent >= exponentMax)
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  if (exponent < 0) return `${sign}0.${digits.padStart(digits.length - exponent - 1, '0')}`
  const integerPart = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${integerPart}.${digits.slice(exponent + 1) || '0'}`
}

/** Doubles, except for NaN and Infinity. */
export const float: FieldTypeRow = {
  ...plainType,
  dialect: 'number',
  pattern: () => pattern,
  expects: () => 'a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
  stored: () => 'DOUBLE',
  // The texts `inf` and `nan` equal their rendered values, but are not valid.
  certain: (_text, value) => `isfinite(${value})`,
  // Accepts texts that differ from the rendered value only in final zeros. Zeros after a point do not change
  // the number.
  equivalenceTests: (text, rendered) => [
    `${rendered} = ${text} || '.0'`,
    `rtrim(${rendered}, '0') = rtrim(${text}, '0')`,
  ],
  // Refuses excess digits, and numbers so small that they become 0.
  representable: (text, value) => {
    const digits = `regexp_replace(regexp_extract(${text}, '^-?([0-9.]*)', 1), '[.]|^[0.]+|[0.]+$', '', 'g')`
    return `isfinite(${value}) and length(${digits}) <= ${significantMax} and (${value} <> 0 or ${digits} = '')`
  },
  value: oneZero,
  canonical: (text) => `(${oneZero(`try_cast(${text} as DOUBLE)`)})::varchar`,
  measure: { number: asNumber, text: String },
  parse: (text) => {
    if (!matches(pattern, text)) return null
    const number = Number(text)
    return Number.isFinite(number) ? String(number === 0 ? 0 : number) : null
  },
  compare: (a, b) => Number(a) - Number(b),
  // to_json writes a bare NaN or Infinity, which is not JSON.
  json: (column) => `case when isfinite(${column}) then ${column} end`,
  wire: plainNumber,
  csvOfJson: doubleText,
  arrow: { type: 'float64', values: unchangedSql },
  schema: { type: 'number', format: 'double' },
  operandSchema: () => ({ type: 'number', format: 'double' }),
  called: {
    tableSchema: 'number',
    csvw: 'double',
    croissant: 'sc:Float',
    typescript: 'number',
    python: 'float',
    r: 'numeric',
  },
}
