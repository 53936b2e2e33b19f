import { z } from 'zod'
import { encodingNames } from './names.ts'
import { parseNamePattern } from './name-pattern.ts'
import {
  checkBooleans,
  checkFormats,
  checkSeparators,
  formats,
  readingKeys,
  buildReading,
} from './reading.ts'
import {
  below,
  camelKeys,
  count,
  mapOf,
  names,
  omit,
  optional,
  plainText,
  requireField,
  type Path,
  type ReportFault,
} from './shapes.ts'

const someFiles = z.strictObject({
  path: plainText.describe('A path under `SOURCES`, or an address.'),
  constants: mapOf(z.string()).describe(
    'Values of all rows of these files by field, as the source would write them.',
  ),
})
const filesAt = plainText.transform((path) => ({ path, constants: new Map<string, string>() }))

export const sourceShape = z.strictObject({
  files: optional(
    z.union([
      filesAt.transform((files) => [files]),
      z.array(z.union([filesAt, someFiles])).min(1, 'must list at least one file'),
    ]),
  ).describe(
    'Paths under `SOURCES`, with `*` for any part of a name, or http(s) addresses; files follow each other. Default is `<dataset>/<table>.csv`, `.csv.gz`, `.csv.zst` or `.csv.zip`.',
  ),
  from_name: optional(plainText).describe(
    "Pattern of fields at the end of each file's path, such as `yob{year}.csv` or `{state}/*_{year}.csv`; `*` is any part of a name.",
  ),
  union_by_name: z
    .boolean()
    .default(false)
    .describe(
      'Allows files with other column orders and missing columns, whose fields are null. Default is false.',
    ),
  member: optional(plainText).describe(
    'Files of a zip to read, such as `*_2022_SP.csv`. Default is the only file.',
  ),
  checksums: optional(plainText).describe(
    'A file of SHA-256 or SHA-512 sums beside the source, such as `SHA512SUMS`, which must contain the source.',
  ),
  encoding: z.enum(encodingNames).default('utf-8').describe('Encoding of the files. Default is utf-8.'),
  delimiter: z
    .string()
    .regex(/^[\t !#-/:-@[\]-`{-~]$/, 'must be one ASCII character such as ",", ";" or a tab')
    .default(',')
    .describe('Separator of values in a row. Default is the comma.'),
  quote: z
    .enum(['"', "'", 'none'])
    .default('"')
    .describe(
      'Quote around values, doubled inside of them; `none` if values are never quoted. Default is `"`.',
    ),
  ...readingKeys,
  date: optional(formats).describe(
    'Format of dates, such as `dd/mm/yyyy`, or a list of formats. Default is `yyyy-mm-dd`.',
  ),
  datetime: optional(formats).describe(
    'Format of times with a date, such as `dd/mm/yyyy hh:mm:ss`. Default is `yyyy-mm-dd hh:mm:ss`, or with a T.',
  ),
  time: optional(formats).describe('Format of times of day, such as `hh:mm`. Default is `hh:mm:ss`.'),
  line_terminator: z
    .enum(['lf', 'cr'])
    .default('lf')
    .describe('Line ends: lf, with or without a carriage return before it, or cr alone. Default is lf.'),
  skip_lines: count(0, 1000).default(0).describe('Number of lines before the header. Default is 0.'),
  header_lines: count(1, 10)
    .default(1)
    .describe(
      'Number of lines of the header, whose cells are joined: `2023,` above `Men,Women` gives `2023 Men` and `2023 Women`. Default is 1.',
    ),
  skip_last: count(0, 1000)
    .default(0)
    .describe(
      'Number of lines at the end that are no rows, such as totals; blank lines are not counted. Default is 0.',
    ),
  stop_at: optional(plainText).describe(
    'Start of the first line after the rows, such as `Total`; it and all further lines are left out.',
  ),
  comment: optional(plainText).describe('Start of lines that are no rows, such as `#`. Default is none.'),
  drop: mapOf(
    z
      .union([plainText, z.array(plainText).min(1, 'must have at least one text')])
      .transform((dropped) => [dropped].flat()),
  ).describe(
    'Texts of rows to leave out, by header name: `{ Region: [Subtotal*, Total] }`; `*` at the end stands for any rest. Default is none.',
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
  header: optional(names.min(1, 'must name at least one column')).describe(
    'Names of the columns, in their order, for a source without a header line.',
  ),
  header_in_file: optional(z.array(z.string()).min(1, 'must list the cells of the header line')).describe(
    'The header line that `header` replaces, if a name in it is blank or repeated. A source with another header line is refused.',
  ),
  rename: mapOf(plainText).describe('Field names by header name of the source: `{ Estação: station }`.'),
  ignore: z
    .array(z.string())
    .default([])
    .describe('Columns of the source that are no fields, such as `[Notas]`.'),
  constants: mapOf(z.string()).describe(
    "Values of all rows by field, as the source would write them, for fields without a column: `{ year: '2022' }`.",
  ),
})

export type SourceDefinition = z.output<typeof sourceShape>

const spellingKeys = [
  ...(Object.keys(readingKeys) as (keyof typeof readingKeys)[]),
  ...(['date', 'datetime', 'time'] as const),
]

export function buildSource(definition: SourceDefinition) {
  return camelKeys({
    ...omit(definition, spellingKeys),
    ignore: new Set(definition.ignore),
    /** Null if values are never quoted. */
    quote: definition.quote === 'none' ? null : definition.quote,
    reading: buildReading(null, definition),
  })
}

function checkFilePath(file: string, report: ReportFault): void {
  const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(file)
  if (isAddress && (!/^https?:\/\//.test(file) || !URL.canParse(file)))
    report([], `"${file}" must be a path under SOURCES, or an http(s) address`)
  else if (isAddress && /^https?:\/\/[^/?#]*@/.test(file))
    report([], 'an address with a password would appear in every report: remove the password')
  else if (isAddress && file.includes('*'))
    report([], `"${file}" is an address, so it cannot contain *: write the address of each file`)
  else if (!isAddress && (file.startsWith('/') || file.split('/').includes('..')))
    report([], `"${file}" must be below SOURCES: it must not start with / or contain ..`)
}

function checkNamePattern(pattern: string, report: ReportFault): void {
  if (parseNamePattern(pattern) === null)
    report(
      [],
      `"${pattern}" must have a field in braces, such as "yob{year}.csv"; each field may occur once, with text between any two`,
    )
}

function checkDialect(source: SourceDefinition, report: ReportFault): void {
  for (const type of ['date', 'datetime', 'time'] as const) checkFormats(source[type], type, type, report)
  checkSeparators(source, null, report)
  checkBooleans(source, report)
  const { quote, delimiter, comment, header } = source
  if (quote === delimiter) report(['quote'], '"quote" must differ from "delimiter": change one of them')
  const rowSigns = new Set<string>([quote, delimiter])
  if (comment !== null && Array.from(comment).every((sign) => rowSigns.has(sign)))
    report(
      ['comment'],
      `"${comment}" as "comment" would also match rows that begin with a delimiter or quote: declare a text that begins only comments`,
    )
  if (source.header_in_file !== null && source.header_in_file.length !== header?.length)
    report(
      ['header_in_file'],
      '"header_in_file" needs "header" with the same number of names, one for each column',
    )
  if (source.header_lines > 1 && header !== null && source.header_in_file === null)
    report(
      ['header_lines'],
      '"header_lines" needs a header in the file: with "header", declare its joined cells as "header_in_file"',
    )
}

/** Fields whose values come from constants or file names, at least in some files. */
export function constantFields({ from_name: pattern, constants, files }: SourceDefinition): string[] {
  return [
    ...fieldsIn(pattern),
    ...[constants, ...(files ?? []).map((file) => file.constants)].flatMap((columns) => [...columns.keys()]),
  ]
}

function fieldsIn(pattern: string | null): readonly string[] {
  return pattern === null ? [] : (parseNamePattern(pattern)?.fields ?? [])
}

/** Checks that the keys of a source agree, and that the fields it fills exist and are filled in one way only. */
export function checkSource(
  source: SourceDefinition,
  fieldNames: readonly string[],
  report: ReportFault,
): void {
  checkDialect(source, report)
  for (const [index, { path }] of (source.files ?? []).entries())
    checkFilePath(path, below(report, 'files', index, 'path'))
  if (source.from_name !== null) checkNamePattern(source.from_name, below(report, 'from_name'))
  for (const [header, name] of source.rename) requireField(name, ['rename', header], fieldNames, report)
  checkSingleValues(source, fieldNames, report)
  const givenNames = new Set([...source.rename.values(), ...constantFields(source)])
  for (const [index, name] of source.ignore.entries()) {
    const place = ['ignore', index]
    if (source.rename.has(name))
      report(
        place,
        `"${name}" is in "rename", so it cannot be ignored: remove it from "rename" or from "ignore"`,
      )
    else if (fieldNames.includes(name) && !givenNames.has(name))
      report(
        place,
        `"${name}" is also a field, which has no other column: remove the field, or "${name}" from "ignore"`,
      )
  }
}

/** Reports fields with values from two places, such as a constant and a column. */
function checkSingleValues(
  source: SourceDefinition,
  fieldNames: readonly string[],
  report: ReportFault,
): void {
  const constants = [...source.constants.keys()]
  const patternFields = fieldsIn(source.from_name)
  const checkConstant = (place: Path, name: string, definedNames: readonly string[]): void => {
    requireField(name, place, fieldNames, report)
    if (definedNames.includes(name))
      report(
        place,
        `"${name}" already has a value from "constants" or "from_name" of the source: remove one of the two`,
      )
  }
  for (const name of constants) checkConstant(['constants', name], name, [])
  for (const name of patternFields) checkConstant(['from_name'], name, constants)
  for (const [index, file] of (source.files ?? []).entries()) {
    for (const name of file.constants.keys())
      checkConstant(['files', index, 'constants', name], name, [...constants, ...patternFields])
  }
  const renameTargets = new Set(source.rename.values())
  const constantPlaces: [Path, string][] = [
    ...constants.map((name): [Path, string] => [['constants', name], name]),
    ...patternFields.map((name): [Path, string] => [['from_name'], name]),
  ]
  for (const [place, field] of constantPlaces) {
    if (renameTargets.has(field))
      report(
        place,
        `"${field}" has a value from "constants" or "from_name", but a column is renamed to it: remove one of the two`,
      )
  }
}
