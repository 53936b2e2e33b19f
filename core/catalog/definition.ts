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
import { fieldTypeNames, type FieldType } from './field-types.ts'
import { digitsDefault } from './types/field-type.ts'
import { address, contact, datasetMetadata, day, party, publisher, plainText, texts } from './metadata.ts'

/**
 * The schema of catalog.yaml, used by the loader and for the JSON Schema of editors. Rules that a schema
 * cannot express (names that must exist, or be unique) are in check.ts.
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
      `must be read well on a ${light} page: take a ${light === 'light' ? 'darker' : 'lighter'} one`,
    )

const span = z
  .string()
  .regex(/^[1-9]\d{0,4}[smhd]$/, 'must be a span of time such as 30s, 1m, 1h or 1d')
  .describe('The window.')

const includedPath = plainText.refine(
  isBelow,
  'must be a path below the folder of the catalog, such as datasets/*.yaml',
)

const limit = z.strictObject({
  requests: count(1, 1_000_000_000).describe('How many requests one client may make in the window.'),
  per: span,
})

/** Limits are identified by their windows. */
const haveOwnWindows = (all: readonly { per: string }[]): boolean =>
  new Set(all.map(({ per }) => per)).size === all.length
const ownWindows = 'must have a window of its own in each limit'

const limits = z.array(limit).refine(haveOwnWindows, ownWindows)

const family = z.strictObject({
  prefix: z
    .string()
    .regex(/^(\/[a-z0-9_-]+)+$/, 'must be a path such as /api/v1, without a final slash')
    .describe('The path under which the whole catalog answers.'),
  scheme: z
    .enum(['http', 'https', 'public'])
    .describe(
      'Scheme of the addresses it emits when PUBLIC_URL is not a loopback address; public is that of PUBLIC_URL.',
    ),
  trailing_slash: z.boolean().describe('Whether its addresses end in a slash.'),
})

const override = z.strictObject({
  detail_slash: z
    .boolean()
    .optional()
    .describe('Final slash of the dataset address, where it departs from the family.'),
  data_slash: z
    .boolean()
    .optional()
    .describe('Final slash of the row addresses, where it departs from the family.'),
  timezone: timezone.optional().describe('Zone of import_date in this family.'),
})

const names = z.array(plainText)

const format = z.union([plainText, names.min(1, 'must list at least one format')])

/** Spelling of values: declared by a table for all its fields, or by a field. */
const reading = {
  trim: z.boolean().optional().describe('Whether white space around values is none of them. Default false.'),
  nulls: z
    .array(z.string())
    .optional()
    .describe('Texts that stand for null, in whole. Default is the empty one.'),
  decimal: z
    .enum(['.', ','])
    .optional()
    .describe('What separates the fraction of a number. Default is the point.'),
  groups: z
    .enum([',', '.', ' ', "'", 'none'])
    .optional()
    .describe(
      'What separates groups of three digits of a number, such as "." in 1.234.567; " " is any space. Default is none.',
    ),
  marks: z
    .array(
      z
        .string()
        .regex(
          /^(?:\(\)|[^\s\d.,'()\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+)$/u,
          'must be a mark such as "R$", "%", "+" or "()", without spaces, digits, . , \' and signs such as - and \u2212',
        ),
    )
    .optional()
    .describe(
      'Texts before or after a number that say nothing of it, such as ["R$", "%"], with a space or without; "()" around one is a minus. Default is none.',
    ),
  minus: z
    .array(z.enum(minusForms))
    .optional()
    .describe(
      'How numbers below zero are written besides -5: "\u22125" and "\u20135" with another sign, "5-" with the minus behind. Default is none.',
    ),
  booleans: z
    .strictObject({ true: names.min(1, 'must list a word'), false: names.min(1, 'must list a word') })
    .optional()
    .describe('The words of bool fields. Default are true, True, TRUE and false, False, FALSE.'),
  timezone: timezone
    .optional()
    .describe('Zone into which times are brought that have an offset (z in their format). Default UTC.'),
  two_digit_years_from: z
    .int()
    .min(1800)
    .max(2100)
    .optional()
    .describe(
      'First year that a year of two digits (yy in a format) may be; the last is 99 later. Default 1969.',
    ),
}

const powersOfTen = [-9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9]

const field = z.strictObject({
  name: plainText,
  type: z.enum(fieldTypeNames as [FieldType, ...FieldType[]]),
  title: texts.optional().describe('What the field is called to people.'),
  description: texts.optional().describe('What the field means, for analysts and readers.'),
  unit: texts.optional().describe('What its numbers count or measure, such as R$, km or people.'),
  kind: z
    .enum(kindNames)
    .optional()
    .describe(
      'What its texts are: date is YYYY-MM-DD, uf the code of a state of Brazil; charts are drawn by it.',
    ),
  precision: count(1, 38)
    .default(digitsDefault.precision)
    .describe('Decimal only: digits in all. Default 18.'),
  scale: count(0, 37)
    .default(digitsDefault.scale)
    .describe('Decimal only: digits after the point. Default 2.'),
  ...reading,
  factor: z
    .number()
    .refine(
      (factor) => powersOfTen.some((power) => factor === Number(`1e${power}`)),
      'must be a power of ten, such as 0.01 for cents',
    )
    .optional()
    .describe('Numbers only: what the numbers of the source are multiplied by, such as 0.01 for cents.'),
  separator: z
    .string()
    .regex(
      /^[^\s"[\]]{1,3}$/,
      'must be up to three characters such as ";" or "|", without spaces, " and brackets',
    )
    .optional()
    .describe(
      'List only: what stands between its texts, such as ";". Default is that the source writes JSON.',
    ),
  format: format
    .optional()
    .describe(
      'Date, datetime and time only: how the source writes it, such as dd/mm/yyyy, where it departs from the table; of several, each value must fit one.',
    ),
  mask: z
    .enum(maskNames)
    .optional()
    .describe('Personal identifiers: hidden in part before anything is written; cpf gives ***456789**.'),
})

const constants = z.record(z.string(), z.string())

const someFiles = z.strictObject({
  path: plainText.describe('A path under SOURCES or an address, as in a list of them.'),
  constants: constants.describe(
    'Field -> the value of all rows of these files, as the source would write it.',
  ),
})

const source = z.strictObject({
  files: z
    .union([plainText, z.array(z.union([plainText, someFiles])).min(1, 'must list at least one file')])
    .optional()
    .describe(
      'Paths under SOURCES, where * stands for any part of a name, or http(s) addresses; rows of several follow ' +
        'each other. Default is <dataset>/<table>.csv, .csv.gz, .csv.zst or .csv.zip.',
    ),
  from_name: plainText
    .optional()
    .describe(
      'Fields that the path of each file tells at its end, such as "yob{year}.csv" or "{state}/*_{year}.csv"; * stands for any part of a name.',
    ),
  union_by_name: z
    .boolean()
    .default(false)
    .describe(
      'Whether files may have their columns in another order, and lack some, whose fields are null there. Default false.',
    ),
  member: plainText
    .optional()
    .describe(
      'Files in a zip to read, where * stands for any part of a name. Default is the only one in it.',
    ),
  checksums: plainText
    .optional()
    .describe(
      'A file of SHA-256 or SHA-512 sums beside the source, such as SHA512SUMS; the source must be in it.',
    ),
  encoding: z.enum(encodingNames).default('utf-8').describe('Default is utf-8.'),
  delimiter: z
    .string()
    .regex(/^[\t !#-/:-@[\]-`{-~]$/, 'must be one ASCII character such as ",", ";" or a tab')
    .default(',')
    .describe('What separates the values of a row. Default is the comma.'),
  quote: z
    .enum(['"', "'", 'none'])
    .default('"')
    .describe('What values may be enclosed in, doubled inside of them. Default is ".'),
  ...reading,
  date: format.optional().describe('How dates are written, such as dd/mm/yyyy. Default is yyyy-mm-dd.'),
  datetime: format
    .optional()
    .describe(
      'How times are written, such as dd/mm/yyyy hh:mm:ss. Default is yyyy-mm-dd hh:mm:ss or with a T.',
    ),
  time: format.optional().describe('How times of day are written, such as hh:mm. Default is hh:mm:ss.'),
  line_terminator: z
    .enum(['lf', 'cr'])
    .default('lf')
    .describe('How lines end: lf, with or without a carriage return before it, or cr alone. Default is lf.'),
  skip_lines: count(0, 1000).default(0).describe('Lines before the header. Default 0.'),
  skip_last: count(0, 1000)
    .default(0)
    .describe('Lines at the end that are no rows, such as totals; blank ones do not count. Default 0.'),
  stop_at: plainText
    .optional()
    .describe('What the first line begins with that is no row any more; all after it is left out, too.'),
  comment: plainText
    .optional()
    .describe('What lines begin with that are no rows, such as "#". Default is none.'),
  skip_repeated_headers: z
    .boolean()
    .default(false)
    .describe('Leaves out lines that repeat the header. Default is false: they are refused.'),
  drop_empty_extra_cells: z
    .boolean()
    .default(false)
    .describe(
      'Drops empty cells at the end of a row that has more cells than the header. Default is false: the row is refused.',
    ),
  header: names
    .min(1, 'must name at least one column')
    .optional()
    .describe('Names of the columns, in their order, where the source has no header line.'),
  header_in_file: z
    .array(z.string())
    .min(1, 'must hold the cells of the header line')
    .optional()
    .describe(
      'The header line that `header` replaces, where a name in it is blank or repeated. A source with another header line is refused.',
    ),
  rename: z.record(z.string(), plainText).default({}).describe('Header name in the source -> field name.'),
  ignore: z.array(z.string()).default([]).describe('Columns of the source that are no fields.'),
  constants: constants
    .default({})
    .describe('Field -> the value of all its rows, as the source would write it, where no column has it.'),
})

const table = z.strictObject({
  name: pathName,
  description: texts.optional().describe('What the rows are, for analysts.'),
  order: z
    .array(
      z
        .string()
        .regex(/^\S(.*\S)?( (asc|desc))?$/, 'must be a field name with asc or desc, such as "date desc"'),
    )
    .describe('The order of the rows, first key first; nulls come last, ties keep the order of the source.'),
  engine: z
    .enum(engineNames)
    .optional()
    .describe(
      'What is asked which rows a query chooses: clickhouse is the one that CLICKHOUSE_URL names. Answers are the same. Default is duckdb.',
    ),
  partition: plainText
    .optional()
    .describe(
      'The field that leads the order and has one value in each file of the source, such as a month: what changed is then ingested by its partition alone, all files of one value. Default is none.',
    ),
  filters: z
    .array(plainText)
    .optional()
    .describe('Fields that readers may filter and order by. Default is all.'),
  export_rows: count(0, 1_000_000_000)
    .default(1_000_000)
    .describe('Rows that one export may have; whoever wants more takes the files. Default 1000000.'),
  search: z
    .array(plainText)
    .optional()
    .describe('Fields that a search looks through. Default is all of type string and text.'),
  orders: z
    .array(z.array(plainText).min(1, 'it must name a field'))
    .default([])
    .describe(
      'Orders that readers ask for often, such as [-date, city], with - for descending: any page of them costs what a page of the table costs. Each takes about 4 bytes a row, and the codes of the filters once more.',
    ),
  packed: z
    .boolean()
    .optional()
    .describe(
      'Whether the rows are stored once more for reading few at a time, which makes pages several times cheaper, and takes about as much disk as the Parquet. Default true, false for tables of more than 200 fields.',
    ),
  measures: z
    .array(plainText)
    .default([])
    .describe(
      'Integer and decimal fields whose sums over rows mean something; charts offer them. Default is none.',
    ),
  totals: z
    .record(plainText, plainText)
    .default({})
    .describe(
      'Fields and the value of each that marks totals of the other rows, such as place_type: state where states stand beside their cities. Charts add up no totals with their parts.',
    ),
  max_rejects: count(0, 1_000_000_000)
    .default(0)
    .describe('Rows that may be left out because they are not what is declared here. Default 0.'),
  may_be_empty: z
    .boolean()
    .default(false)
    .describe(
      'Whether a source that has no row is published unasked. Default false, since one most often was cut off.',
    ),
  refreshed: z
    .enum(dueFrequencies)
    .optional()
    .describe(
      'How often its source is to be another one: past that, and a quarter of it more, `/health` says that it is stale. Default is never.',
    ),
  source: source
    .prefault({})
    .describe('How the source CSV is written, where it departs from a comma-separated one.'),
  fields: z.array(field).min(1, 'must list at least one field'),
})

const dataset = z.strictObject({
  slug: pathName,
  name: texts,
  description: texts,
  author: party.optional().describe('Who made it.'),
  source: party.optional().describe('Where it is from.'),
  license: party.optional().describe('What it may be used for.'),
  code_url: address.optional().describe('The code that collects it.'),
  listed_in: z
    .array(z.string())
    .describe('Families whose list shows this dataset; its detail answers in all.'),
  collected_at: day,
  frequency: z
    .enum(frequencyNames)
    .optional()
    .describe(
      'How often it is promised to be published anew, by the names of the EU vocabulary of frequencies.',
    ),
  ...datasetMetadata,
  timezone: timezone
    .default('UTC')
    .describe('Zone in which import_date is written. Default UTC, which writes Z.'),
  overrides: z.record(z.string(), override).default({}).describe('Where this dataset departs from a family.'),
  links: z.array(z.strictObject({ title: texts, url: address })),
  tables: z.array(table),
})

export const catalogDefinition = z
  .strictObject({
    title: texts,
    description: texts.optional(),
    notice: texts
      .refine(
        (said) => /^[ -~]+$/.test(typeof said === 'string' ? said : (Object.values(said)[0] ?? '')),
        'must be one line of plain ASCII, or begin with one, since it travels in a header',
      )
      .default(
        'Use this API sparingly, not to pull entire datasets: for a complete dataset, download its files instead.',
      )
      .describe('Asks readers to use the API sparingly; sent with every page.'),
    publisher,
    contact,
    colours: z
      .strictObject({ light: colour('light'), dark: colour('dark') })
      .default(coloursDefault)
      .describe('Of links, buttons and bars on light and on dark pages.'),
    limits: z.strictObject({
      rows: limits.describe('Of pages of rows.'),
      catalog: limits.describe('Of everything that is neither rows nor a file.'),
      exports: limits.default([{ requests: 600, per: '10m' }]).describe('Of exports. Default is 600 in 10m.'),
      files: limits
        .default([{ requests: 3000, per: '1m' }])
        .describe('Of published files, which DuckDB reads range by range. Default is 3000 in 1m.'),
      share: z
        .strictObject({
          percent: count(1, 100).describe('Of all processors; 100 is no limit.'),
          per: span,
        })
        .default({ percent: 25, per: '1m' })
        .describe(
          "The share of the machine's processor time that the requests of one client may cost in a window: large pages, searches, exports and files cost more. Default is 25 percent in 1m.",
        ),
    }),
    families: z.record(z.string(), family),
    engine: z
      .enum(engineNames)
      .default('duckdb')
      .describe('What chooses rows, of all tables that do not say it themselves. Default is duckdb.'),
    include: z
      .union([includedPath, z.array(includedPath)])
      .optional()
      .describe(
        'Files below the folder of the catalog that hold a dataset each, or a list of them, such as datasets/*.yaml; * stands for any part of a name. They come after those that are written here.',
      ),
    datasets: z.array(dataset).describe('What is published; may be left out where datasets are included.'),
  })
  .describe('What an Acervo service publishes.')

export type CatalogDefinition = z.infer<typeof catalogDefinition>
export type DatasetDefinition = CatalogDefinition['datasets'][number]
export type TableDefinition = DatasetDefinition['tables'][number]

/** Returns the schema as JSON Schema, for editors. */
export function catalogJsonSchema(): unknown {
  const { required = [], ...schema } = z.toJSONSchema(catalogDefinition, { io: 'input' })
  // Included files may contain all of them.
  return { title: 'Acervo catalog', ...schema, required: required.filter((key) => key !== 'datasets') }
}

function isTimezone(value: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}
