import type { Frequency, Kind, LimitClass } from '../../../core/catalog/catalog.ts'
import type { FieldType } from '../../../core/catalog/field-types.ts'
import type { Looked } from '../../../core/warehouse/looked.ts'
import type { ProblemCode } from '../../http/problems.ts'
import type { Operator } from '../../query/operators.ts'
import type { ParameterName } from '../../query/query.ts'
import type { Aspect } from '../addresses.ts'

/** All that a page says of itself, in one language: a file of words that lacks one does not compile. */
export interface Words {
  /** As in `lang`, and as numbers, dates and texts are written and ordered. */
  readonly locale: string
  /** The language in its own words. */
  readonly language: string

  // Around every page.
  readonly skip: string
  readonly home: string
  readonly trail: string
  readonly service: string
  readonly lights: string
  readonly copy: string
  readonly copied: string
  readonly about: string
  readonly limits: string

  // Home.
  readonly find: string
  readonly findHint: string
  readonly found: (datasets: number) => string
  readonly nothingFound: string
  readonly backHome: string
  /** Of a refusal that ends by itself. */
  readonly tryAgainIn: (seconds: string) => string
  readonly datasets: string
  readonly lately: string
  readonly tablesCount: (tables: number, published: number) => string

  // A dataset.
  readonly dataset: string
  readonly author: string
  readonly license: string
  readonly source: string
  readonly code: string
  readonly links: string
  readonly tables: string
  readonly table: string
  readonly rows: (count: string) => string
  readonly rowsHead: string
  readonly download: string
  readonly wholeTable: string
  readonly notPublished: string
  readonly cite: string
  readonly citation: (
    author: string | null,
    name: string,
    year: string,
    address: string,
    day: string,
  ) => string

  // What was promised, and what is so.
  readonly truth: string
  readonly promise: (frequency: string) => string
  readonly noPromise: string
  readonly frequencies: Readonly<Record<Frequency, string>>
  readonly changedLast: (day: string) => string
  readonly unchanged: string
  readonly notChanged: string
  readonly importedOn: (day: string) => string
  readonly late: (days: string) => string
  readonly collected: string
  readonly imported: string
  readonly checked: string
  readonly changed: string
  readonly datesMean: string
  readonly looked: Readonly<Record<Looked['outcome'], string>>
  readonly leftOut: string
  readonly reportOf: (table: string) => string
  readonly rejected: (rows: string) => string
  readonly line: string
  readonly drift: string
  readonly warnings: string

  // Files.
  readonly file: string
  readonly files: string
  readonly filesOf: string
  readonly filesLead: string
  readonly size: string
  readonly sums: string
  readonly proveFiles: string
  readonly proveFilesHow: string
  readonly duckdbHow: string
  readonly versions: string
  readonly rowsMore: (rows: string) => string
  readonly sameAsBefore: string

  // A table.
  readonly aspects: Readonly<Record<Aspect | 'table', string>>
  readonly filters: string
  readonly noFilter: string
  readonly from: string
  readonly to: string
  readonly contains: string
  readonly any: string
  readonly moreFilters: (count: number) => string
  readonly reset: string
  readonly remove: (what: string) => string
  readonly search: string
  readonly searchIn: (fields: string) => string
  readonly apply: string
  readonly columns: string
  readonly allColumns: string
  readonly sortBy: (field: string) => string
  readonly sortedUp: (field: string) => string
  readonly sortedDown: (field: string) => string
  readonly allRows: string
  readonly sortable: string
  readonly profilesOfAll: string
  readonly covers: (field: string, from: string, to: string) => string
  readonly showing: (first: string, last: string, count: string) => string
  readonly nothing: string
  /** Before a link to the nearest value. */
  readonly nearestTo: (field: string, missing: string) => string
  readonly first: string
  readonly previous: string
  readonly next: string
  readonly last: string
  readonly page: string
  readonly of: string
  readonly go: string
  readonly row: (number: string) => string
  readonly rowHead: string
  readonly null: string
  readonly emptyText: string
  readonly nulls: (count: string) => string
  readonly noNulls: string
  readonly distinct: (count: string) => string
  readonly distinctExactly: (number: number, count: string) => string
  readonly mostFrequent: string
  readonly distribution: string
  readonly between: (min: string, max: string) => string
  readonly thisView: string
  readonly aboutSize: (bytes: string) => string
  readonly tooMany: (rows: string) => string
  readonly asCode: string
  readonly asCodePage: string
  /** "confirmed is greater than 3", of a condition that holds. */
  readonly conditions: Readonly<Record<Operator, (field: string, value: string) => string>>
  readonly isNull: (field: string) => string
  readonly isNotNull: (field: string) => string

  // Fields.
  readonly fields: string
  readonly field: string
  readonly type: string
  readonly meaning: string
  readonly noMeaning: string
  readonly bounds: string
  readonly canFilter: string
  readonly types: Readonly<Record<FieldType, string>>
  readonly kinds: Readonly<Record<Kind, string>>

  // Charts.
  readonly noChart: string
  readonly drawnBy: string
  readonly drawnWhat: string
  readonly drawn: (what: string, by: string) => string
  readonly sumOf: (field: string) => string
  readonly sumsAdd: string
  readonly totalsBeside: (field: string, total: string) => string
  readonly onlyTotals: (total: string) => string
  readonly withoutTotals: (total: string) => string
  readonly most: string
  readonly fewest: string
  readonly mostOf: string
  readonly notDrawn: (names: string) => string
  readonly othersBelow: (count: string) => string
  readonly asNumbers: string

  // The API.
  readonly reference: string
  readonly referenceLead: string
  readonly addresses: string
  readonly answers: string
  readonly shapes: string
  readonly documents: string
  readonly apiTypes: string
  readonly apiLead: string
  readonly apiRows: string
  readonly apiTable: string
  readonly apiDataset: string
  readonly apiFiles: string
  readonly apiFilters: (fields: string) => string
  readonly apiWalk: string
  readonly examples: string
  readonly parameters: string
  readonly parametersMean: Readonly<Record<ParameterName, string>>
  readonly formats: string
  readonly allInOne: string
  readonly asJson: string
  readonly jsonCut: string

  // SQL in the browser.
  readonly sqlLead: (rows: string) => string
  readonly sqlTooMany: (rows: string, max: string) => string
  readonly sqlNoScript: string
  readonly sqlQuery: string
  readonly sqlRun: string
  readonly sqlCsv: string
  readonly sqlResult: string
  readonly sqlFields: string
  readonly sqlStarting: string
  readonly sqlRunning: string
  readonly sqlTook: string

  // The service.
  readonly aboutTitle: (title: string) => string
  readonly aboutParagraphs: readonly { readonly title: string; readonly text: string }[]
  readonly aboutApi: (formats: string) => string
  readonly limitsOf: Readonly<Record<LimitClass | 'share', string>>
  readonly limitShare: (percent: number, span: string) => string
  readonly limit: (requests: string, span: string) => string
  readonly noLimit: string
  readonly limitPage: string
  readonly limitsPast: string
  readonly limitsPastHow: string
  readonly limitsMore: string
  readonly limitsMoreHow: string
  readonly problems: Readonly<Record<ProblemCode, string>>
  readonly latestVersion: string
  /** Sentence about a parameter that is refused. */
  readonly notUnderstood: (parameter: string) => string
  readonly mustBe: (parameter: string, value: string) => string
  /** Describes a value of each type, with an example. */
  readonly values: Readonly<Record<FieldType, string>>
  /** What to do, where a sentence of the service does not say it better. */
  readonly advice: Readonly<Partial<Record<ProblemCode, string>>>
}
