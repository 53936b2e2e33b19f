import type { FieldType } from '../../../core/catalog/field-types.ts'
import type { Operator } from '../../query/operators.ts'

/** All that a page says of itself, in one language: a file of words that lacks one does not compile. */
export interface Words {
  /** As in `lang`, and as numbers, dates and texts are written and ordered. */
  readonly locale: string
  /** The language in its own words. */
  readonly language: string
  readonly skip: string
  readonly home: string
  readonly footer: string
  readonly code: string

  readonly find: string
  readonly findHint: string
  readonly found: (datasets: number) => string
  readonly nothingFound: string
  readonly datasets: string
  readonly lately: string

  readonly dataset: string
  readonly author: string
  readonly license: string
  readonly source: string
  readonly links: string
  readonly tables: string
  readonly table: string
  readonly rows: (count: string) => string
  readonly rowsHead: string
  readonly size: string
  readonly file: string
  readonly files: string
  readonly sums: string
  readonly download: string
  readonly wholeTable: string
  readonly notPublished: string
  readonly collected: string
  readonly imported: string
  readonly cite: string
  readonly citation: (author: string, name: string, year: string, address: string, day: string) => string
  readonly notice: string

  readonly filters: string
  readonly filter: string
  readonly noFilter: string
  readonly from: string
  readonly to: string
  readonly contains: string
  readonly any: string
  readonly reset: string
  readonly remove: (what: string) => string
  readonly search: string
  readonly searchIn: (fields: string) => string
  readonly apply: string
  readonly columns: string
  readonly sortedUp: string
  readonly sortedDown: string
  readonly sortBy: (field: string) => string
  readonly orderedBy: string
  readonly allRows: string
  readonly showing: (first: string, last: string, count: string) => string
  readonly nothing: string
  readonly first: string
  readonly previous: string
  readonly next: string
  readonly last: string
  readonly page: string
  readonly of: string
  readonly go: string
  readonly row: (number: string) => string
  readonly openRow: string
  readonly null: string
  readonly nulls: (count: string) => string
  readonly distinct: (count: string) => string
  readonly mostFrequent: string
  readonly distribution: string
  readonly between: (min: string, max: string) => string
  readonly thisView: string
  readonly asFile: (format: string, rows: string) => string
  readonly tooMany: (rows: string) => string

  readonly fields: string
  readonly field: string
  readonly type: string
  readonly meaning: string
  readonly bounds: string
  readonly types: Readonly<Record<FieldType, string>>
  /** "confirmed is greater than 3", of a condition that holds. */
  readonly conditions: Readonly<Record<Operator, (field: string, value: string) => string>>
  readonly isNull: (field: string) => string
  readonly isNotNull: (field: string) => string

  readonly wrong: string
  readonly backHome: string
}
