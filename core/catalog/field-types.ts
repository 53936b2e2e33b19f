/** The numbers a decimal field is declared with; other types ignore them. */
export interface Digits {
  readonly precision: number
  readonly scale: number
}

/** Where a decimal does not say. */
export const digitsDefault: Digits = { precision: 18, scale: 2 }

interface FieldTypeRow {
  /** The DuckDB type of the field's column in Parquet. */
  readonly stored: (digits: Digits) => string
  /** RE2 pattern that the whole source text must match; null where any text is a value. */
  readonly pattern: (digits: Digits) => string | null
  /** SQL: whether a text that is its own rendering matches the pattern; spares most values the pattern. */
  readonly certain: (text: string, value: string) => string
  /** SQL: other signs that a text says the same as a rendering, and matches the pattern; they spare more the pattern. */
  readonly alike?: (text: string, rendered: string) => readonly string[]
  /** What a right value looks like, for reports: "expected ...". */
  readonly expects: (digits: Digits) => string
  /** SQL: a value as it is stored, from one that was cast to the stored type. */
  readonly value: (cast: string) => string
  /** SQL: the source text rewritten as `rendered` would write its value. Works on text alone, never by a cast
   *  (float excepted: its digits are compared after the cast). */
  readonly canonical: (text: string, digits: Digits) => string
  /** SQL: a stored value written as text. */
  readonly rendered: (column: string) => string
  /** SQL: a stored value as what `to_json` must see. */
  readonly json: (column: string, digits: Digits) => string
}

const same = (sql: string): string => sql
// A column that holds both zeros would hold one of them after Parquet's dictionary.
const oneZero = (number: string): string => `case when ${number} = 0 then 0.0::double else ${number} end`
const asText = (column: string): string => `${column}::varchar`
const always = (): string => 'true'

const withoutLeadingZeros = (text: string): string => `regexp_replace(${text}, '^(-?)0+([0-9])', '\\1\\2')`
const withoutMinusZero = (text: string): string => `regexp_replace(${text}, '^-([0.]+)$', '\\1')`

const anyText: FieldTypeRow = {
  stored: () => 'VARCHAR',
  pattern: () => null,
  certain: always,
  expects: () => 'any text',
  value: same,
  canonical: same,
  rendered: same,
  json: same,
}

/**
 * Everything that differs between the types of a field, one row a type. Names are the spec's
 * (spec: Type names used in field descriptors).
 */
export const fieldTypes = {
  string: anyText,
  text: anyText,
  integer: {
    stored: () => 'BIGINT',
    pattern: () => '-?[0-9]+',
    certain: always,
    expects: () => 'a whole number of 64 bits, digits only, such as 1200 or -7',
    value: same,
    canonical: (text) => withoutMinusZero(withoutLeadingZeros(text)),
    rendered: asText,
    json: same,
  },
  float: {
    stored: () => 'DOUBLE',
    pattern: () => '-?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?',
    // Infinity and NaN are rendered as themselves.
    certain: (_text, value) => `isfinite(${value})`,
    // What differs in zeros at the end alone: after a point they say nothing, and no exponent is its own tenfold.
    alike: (text, rendered) => [
      `${rendered} = ${text} || '.0'`,
      `rtrim(${rendered}, '0') = rtrim(${text}, '0')`,
    ],
    expects: () => 'a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
    value: oneZero,
    canonical: (text) => `(${oneZero(`try_cast(${text} as DOUBLE)`)})::varchar`,
    rendered: asText,
    // to_json writes a bare NaN or Infinity, which is not JSON.
    json: (column) => `case when isfinite(${column}) then ${column} end`,
  },
  decimal: {
    stored: ({ precision, scale }) => `DECIMAL(${precision},${scale})`,
    pattern: ({ precision, scale }) => {
      const fraction = scale === 0 ? '0+' : `[0-9]{1,${scale}}0*`
      return `-?0*[0-9]{1,${precision - scale}}(\\.${fraction})?`
    },
    certain: always,
    expects: ({ precision, scale }) =>
      `a decimal number with at most ${precision - scale} digits before and ${scale} after the point, such as ` +
      (scale === 0 ? '-12' : `-12.${'5'.padEnd(Math.min(scale, 2), '0')}`),
    value: same,
    canonical: (text, { scale }) => {
      const whole = withoutLeadingZeros(`split_part(${text}, '.', 1)`)
      const fraction = scale === 0 ? '' : ` || '.' || rpad(split_part(${text}, '.', 2), ${scale}, '0')`
      return withoutMinusZero(`(${whole}${fraction})`)
    },
    rendered: asText,
    // to_json would write 12.0 for a decimal without fraction.
    json: (column, { scale }) => (scale === 0 ? `${column}::hugeint` : column),
  },
  bool: {
    stored: () => 'BOOLEAN',
    pattern: () => 'true|false',
    certain: always,
    expects: () => 'true or false',
    value: same,
    canonical: same,
    rendered: asText,
    json: same,
  },
  date: {
    stored: () => 'DATE',
    pattern: () => '[0-9]{4}-[0-9]{2}-[0-9]{2}',
    // Years past 9999 and before Christ are longer, infinity is shorter.
    certain: (text) => `strlen(${text}) = 10`,
    expects: () => 'a date of the calendar as YYYY-MM-DD, such as 2020-06-12',
    value: same,
    canonical: same,
    rendered: asText,
    json: asText,
  },
  datetime: {
    stored: () => 'TIMESTAMP',
    pattern: () => '[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?',
    certain: (text) => `${text}[5] = '-' and ${text}[-1] <> ')'`,
    expects: () => 'a date and time without offset, such as 2020-06-12 18:05:00 or 2020-06-12T18:05:00',
    value: same,
    canonical: (text) => {
      const shortFraction = `regexp_replace(replace(${text}, 'T', ' '), '(\\.[0-9]*?)0+$', '\\1')`
      return `regexp_replace(${shortFraction}, '\\.$', '')`
    },
    rendered: asText,
    json: (column) => `replace(${column}::varchar, ' ', 'T')`,
  },
} as const satisfies Record<string, FieldTypeRow>

export type FieldType = keyof typeof fieldTypes

export const fieldTypeNames = Object.keys(fieldTypes) as readonly FieldType[]

/** The row of a type, seen as the common shape. */
export function typeRow(type: FieldType): FieldTypeRow {
  return fieldTypes[type]
}
