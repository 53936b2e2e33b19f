import { Readable } from 'node:stream'
import type { Catalog, CatalogTexts, Field, Originator, Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { languages, type Language } from '../../core/catalog/names.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import type { LineFormat, Workbook } from '../formats/format.ts'
import { baseOf, type Term } from '../query/date-parts.ts'
import type { Measure } from '../query/measures.ts'
import type { QueryParameters } from '../query/parameters.ts'
import type { RowFilter } from '../query/query.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { citationText, citedVersion } from './citation.ts'
import { wordsOf } from './words/all.ts'
import type { Words } from './words/en.ts'
import { describeFilter } from './words/filter-text.ts'
import { measureTitle, termTitle, titleOf } from './words/titles.ts'

type FieldStatistics = SnapshotReport['fields'][number]

interface WorkbookRows {
  readonly catalog: CatalogTexts
  readonly language: Language
  readonly snapshot: Snapshot
  readonly columns: readonly Column[]
  readonly filter: Pick<RowFilter, 'conditions' | 'words'>
  readonly parameters: QueryParameters
  readonly addressWith: (parameters: QueryParameters) => string
}

export type Column = Term | Measure

/** Default catalog, for files that name no language. */
export function defaultTexts({ inLanguage }: Catalog): Pick<WorkbookRows, 'catalog' | 'language'> {
  const [language] = languages
  const catalog = inLanguage.get(language)
  if (catalog === undefined) throw new Error('the catalog lacks a language')
  return { catalog, language }
}

export async function workbookBody(
  pack: NonNullable<LineFormat['pack']>,
  pieces: readonly (string | Uint8Array)[],
  workbook: Workbook,
): Promise<Uint8Array[]> {
  const lines = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const chunks: Uint8Array[] = []
  for await (const chunk of pack(Readable.from(lines), workbook)) chunks.push(chunk)
  return chunks
}

const [widthMin, widthMax, arrowWidth] = [9, 50, 4]

/**
 * Describes a workbook with titles as headings, and a second sheet with the names of the fields and facts
 * about the rows.
 */
export function workbookOf(source: WorkbookRows, rowCount: number): Workbook {
  const { catalog, language, snapshot, parameters, addressWith } = source
  const { manifest, report } = snapshot
  const words = wordsOf[language]
  const { workbook: labels } = words
  const dataset = catalog.datasets.get(snapshot.table.dataset)
  // A table of changes exists only in its snapshot, not in the catalog.
  const table = dataset?.tables.get(snapshot.table.name) ?? snapshot.table
  if (dataset === undefined) throw new Error('the dataset is not in the catalog')
  const columns = withUniqueHeadings(source.columns.map((column) => titledColumn(column, table, words)))
  const conditions = source.filter.conditions.map((condition) => ({
    ...condition,
    field: titledTerm(condition.field, table),
  }))
  const filters = describeFilter({ ...source.filter, conditions }, words)
  const pinnedParameters = new Map([...parameters, ['snapshot', manifest.snapshot]])
  const title = [`${titleOf(table)} (${dataset.name})`, ...filters, citedVersion(manifest, words)].join(', ')
  const citation = { dataset, title, address: addressWith(pinnedParameters), today: null }
  const facts: readonly (readonly [string, string | null])[] = [
    [labels.table, `${dataset.name}: ${titleOf(table)}`],
    [labels.row, table.rowMeaning],
    [labels.query, filters.length === 0 ? labels.allRows : filters.join(', ')],
    [labels.address, addressWith(parameters)],
    [labels.rows, String(rowCount)],
    [labels.version, manifest.snapshot],
    [labels.published, manifest.import_date.slice(0, 'YYYY-MM-DD'.length)],
    [labels.source, nameOf(dataset.source)],
    [labels.license, nameOf(dataset.license)],
    [labels.citation, citationText(citation, words)],
    [labels.note, labels.exactTexts],
  ]
  return {
    sheetNames: labels.sheets,
    columns: columns.map(({ heading, field }) => {
      const statistics = report?.fields.find(({ name }) => name === field.name)
      return { heading, width: widthOf(heading, field, statistics) }
    }),
    rows: rowCount,
    aboutRows: [
      ...facts.flatMap(([label, text]) => (text === null || text === '' ? [] : [[label, text]])),
      [],
      labels.columns,
      ...columns.map(({ heading, field, name }) => [heading, meaningOf(field), field.unit ?? '', name]),
    ],
    date: new Date(manifest.import_date),
  }
}

/** Description, and the titles of values such as `state`, which cells keep. */
function meaningOf({ description, valueTitles }: Field): string {
  const titles = [...valueTitles].map(([value, title]) => `${value} = ${title}`).join('; ')
  return [description ?? '', titles].filter((text) => text !== '').join(' ')
}

/** The catalog's fields, unlike the snapshot's, have titles in the requested language. */
function titledColumn(
  column: Column,
  table: Table,
  words: Words,
): { name: string; heading: string; field: Field } {
  const { name } = column
  if (!('aggregate' in column)) {
    const term = titledTerm(column, table)
    return { name, heading: termTitle(words, term, table), field: baseOf(term) }
  }
  const { column: resultField } = column
  // A count has neither the unit nor the description of its field.
  const countField = { ...resultField, description: null, unit: null }
  if (column.field === null) return { name, heading: words.rowsHead, field: countField }
  const field = titledField(column.field, table)
  const measure = { ...column, field }
  const isCount = column.aggregate === 'count' || column.aggregate === 'distinct'
  return { name, heading: measureTitle(words, measure, table), field: isCount ? countField : field }
}

function titledTerm(term: Term, table: Table): Term {
  const field = titledField(baseOf(term), table)
  return term.part === undefined ? field : { ...field, part: { ...term.part, base: field } }
}

function titledField(field: Field, table: Table): Field {
  return table.fields.find(({ name }) => name === field.name) ?? field
}

function withUniqueHeadings<
  T extends { readonly name: string; readonly heading: string; readonly field: Field },
>(columns: readonly T[]): readonly T[] {
  const full = columns.map(({ heading, field: { unit } }) =>
    unit === null || heading.toLowerCase().includes(unit.toLowerCase()) ? heading : `${heading} (${unit})`,
  )
  return columns.map((column, index) => {
    const heading = full[index] ?? ''
    const isRepeated = full.indexOf(heading) !== full.lastIndexOf(heading)
    return { ...column, heading: isRepeated ? `${heading} [${column.name}]` : heading }
  })
}

function nameOf(party: Originator | null): string {
  return [party?.name, party?.url].filter((text) => text != null).join(', ')
}

function widthOf(heading: string, { type }: Field, statistics: FieldStatistics | undefined): number {
  const texts = [
    ...(statistics?.choices ?? statistics?.top?.map(({ value }) => value) ?? []),
    ...[statistics?.min, statistics?.max].flatMap((text) => text ?? []),
  ]
  const { dialect, moment } = typeRow(type)
  // Room for separators and the sign of numbers, and for the format of dates.
  const further = dialect === 'number' || dialect === 'integer' ? 4 : moment === null ? 1 : 2
  const widest = Math.max(...texts.map((text) => text.length), 0) + further
  return Math.min(widthMax, Math.max(widthMin, widest, heading.length + arrowWidth))
}
