import { asNumber, matches, plainNumber, plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'

const pattern = '-?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?'

/** Maximum number of significant digits: a double has no more. */
const significantMax = 17

// Stores -0 as 0, since the dictionary of a Parquet column would keep only one of the two.
const oneZero = (number: string): string => `case when ${number} = 0 then 0.0::double else ${number} end`

/** Doubles, except for NaN and Infinity. */
export const float: FieldTypeRow = {
  ...plainType,
  dialect: 'number',
  pattern: () => pattern,
  expects: () => 'a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
  stored: () => 'DOUBLE',
  // The texts `inf` and `nan` equal their rendered values, but are not valid.
  certain: (_text, value) => `isfinite(${value})`,
  // Texts that differ from the rendered value only in zeros at the end. After a point, these do not change
  // the number. In an exponent they would, but then the rendered value has another exponent.
  equivalenceTests: (text, rendered) => [
    `${rendered} = ${text} || '.0'`,
    `rtrim(${rendered}, '0') = rtrim(${text}, '0')`,
  ],
  // Refuses texts with more digits than a double has, and numbers that are so small that they become 0.
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
  isPlainInJson: false,
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
  sample: (random) => (random.next() * 100).toFixed(4),
}
