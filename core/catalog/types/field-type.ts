/** The numbers a decimal field is declared with; other types ignore them. */
export interface Digits {
  readonly precision: number
  readonly scale: number
}

/** Where a decimal does not say. */
export const digitsDefault: Digits = { precision: 18, scale: 2 }

/** Types that are written by a format of days and times. */
export type MomentType = 'date' | 'datetime' | 'time'

/**
 * Everything that there is to say of a type of field. A new type is a file that says it, and a line of
 * `field-types.ts`. SQL is given the name of a column, or an expression, and is of DuckDB.
 */
export interface FieldTypeRow {
  // How it is declared, and what a source may write.

  /** Of texts: they can be searched, masked, and asked for by a part of them. */
  readonly isText: boolean
  /** What a value is made of, by which it can be asked for; null where it is one. */
  readonly parts: 'texts' | 'degrees' | null
  /** Whether the catalog may say with how many digits. */
  readonly hasDigits: boolean
  /** Whose format of a source it is written in, where it is not in ISO 8601; null where it has no format. */
  readonly moment: MomentType | null
  /** What else a source may say by its dialect: how numbers are written, words for true and false, what separates texts. */
  readonly dialect: 'number' | 'integer' | 'words' | 'list' | 'degrees' | null
  /** RE2 pattern that the whole source text must match; null where any text is a value. */
  readonly pattern: (digits: Digits) => string | null
  /** What a right value looks like, for reports: "expected ...". */
  readonly expects: (digits: Digits) => string

  // How it is cast, and reconciled with the source.

  /** The DuckDB type of the field's column in Parquet. */
  readonly stored: (digits: Digits) => string
  /** SQL: whether a text that is its own rendering matches the pattern; spares most values the pattern. */
  readonly certain: (text: string, value: string) => string
  /** SQL: other signs that a text says the same as a rendering, and matches the pattern; they spare more the pattern. */
  readonly alike?: (text: string, rendered: string) => readonly string[]
  /** SQL: whether the stored type holds what a text says, where its rendering does not tell. */
  readonly held?: (text: string, value: string) => string
  /** SQL: a value as it is stored, from one that was cast to the stored type. */
  readonly value: (cast: string) => string
  /** SQL: the source text rewritten as `rendered` would write its value. Works on text alone, never by a cast
   *  (float excepted: its digits are compared after the cast; and list, whose escapes are resolved). */
  readonly canonical: (text: string, digits: Digits) => string
  /** SQL: a stored value written as text. */
  readonly rendered: (column: string) => string
  /** Whether it may be held in fewer bits while rows are sorted. */
  readonly isNarrowed: boolean

  // What is learnt of its values.

  /** A measure has a histogram: SQL of a value as a number, and a number as `rendered` writes it. */
  readonly measure: {
    readonly number: (value: string) => string
    readonly text: (number: number) => string
  } | null

  /** Whether sums over rows are exact, in whichever order they are added up. */
  readonly isSummed: boolean

  // How it is asked for.

  /** Whether its values are more or less than others, for those who ask. */
  readonly isOrdered: boolean
  /** The text of an address in the one way in which the value is written from there on; null where it is none. */
  readonly parse: (text: string, digits: Digits) => string | null
  /** What `parse` takes, as the end of a sentence; where it is not what a source may write. */
  readonly expectsInQuery?: string
  /** Negative where `a` comes before `b`, as DuckDB orders them; both as `parse` writes them. */
  readonly compare: (a: string, b: string) => number

  // How it is written.

  /** SQL: a stored value as what `to_json` must see; or, where `wire` has JSON, that as a text. */
  readonly json: (column: string, digits: Digits) => string
  /** What JSON has for a value, and of what kind, from the value as `rendered` writes it. */
  readonly wire: {
    readonly kind: 'text' | 'number' | 'truth' | 'json'
    readonly text: (rendered: string) => string
  }
  /** Whether JSON has the digits of a number as CSV has them; of texts, truths and JSON it is so. */
  readonly isPlainInJson: boolean
  /** SQL: a value in the CSV that is published, not quoted yet. */
  readonly csv: (column: string) => string
  /** Whether that may hold what CSV has to quote. */
  readonly isQuotedInCsv: boolean
  readonly arrow: ArrowMapping

  // What documents for machines say of it.

  /** JSON Schema of what a row has for a value. */
  readonly schema: JsonSchema
  /** JSON Schema of a value in an address: of the texts that `parse` takes, those that everybody knows how to write. */
  readonly askedSchema: (digits: Digits) => JsonSchema
  /** What others call the type. */
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
    /** Of what JSON has for it. */
    readonly typescript: string
    readonly python: 'str' | 'int' | 'float' | 'bool' | 'list' | 'dict' | 'object'
    /** Of R's own kinds; of numbers the one that holds the most digits. */
    readonly r: 'character' | 'numeric' | 'logical' | 'Date'
  }

  /** A value as a source may write it, for a sample of a table that nobody described. */
  readonly sample: (random: SampleRandom, digits: Digits) => string
}

/** https://json-schema.org/draft/2020-12 */
type JsonSchema = Readonly<Record<string, unknown>>

/** What samples are made with: the same numbers from the same seed. */
export interface SampleRandom {
  /** From 0 to 1, without 1. */
  readonly next: () => number
  /** Whole, both ends included. */
  readonly between: (min: number, max: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(items: readonly T[]) => T
  /** That many decimal digits, leading zeros included. */
  readonly digits: (count: number) => string
}

/** As what Arrow holds a value, and SQL of the values as numbers that it holds in the same bytes, or as texts. */
export interface ArrowMapping {
  readonly type: 'utf8' | 'int64' | 'float64' | 'decimal' | 'bool' | 'date' | 'timestamp'
  readonly values: (column: string) => string
}

export const same = (sql: string): string => sql
export const asText = (column: string): string => `${column}::varchar`
export const always = (): string => 'true'
export const asNumber = (value: string): string => `${value}::double`

export const withoutLeadingZeros = (text: string): string =>
  `regexp_replace(${text}, '^(-?)0+([0-9])', '\\1\\2')`
export const withoutMinusZero = (text: string): string => `regexp_replace(${text}, '^-([0.]+)$', '\\1')`

const plainText = { kind: 'text', text: same } as const
export const plainJson = { kind: 'json', text: same } as const
export const plainNumber = { kind: 'number', text: same } as const

/** Of texts whose characters are all of ASCII, and come in the order of their values. */
export const compareAscii = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

export function compareWhole(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b)
}

/** Whether a text is what a source may write. */
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
  value: same,
  canonical: same,
  rendered: asText,
  isNarrowed: false,
  isSummed: false,
  measure: null,
  isOrdered: true,
  compare: compareAscii,
  json: same,
  wire: plainText,
  isPlainInJson: true,
  csv: same,
  isQuotedInCsv: false,
  arrow: { type: 'utf8', values: same },
} as const satisfies Partial<FieldTypeRow>
