export interface Digits {
  readonly precision: number
  readonly scale: number
}

export const digitsDefault: Digits = { precision: 18, scale: 2 }

export type MomentType = 'date' | 'datetime' | 'time'

/**
 * Properties of a field type. To add one, write a file with this object and a line in `field-types.ts`. SQL
 * functions take a column or expression of DuckDB.
 */
export interface FieldTypeRow {
  // Part 1: how the type is declared, and how sources write its values.

  /** Texts can be searched, masked, and filtered by a substring. */
  readonly isText: boolean
  readonly parts: 'texts' | 'degrees' | null
  readonly hasDigits: boolean
  /** Kind of declared formats besides ISO 8601; null for none. */
  readonly moment: MomentType | null
  /** Keys of the source dialect that apply to the type; null for none. */
  readonly dialect: 'number' | 'integer' | 'words' | 'list' | 'degrees' | null
  /** RE2 pattern of the complete source text; null for any text. */
  readonly pattern: (digits: Digits) => string | null
  readonly expects: (digits: Digits) => string

  // Part 2: how values are cast and compared with the source.

  /** DuckDB type of the column in Parquet. */
  readonly stored: (digits: Digits) => string
  /** SQL: quick test for texts written as they are rendered. Only other texts need the slower pattern. */
  readonly certain: (text: string, value: string) => string
  /** SQL: tests that a text is equivalent to its rendered value; with `certain`, they replace the pattern. */
  readonly equivalenceTests?: (text: string, rendered: string) => readonly string[]
  /** SQL: tests whether the stored type can represent a text, if rendering does not show it. */
  readonly representable?: (text: string, value: string) => string
  /** SQL: value to store, from the cast expression. */
  readonly value: (cast: string) => string
  /**
   * SQL: source text in the spelling of `rendered`. Uses the text alone, since the result verifies the cast; float
   * and list need the cast for digits and escapes.
   */
  readonly canonical: (text: string, digits: Digits) => string
  readonly rendered: (column: string) => string
  /** True if sorting in fewer bits is cheaper. */
  readonly isNarrowed: boolean

  // Part 3: statistics.

  /**
   * Converts values for histograms into SQL of numbers, and back into texts; null if there is no histogram.
   */
  readonly measure: {
    readonly number: (value: string) => string
    readonly text: (number: number) => string
  } | null

  /** Sums are exact in any order of addition. */
  readonly isSummed: boolean

  // Part 4: queries.

  readonly isOrdered: boolean
  /** Canonical text of an operand; null if it is invalid. */
  readonly parse: (text: string, digits: Digits) => string | null
  /** Describes valid operands at the end of a sentence; default `expects`. */
  readonly expectsInQuery?: string
  /** Compares in DuckDB's order; negative if `a` comes before `b`. */
  readonly compare: (a: string, b: string) => number

  // Part 5: output formats.

  /** SQL: argument of `to_json`; if `wire` is JSON, the JSON text. */
  readonly json: (column: string, digits: Digits) => string
  /** Kind in JSON, and JSON text of the rendered value without quotes. */
  readonly wire: {
    readonly kind: 'text' | 'number' | 'truth' | 'json'
    readonly text: (rendered: string) => string
  }
  readonly csv: (column: string) => string
  /**
   * CSV value from its text in JSON, without quotes and escapes. Null for types with the value `null`, which
   * JSON does not distinguish from a missing value.
   */
  readonly csvOfJson: ((json: string, digits: Digits) => string) | null
  readonly isQuotedInCsv: boolean
  readonly arrow: ArrowMapping

  // Part 6: machine-readable documents.

  readonly schema: JsonSchema
  /** JSON Schema of the common spellings that `parse` accepts. */
  readonly operandSchema: (digits: Digits) => JsonSchema
  readonly called: {
    /** https://datapackage.org/standard/table-schema/#field-types */
    readonly tableSchema: 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'datetime' | 'array' | 'any'
    /** https://www.w3.org/TR/tabular-data-primer/#datatypes */
    readonly csvw:
      | 'string'
      | 'integer'
      | 'long'
      | 'double'
      | 'decimal'
      | 'boolean'
      | 'date'
      | 'dateTime'
      | 'json'
    /** https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html#datatypes */
    readonly croissant: 'sc:Text' | 'sc:Integer' | 'sc:Float' | 'sc:Boolean' | 'sc:Date' | 'sc:DateTime'
    readonly typescript: string
    readonly python: 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict' | 'object'
    /** Numbers are `numeric`, since R's `integer` has only 32 bits. */
    readonly r: 'character' | 'numeric' | 'logical' | 'Date'
  }
}

/** https://json-schema.org/draft/2020-12 */
type JsonSchema = Readonly<Record<string, unknown>>

/** Arrow type, and SQL of values: numbers as Arrow stores them, or texts. */
export interface ArrowMapping {
  readonly type: 'utf8' | 'int64' | 'float64' | 'decimal' | 'bool' | 'date' | 'timestamp'
  readonly values: (column: string) => string
}

export const unchangedSql = (sql: string): string => sql
export const asText = (column: string): string => `${column}::varchar`
export const always = (): string => 'true'
export const asNumber = (value: string): string => `${value}::double`

export const withoutLeadingZeros = (text: string): string =>
  `regexp_replace(${text}, '^(-?)0+([0-9])', '\\1\\2')`
export const withoutMinusZero = (text: string): string => `regexp_replace(${text}, '^-([0.]+)$', '\\1')`

const plainText = { kind: 'text', text: unchangedSql } as const
export const plainJson = { kind: 'json', text: unchangedSql } as const
export const plainNumber = { kind: 'number', text: unchangedSql } as const

/** Compares ASCII texts that sort like their values. */
export const compareAscii = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

export function compareWhole(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}

export function matches(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(text)
}

export const plainType = {
  isText: false,
  parts: null,
  hasDigits: false,
  moment: null,
  dialect: null,
  certain: always,
  value: unchangedSql,
  canonical: unchangedSql,
  rendered: asText,
  isNarrowed: false,
  isSummed: false,
  measure: null,
  isOrdered: true,
  compare: compareAscii,
  json: unchangedSql,
  wire: plainText,
  csv: unchangedSql,
  csvOfJson: unchangedSql,
  isQuotedInCsv: false,
  arrow: { type: 'utf8', values: unchangedSql },
} as const satisfies Partial<FieldTypeRow>
