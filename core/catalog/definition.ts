import { z } from 'zod'
import { isBelow } from './catalog-files.ts'
import {
  dueFrequencies,
  encodingNames,
  engineNames,
  frequencyNames,
  kindNames,
  maskNames,
  minusForms,
} from './names.ts'
import { coloursDefault, contrastIn, contrastMin, type Light } from './colours.ts'
import { fieldExpectations, tableExpectations } from './expectations.ts'
import { fieldTypeNames, type FieldType } from './field-types.ts'
import { digitsDefault } from './types/field-type.ts'
import {
  address,
  contact,
  datasetMetadata,
  day,
  originator,
  party,
  publisher,
  plainText,
  texts,
} from './metadata.ts'

/**
 * The schema of catalog.yaml. The loader checks the catalog with it, and editors use it as JSON Schema. Rules
 * that a schema cannot express (names that must exist or be unique) are in check.ts.
 */

const pathName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,99}$/,
    'must be lower-case letters, digits, - and _, starting with a letter or digit',
  )

/** Returns whether a name is valid for a dataset or table. */
export function isPathName(name: string): boolean {
  return pathName.safeParse(name).success
}

const timezone = z
  .string()
  .refine(isTimezone, 'must be a time zone by its IANA name, such as America/Sao_Paulo or UTC')
const count = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`
  return z.int(message).min(min, message).max(max, message)
}

const colour = (light: Light) =>
  z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as "#0a6b57", in quotes, in lower case')
    .refine(
      (value) => !/^#[0-9a-f]{6}$/.test(value) || contrastIn(light, value) >= contrastMin,
      `has too little contrast on a ${light} page: take a ${light === 'light' ? 'darker' : 'lighter'} one`,
    )

const span = z
  .string()
  .regex(/^[1-9]\d{0,4}[smhd]$/, 'must be a span of time such as 30s, 1m, 1h or 1d')
  .describe('Time window.')

const includedPath = plainText.refine(
  isBelow,
  'must be a path below the folder of the catalog, such as datasets/*.yaml',
)

const limit = z.strictObject({
  requests: count(1, 1_000_000_000).describe('Most requests of one client in the window.'),
  per: span,
})

/** Returns whether each limit has a window of its own, since limits are identified by their windows. */
const haveOwnWindows = (all: readonly { per: string }[]): boolean =>
  new Set(all.map(({ per }) => per)).size === all.length
const ownWindows = 'must have a different window for each limit'

const limits = z.array(limit).refine(haveOwnWindows, ownWindows)

const family = z.strictObject({
  prefix: z
    .string()
    .regex(/^(\/[a-z0-9_-]+)+$/, 'must be a path such as /api/v1, without a final slash')
    .describe('Path of the whole catalog.'),
  scheme: z
    .enum(['http', 'https', 'public'])
    .describe(
      'Scheme of absolute addresses unless PUBLIC_URL is a loopback address; public means that of PUBLIC_URL.',
    ),
  trailing_slash: z.boolean().describe('True if its addresses end in a slash.'),
})

const override = z.strictObject({
  detail_slash: z
    .boolean()
    .optional()
    .describe(`Final slash of the dataset's address, if it differs from the family.`),
  data_slash: z
    .boolean()
    .optional()
    .describe('Final slash of the addresses of rows, if it differs from the family.'),
  timezone: timezone.optional().describe('Zone of import_date in this family.'),
})

const names = z.array(plainText)

const format = z.union([plainText, names.min(1, 'must list at least one format')])

/** Spelling of values: declared by a table for all its fields, or by a field. */
const reading = {
  trim: z.boolean().optional().describe('Removes white space around values. Default false.'),
  nulls: z
    .array(z.string())
    .optional()
    .describe('Texts that mean null, compared as a whole. Default is the empty text.'),
  decimal: z.enum(['.', ',']).optional().describe('Decimal separator of numbers. Default is the point.'),
  groups: z
    .enum([',', '.', ' ', "'", 'none'])
    .optional()
    .describe(
      'Separator of groups of three digits, such as "." in 1.234.567; " " is any space. Default is none.',
    ),
  marks: z
    .array(
      z
        .string()
        .regex(
          /^(?:\(\)|[^\s\d.,'()\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+)$/u,
          'must be a symbol such as "R$", "%", "+" or "()", without spaces, digits, ".", ",", apostrophes or minus signs',
        ),
    )
    .optional()
    .describe(
      'Texts before or after a number that are ignored, such as ["R$", "%"], with or without a space. "()" around a number makes it negative. Default is none.',
    ),
  minus: z
    .array(z.enum(minusForms))
    .optional()
    .describe(
      'Spellings of negative numbers besides -5: "−5" and "–5" with another sign, "5-" with a trailing minus. Default is none.',
    ),
  booleans: z
    .strictObject({ true: names.min(1, 'must list a word'), false: names.min(1, 'must list a word') })
    .optional()
    .describe('Words of bool fields. Default is true, True, TRUE and false, False, FALSE.'),
  timezone: timezone
    .optional()
    .describe('Zone to which times with an offset (z in their format) are converted. Default is UTC.'),
  two_digit_years_from: z
    .int()
    .min(1800)
    .max(2100)
    .optional()
    .describe(
      'First year for years of two digits (yy in a format); the last is 99 years later. Default is 1969.',
    ),
}

const powersOfTen = [-9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const field = z.strictObject({
  name: plainText,
  type: z.enum(fieldTypeNames as [FieldType, ...FieldType[]]),
  title: texts.optional().describe('Title of the field for people.'),
  description: texts.optional().describe('Meaning of the field.'),
  unit: texts.optional().describe('Unit of its numbers, such as R$, km or people.'),
  kind: z
    .enum(kindNames)
    .optional()
    .describe('Kind of its texts: date for YYYY-MM-DD, uf for codes of Brazilian states; charts use it.'),
  precision: count(1, 38)
    .default(digitsDefault.precision)
    .describe('Decimal only: number of digits. Default is 18.'),
  scale: count(0, 37)
    .default(digitsDefault.scale)
    .describe('Decimal only: number of decimal places. Default is 2.'),
  ...reading,
  factor: z
    .number()
    .refine(
      (factor) => powersOfTen.some((power) => factor === Number(`1e${power}`)),
      'must be a power of ten, such as 0.01 for cents',
    )
    .optional()
    .describe('Numbers only: factor for the numbers of the source, such as 0.01 for cents.'),
  separator: z
    .string()
    .regex(
      /^[^\s"[\]]{1,3}$/,
      'must be up to three characters such as ";" or "|", without spaces, " or brackets',
    )
    .optional()
    .describe('List only: separator of its texts, such as ";". By default the source has JSON.'),
  format: format
    .optional()
    .describe(
      `Date, datetime and time only: format in the source, such as dd/mm/yyyy, if it differs from the table's. With several formats, each value must match exactly one.`,
    ),
  mask: z
    .enum(maskNames)
    .optional()
    .describe('Hides a part of personal identifiers before anything is written; cpf gives ***456789**.'),
  expect: fieldExpectations
    .optional()
    .describe('Rules for its values; nothing is published while a value breaks one.'),
})

const constants = z.record(z.string(), z.string())

const someFiles = z.strictObject({
  path: plainText.describe('A path under SOURCES or an address.'),
  constants: constants.describe(
    'Values of all rows of these files by field, as the source would write them.',
  ),
})

const source = z.strictObject({
  files: z
    .union([plainText, z.array(z.union([plainText, someFiles])).min(1, 'must list at least one file')])
    .optional()
    .describe(
      'Paths under SOURCES, with * for any part of a name, or http(s) addresses; files follow each other. Default is <dataset>/<table>.csv, .csv.gz, .csv.zst or .csv.zip.',
    ),
  from_name: plainText
    .optional()
    .describe(
      `Pattern of fields at the end of each file's path, such as "yob{year}.csv" or "{state}/*_{year}.csv"; * is any part of a name.`,
    ),
  union_by_name: z
    .boolean()
    .default(false)
    .describe(
      'Allows files with other column orders and missing columns, whose fields are null. Default is false.',
    ),
  member: plainText
    .optional()
    .describe('Files of a zip to read, with * for any part of a name. Default is the only file.'),
  checksums: plainText
    .optional()
    .describe(
      'A file of SHA-256 or SHA-512 sums beside the source, such as SHA512SUMS, which must contain the source.',
    ),
  encoding: z.enum(encodingNames).default('utf-8').describe('Default is utf-8.'),
  delimiter: z
    .string()
    .regex(/^[\t !#-/:-@[\]-`{-~]$/, 'must be one ASCII character such as ",", ";" or a tab')
    .default(',')
    .describe('Separator of values in a row. Default is the comma.'),
  quote: z
    .enum(['"', "'", 'none'])
    .default('"')
    .describe('Quote around values, doubled inside of them. Default is ".'),
  ...reading,
  date: format.optional().describe('Format of dates, such as dd/mm/yyyy. Default is yyyy-mm-dd.'),
  datetime: format
    .optional()
    .describe(
      'Format of times with a date, such as dd/mm/yyyy hh:mm:ss. Default is yyyy-mm-dd hh:mm:ss, or with a T.',
    ),
  time: format.optional().describe('Format of times of day, such as hh:mm. Default is hh:mm:ss.'),
  line_terminator: z
    .enum(['lf', 'cr'])
    .default('lf')
    .describe('Line ends: lf, with or without a carriage return before it, or cr alone. Default is lf.'),
  skip_lines: count(0, 1000).default(0).describe('Number of lines before the header. Default is 0.'),
  header_lines: count(1, 10)
    .default(1)
    .describe(
      'Number of lines of the header; the cells of a column are joined, and an empty cell above one that is not continues the cell on its left. Default is 1.',
    ),
  skip_last: count(0, 1000)
    .default(0)
    .describe(
      'Number of lines at the end that are no rows, such as totals; blank lines are not counted. Default is 0.',
    ),
  stop_at: plainText
    .optional()
    .describe('Start of the first line after the rows; it and all further lines are left out.'),
  comment: plainText.optional().describe('Start of lines that are no rows, such as "#". Default is none.'),
  drop: z
    .record(z.string(), z.union([plainText, z.array(plainText).min(1, 'must have at least one text')]))
    .default({})
    .describe(
      'Texts of rows to leave out, such as subtotals, by header name; "Subtotal*" matches all that begin so. Default is none.',
    ),
  skip_repeated_headers: z
    .boolean()
    .default(false)
    .describe('Leaves out lines that repeat the header. Default is false: they are refused.'),
  drop_empty_extra_cells: z
    .boolean()
    .default(false)
    .describe(
      'Drops empty cells at the end of the header, and of rows with more cells than it. Default is false: the rows are refused.',
    ),
  header: names
    .min(1, 'must name at least one column')
    .optional()
    .describe('Names of the columns, in their order, for a source without a header line.'),
  header_in_file: z
    .array(z.string())
    .min(1, 'must list the cells of the header line')
    .optional()
    .describe(
      'The header line that `header` replaces, if a name in it is blank or repeated. A source with another header line is refused.',
    ),
  rename: z.record(z.string(), plainText).default({}).describe('Field names by header name of the source.'),
  ignore: z.array(z.string()).default([]).describe('Columns of the source that are no fields.'),
  constants: constants
    .default({})
    .describe('Values of all rows by field, as the source would write them, for fields without a column.'),
})

const table = z.strictObject({
  name: pathName,
  description: texts.optional().describe('Description of the rows.'),
  order: z
    .array(
      z
        .string()
        .regex(/^\S(.*\S)?( (asc|desc))?$/, 'must be a field name with asc or desc, such as "date desc"'),
    )
    .describe('Order of the rows, first key first; nulls last, ties in the order of the source.'),
  engine: z
    .enum(engineNames)
    .optional()
    .describe(
      'Engine for filters and orders; clickhouse is the one at CLICKHOUSE_URL. Answers are the same. Default is duckdb.',
    ),
  partition: plainText
    .optional()
    .describe(
      'First field of the order, with one value in each source file, such as a month. An ingest then converts only partitions whose files changed. Default is none.',
    ),
  filters: z
    .array(plainText)
    .optional()
    .describe('Fields that clients may filter and order by. Default is all.'),
  export_rows: count(0, 1_000_000_000)
    .default(1_000_000)
    .describe('Most rows of an export; files have no limit. Default is 1000000.'),
  search: z
    .array(plainText)
    .optional()
    .describe('Fields that a search covers. Default is all of type string and text.'),
  orders: z
    .array(z.array(plainText).min(1, 'it must name a field'))
    .default([])
    .describe(
      'Frequent orders, such as [-date, city], with - for descending: any page of them costs as much as a page of the table. Each takes about 4 bytes per row, and the codes of the filters again.',
    ),
  packed: z
    .boolean()
    .optional()
    .describe(
      'Stores the rows a second time for reading few of them: pages become several times cheaper, and it takes as much disk as the Parquet. Default is true; false for tables of more than 200 fields.',
    ),
  measures: z
    .array(plainText)
    .default([])
    .describe('Integer and decimal fields whose sums are meaningful; charts offer them. Default is none.'),
  totals: z
    .record(plainText, plainText)
    .default({})
    .describe(
      'Fields with the value that marks totals of other rows, such as place_type: state if states stand beside their cities. Charts never add totals to their parts.',
    ),
  min_group_size: count(0, 1_000_000)
    .default(0)
    .describe(
      'Hides groups of fewer rows in aggregates, charts and statistics of fields. It does not hide rows. Default is 0.',
    ),
  max_rejects: count(0, 1_000_000_000).default(0).describe('Most rows that may be rejected. Default is 0.'),
  may_be_empty: z
    .boolean()
    .default(false)
    .describe('Publishes a source without rows. Default is false, since such a source is usually truncated.'),
  refreshed: z
    .enum(dueFrequencies)
    .optional()
    .describe(
      'Interval of changes of the source: a quarter later, `/health` reports the table as stale. Default is never.',
    ),
  expect: tableExpectations
    .optional()
    .describe('Rules for rows; nothing is published while a row breaks one.'),
  source: source
    .prefault({})
    .describe('Format of the source CSV, if it differs from comma-separated values in UTF-8.'),
  fields: z.array(field).min(1, 'must list at least one field'),
})

const dataset = z.strictObject({
  slug: pathName,
  name: texts,
  description: texts,
  author: originator.optional().describe('Author of the data; url is optional.'),
  source: originator.optional().describe('Origin of the data; url is optional.'),
  license: party.optional().describe('License of the data.'),
  code_url: address.optional().describe('Code that collects the data.'),
  listed_in: z.array(z.string()).describe('Families that list this dataset; its detail answers in all.'),
  collected_at: day,
  frequency: z
    .enum(frequencyNames)
    .optional()
    .describe('Promised interval of updates, by the EU vocabulary of frequencies.'),
  ...datasetMetadata,
  timezone: timezone.default('UTC').describe('Zone of import_date. Default is UTC, written as Z.'),
  overrides: z
    .record(z.string(), override)
    .default({})
    .describe('Differences of this dataset from a family.'),
  links: z.array(z.strictObject({ title: texts, url: address })),
  tables: z.array(table),
})

export const catalogDefinition = z
  .strictObject({
    title: texts,
    description: texts.optional(),
    notice: texts
      .refine(
        (notice) => /^[ -~]+$/.test(typeof notice === 'string' ? notice : (Object.values(notice)[0] ?? '')),
        'must be one line of plain ASCII, at least in the first language, since that is sent in an HTTP header',
      )
      .default(
        'Use this API sparingly, not to pull entire datasets: for a complete dataset, download its files instead.',
      )
      .describe('Asks clients to use the API sparingly; sent with every page.'),
    publisher,
    contact,
    colours: z
      .strictObject({ light: colour('light'), dark: colour('dark') })
      .default(coloursDefault)
      .describe('Colours of links, buttons and bars, on light and dark pages.'),
    limits: z.strictObject({
      rows: limits.describe('Limits for pages of rows.'),
      catalog: limits.describe('Limits for everything except rows and files.'),
      exports: limits
        .default([{ requests: 600, per: '10m' }])
        .describe('Limits for exports. Default is 600 in 10m.'),
      files: limits
        .default([{ requests: 3000, per: '1m' }])
        .describe('Limits for published files, which DuckDB reads by ranges. Default is 3000 in 1m.'),
      share: z
        .strictObject({
          percent: count(1, 100).describe('Percent of all processors; 100 is no limit.'),
          per: span,
        })
        .default({ percent: 25, per: '1m' })
        .describe(
          'Share of the processor time of the machine for the requests of one client in a window: large pages, searches, exports and files cost more. Default is 25 percent in 1m.',
        ),
    }),
    families: z.record(z.string(), family),
    engine: z
      .enum(engineNames)
      .default('duckdb')
      .describe('Engine for filters and orders of tables without their own. Default is duckdb.'),
    include: z
      .union([includedPath, z.array(includedPath)])
      .optional()
      .describe(
        'Files below the folder of the catalog with a dataset each, or a list of them, such as datasets/*.yaml; * is any part of a name. Their datasets follow those of this file.',
      ),
    datasets: z.array(dataset).describe('Datasets; may be omitted if files are included.'),
  })
  .describe('The datasets of an Acervo service.')

export type CatalogDefinition = z.infer<typeof catalogDefinition>
export type DatasetDefinition = CatalogDefinition['datasets'][number]
export type TableDefinition = DatasetDefinition['tables'][number]

/** Returns the schema as JSON Schema, for editors. */
export function catalogJsonSchema(): unknown {
  const { required = [], ...schema } = z.toJSONSchema(catalogDefinition, { io: 'input' })
  // `datasets` is not required, since included files may contain all datasets.
  return { title: 'Acervo catalog', ...schema, required: required.filter((key) => key !== 'datasets') }
}

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
