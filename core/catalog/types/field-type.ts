/** Declared digits of a decimal field, in total and after the point; other types ignore them. */
export interface Digits {
  readonly precision: number
  readonly scale: number
}

/** Digits of a decimal without a declaration. */
export const digitsDefault: Digits = { precision: 18, scale: 2 }

/** Types whose format in the source may be declared. */
export type MomentType = 'date' | 'datetime' | 'time'

/**
 * Properties of a field type. To add a type, write a file with this object, and add a line to
 * `field-types.ts`. Functions for SQL take a column or an expression, and return SQL of DuckDB.
 */
export interface FieldTypeRow {
  // Part 1: how the type is declared, and how sources write its values.

  /** True for texts, which can be searched, masked, and filtered by a substring. */
  readonly isText: boolean
  /** Parts of a value that conditions can test: texts of a list, or degrees of a point; null for none. */
  readonly parts: 'texts' | 'degrees' | null
  /** True if the catalog may declare the number of digits. */
  readonly hasDigits: boolean
  /** Kind of declared formats that the type accepts in addition to ISO 8601; null for none. */
  readonly moment: MomentType | null
  /**
   * Part of the dialect that applies to the type, such as the spelling of numbers or words for true and
   * false; null for none.
   */
  readonly dialect: 'number' | 'integer' | 'words' | 'list' | 'degrees' | null
  /** RE2 pattern of the complete source text; null if any text is a value. */
  readonly pattern: (digits: Digits) => string | null
  readonly expects: (digits: Digits) => string

  // Part 2: how values are cast and compared with the source.

  /** DuckDB type of the column in Parquet. */
  readonly stored: (digits: Digits) => string
  /**
   * SQL: a quick test for texts that are written as their rendered value. A text that passes is valid, so that
   * only the other texts need the slower pattern match.
   */
  readonly certain: (text: string, value: string) => string
  /**
   * SQL: further signs that a text is equivalent to its rendered value. With `certain`, they also replace the
   * pattern match.
   */
  readonly equivalenceTests?: (text: string, rendered: string) => readonly string[]
  /**
   * SQL: tests whether the stored type can represent a text, for types where a comparison with the rendered
   * value cannot show it.
   */
  readonly representable?: (text: string, value: string) => string
  /** SQL: value to store, from an expression that is already cast to the stored type. */
  readonly value: (cast: string) => string
  /**
   * SQL: source text in the spelling of `rendered`. Works on the text alone, since it verifies the cast.
   * Exceptions are float, whose digits are compared after the cast, and list, whose escapes are resolved.
   */
  readonly canonical: (text: string, digits: Digits) => string
  /** SQL: text of a stored value. */
  readonly rendered: (column: string) => string
  /** True if values may be stored in fewer bits while rows are sorted, which makes the sort cheaper. */
  readonly isNarrowed: boolean

  // Part 3: statistics.

  /**
   * Conversions for histograms: SQL of a value as a number, and back into the form of `rendered`; null for no
   * histogram.
   */
  readonly measure: {
    readonly number: (value: string) => string
    readonly text: (number: number) => string
  } | null

  /** True if sums are exact in any order of addition. */
  readonly isSummed: boolean

  // Part 4: queries.

  /** True if queries can compare values by order, as in less than. */
  readonly isOrdered: boolean
  /** Parses an operand into its canonical text; null if it is invalid. */
  readonly parse: (text: string, digits: Digits) => string | null
  /** Describes valid operands, as the end of a sentence; if omitted, `expects` does. */
  readonly expectsInQuery?: string
  /** Compares canonical texts as DuckDB orders the values; negative if `a` comes before `b`. */
  readonly compare: (a: string, b: string) => number

  // Part 5: output formats.

  /** SQL: argument of `to_json`; or, if `wire` is JSON, the JSON as text. */
  readonly json: (column: string, digits: Digits) => string
  /** Kind of a value in JSON, and its JSON text from the rendered value; texts are without quotes. */
  readonly wire: {
    readonly kind: 'text' | 'number' | 'truth' | 'json'
    readonly text: (rendered: string) => string
  }
  /** SQL: value in the published CSV, before quoting. */
  readonly csv: (column: string) => string
  /**
   * The same value from its text in JSON, without the quotes and escapes of a text. Null for types that have the
   * value `null`, which JSON does not tell from a missing one.
   */
  readonly csvOfJson: ((json: string, digits: Digits) => string) | null
  /** True if the value in CSV may contain characters that require quotes. */
  readonly isQuotedInCsv: boolean
  readonly arrow: ArrowMapping

  // Part 6: machine-readable documents.

  /** JSON Schema of a value in a row. */
  readonly schema: JsonSchema
  /** JSON Schema of an operand: the common spellings that `parse` accepts. */
  readonly operandSchema: (digits: Digits) => JsonSchema
  /** Names of the type in other systems. */
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
    /** Type in R. Numbers are `numeric`, since `integer` has only 32 bits. */
    readonly r: 'character' | 'numeric' | 'logical' | 'Date'
  }
}

/** https://json-schema.org/draft/2020-12 */
type JsonSchema = Readonly<Record<string, unknown>>

/** Arrow type, and SQL that converts values into numbers with the bytes of this type, or into texts. */
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

/** Returns whether a whole text matches the pattern of a field type. */
export function matches(pattern: string, text: string): boolean {
  return new RegExp(`^(?:${pattern})$`).test(text)
}

/** Defaults of a field type, which each type overrides where it differs. */
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
