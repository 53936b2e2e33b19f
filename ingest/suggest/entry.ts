import type { Table } from '../../core/catalog/catalog.ts'
import { inlineYaml, yamlComment } from '../../core/catalog/add-table.ts'
import { parseCatalog } from '../../core/catalog/load.ts'
import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'
import type { FieldKeys } from './field.ts'
import type { SuggestedKey } from './key.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { canBeMatched } from './names.ts'
import { isSummable, type FieldTexts } from './titles.ts'

export interface Entry {
  readonly name: string
  readonly dialect: Dialect
  readonly source: Readonly<Record<string, unknown>>
  readonly key?: SuggestedKey | undefined
  readonly fields: readonly {
    readonly name: string
    readonly keys: FieldKeys
    readonly evidence: string
    readonly texts?: FieldTexts
  }[]
}

/** Keys set once for the table if all fields with the key agree, and no other field would change. */
const hoistableKeys = ['decimal', 'nulls', 'booleans', 'trim', 'format'] as const

/** Writes the entry of a table as YAML, with one field a line and its evidence as a comment. */
export function entryText({ name, dialect, source, key: possibleKey, fields }: Entry): string {
  const hoisted = hoistKeys(fields.map((field) => field.keys))
  const sourceKeys = {
    ...source,
    ...dialectKeys(
      dialect,
      fields.map((field) => field.name),
    ),
    ...hoisted.source,
  }
  const sourceLines = Object.entries(sourceKeys).map(
    ([key, value]) => `    ${key}: ${JSON.stringify(value)}\n`,
  )
  const rows = fields.map(
    ({ name: field, evidence, texts }, index) =>
      `    ${fieldLine(field, { ...texts, ...hoisted.fields[index] }, evidence)}\n`,
  )
  const measures = fields.flatMap(({ name: field, keys: { type }, texts = {} }) =>
    isSummable(texts, { type }) ? [field] : [],
  )
  return [
    `- name: ${inlineYaml(name)}\n`,
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source\n',
    possibleKey === undefined
      ? ''
      : `  # key: [${possibleKey.names.map(inlineYaml).join(', ')}] # all ${possibleKey.rows.toLocaleString('en')} rows differ in it; if it identifies a row, remove the first #\n`,
    measures.length === 0
      ? ''
      : `  measures: ${inlineYaml(measures)} # fields that pages and totals add up\n`,
    sourceLines.length === 0 ? '' : `  source:\n${sourceLines.join('')}`,
    '  fields:\n',
    ...rows,
  ].join('')
}

export function fieldLine(name: string, keys: object, evidence: string): string {
  const text = Object.entries({ name, ...keys }).map(([key, value]) => `${key}: ${inlineYaml(value)}`)
  return `- { ${text.join(', ')} }${evidence === '' ? '' : ` ${yamlComment(evidence)}`}`
}

/**
 * Moves a key to the source if all fields with it agree, and it would change no other field that inherits it.
 * The `format` of dates becomes the key `date` of the source, and likewise for datetimes and times.
 */
function hoistKeys(fields: readonly FieldKeys[]): { source: Record<string, unknown>; fields: FieldKeys[] } {
  const source: Record<string, unknown> = {}
  let fieldKeys = fields.map((keys) => ({ ...keys }))
  for (const key of hoistableKeys) {
    for (const type of key === 'format' ? (['date', 'datetime', 'time'] as const) : [null]) {
      const holders = fieldKeys.filter((keys) => key in keys && (type === null || keys.type === type))
      const [first] = holders
      if (
        first === undefined ||
        !holders.every((keys) => JSON.stringify(keys[key]) === JSON.stringify(first[key]))
      )
        continue
      const value: unknown = first[key]
      const heirs = fieldKeys.filter((keys) => !(key in keys) && (type === null || keys.type === type))
      if (heirs.some((keys) => isChangedBy(keys, key, value))) continue
      // One column's words for null may be values of another column.
      if (key === 'nulls' && heirs.length > 0) continue
      source[type ?? key] = value
      fieldKeys = fieldKeys.map((keys) => (holders.includes(keys) ? omitKey(keys, key) : keys))
    }
  }
  return { source, fields: fieldKeys }
}

function isChangedBy(keys: FieldKeys, key: (typeof hoistableKeys)[number], value: unknown): boolean {
  const { dialect, isText } = typeRow(keys.type as FieldType)
  if (key === 'decimal') return dialect === 'number' || 'groups' in keys
  if (key === 'booleans') return dialect === 'words'
  if (key === 'format') return true
  if (key === 'trim') return isText
  return isText && (value as readonly string[]).some((word) => !/^$|^#|^\\N$/.test(word))
}

function omitKey<T extends object>(keys: T, key: string): T {
  return Object.fromEntries(Object.entries(keys).filter(([name]) => name !== key)) as T
}

export function columnNames(dialect: Dialect, names: readonly string[]): readonly string[] {
  const { hasHeader, firstLine } = dialect
  return hasHeader && canBeMatched(firstLine) && !isHeaderUndecided(dialect) ? firstLine : names
}

/** Returns whether another encoding would change the header, which names must match. */
function isHeaderUndecided({ isEncodingOpen, hasHeader, firstLine }: Dialect): boolean {
  return isEncodingOpen && hasHeader && firstLine.some((cell) => /[^\x20-\x7e]/.test(cell))
}

/**
 * Keys of the source in which the dialect differs from the default one. A header that another encoding would
 * change is skipped, and its columns are named.
 */
function dialectKeys(dialect: Dialect, names: readonly string[]): Record<string, unknown> {
  const {
    encoding,
    delimiter,
    quote,
    lineTerminator,
    skipLines,
    headerLines,
    comment,
    lastLines,
    stopAt,
    firstLine,
    hasHeader,
    drop,
    skipRepeatedHeaders,
    dropEmptyExtraCells,
  } = dialect
  // `columnNames` returns `firstLine` itself if that line gives the names.
  const isFirstLineUsed = columnNames(dialect, names) === firstLine
  const hasUndecidedHeader = isHeaderUndecided(dialect)
  const linesToSkip = skipLines + (hasUndecidedHeader ? headerLines : 0)
  const renames = firstLine.flatMap((cell, index) =>
    cell === names[index] ? [] : [[cell, names[index] ?? '']],
  )
  return {
    ...(encoding !== 'utf-8' && { encoding }),
    ...(delimiter !== ',' && { delimiter }),
    ...(quote !== '"' && { quote: quote ?? 'none' }),
    ...(lineTerminator === 'cr' && { line_terminator: lineTerminator }),
    ...(linesToSkip > 0 && { skip_lines: linesToSkip }),
    ...(headerLines > 1 && !hasUndecidedHeader && { header_lines: headerLines }),
    ...(comment !== null && { comment }),
    ...(skipRepeatedHeaders && { skip_repeated_headers: true }),
    ...(dropEmptyExtraCells && { drop_empty_extra_cells: true }),
    ...(drop.size > 0 && {
      drop: Object.fromEntries(
        [...drop].map(([column, texts]) => [columnNames(dialect, names)[column] ?? '', texts]),
      ),
    }),
    ...(stopAt !== null && { stop_at: stopAt }),
    ...(lastLines > 0 && stopAt === null && { skip_last: lastLines }),
    ...(!isFirstLineUsed && hasHeader && !hasUndecidedHeader && { header_in_file: firstLine }),
    ...(!isFirstLineUsed && { header: names }),
    ...(isFirstLineUsed && renames.length > 0 && { rename: Object.fromEntries(renames) as object }),
  }
}

const surroundingYaml = `title: t
limits: { rows: [], catalog: [] }
families:
  v1: { prefix: /api, scheme: http, trailing_slash: true }
datasets:
  - slug: d
    name: d
    description: d
    listed_in: []
    collected_at: 2000-01-01
    links: []
    tables:
`

export function tableOf(text: string): Table {
  const catalog = parseCatalog(
    `${surroundingYaml}${text.replaceAll(/(?<=^|\n)/g, '      ')}`,
    'the suggestion',
  )
  const [table] = [...(catalog.datasets.get('d')?.tables.values() ?? [])]
  if (table === undefined) throw new Error('the suggestion has no table')
  return table
}
