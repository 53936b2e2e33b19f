import type { MatchedField } from '../conversion.ts'
import { type Table, hidesRows, tableId } from '../../../core/catalog/catalog.ts'
import { didYouMean, shorten } from '../../../core/text.ts'
import { TableFailure } from '../../base/rejects.ts'
import type { Batch } from '../../source/batches.ts'

interface Match {
  readonly fields: readonly MatchedField[]
  readonly drift: readonly string[]
  /** Fields whose columns other files may have. */
  readonly lacking: readonly string[]
}

export type Header = Pick<Batch, 'header' | 'headerLine' | 'headerFile'>

/**
 * Matches fields with the header of their source, by name.
 * @param acceptsDrift allows missing columns (null) and new ones (ignored)
 * @throws TableFailure with the names that do not match
 */
export function matchHeader(
  table: Table,
  sourceHeader: Header,
  constantFields: ReadonlySet<string>,
  acceptsDrift: boolean,
): Match {
  const { rename, ignore, drop, unionByName } = table.source
  const { header } = sourceHeader
  const names = header.map((name) => (ignore.has(name) ? null : (rename.get(name) ?? name)))
  const readFields = table.fields.map(({ name }) => name).filter((name) => !constantFields.has(name))
  const columns = new Map<string, number>()
  const repeatedNames = new Set<string>()
  for (const [index, name] of names.entries()) {
    if (name !== null && columns.has(name)) repeatedNames.add(name)
    if (name !== null) columns.set(name, index)
  }
  const missingNames = readFields.filter((name) => !columns.has(name))
  // If the header is missing, the names are values of a row.
  const hidesNames = hidesRows(table)
  const unknownNames = [...columns.keys()].filter((name) => !readFields.includes(name))
  const faults = [...repeatedNames].map((name) =>
    hidesNames && !readFields.includes(name)
      ? `column ${(columns.get(name) ?? 0) + 1} appears twice`
      : `the column ${displayName(name)} appears twice`,
  )
  const unmatchedDrops = unionByName ? [] : [...drop.keys()].filter((name) => !header.includes(name))
  for (const name of unmatchedDrops)
    faults.push(`source.drop names the column ${displayName(name)}, which is not in the header`)
  const hasMatchingColumn = missingNames.length < readFields.length
  const mayLackColumns = unionByName && hasMatchingColumn
  const drift = [
    ...(mayLackColumns ? [] : missingNames.map(missingColumn)),
    ...unknownNames.map((name, index) => {
      if (hidesNames) return `column ${(columns.get(name) ?? 0) + 1} is not a field of ${tableId(table)}`
      // Finding similar names takes time, so only the columns that are reported get a hint.
      const hint = index < problemsShown ? didYouMean(name, readFields) : ''
      return `the column ${displayName(name)} is not a field of ${tableId(table)}${hint}`
    }),
  ]
  const problems = acceptsDrift && hasMatchingColumn ? faults : [...faults, ...drift]
  if (problems.length > 0)
    throw new TableFailure(misfit(table, problems, sourceHeader, faults.length === 0 && hasMatchingColumn))
  const fields = table.fields.map((field) => ({
    field,
    column: constantFields.has(field.name) ? null : (columns.get(field.name) ?? null),
  }))
  return { fields, drift, lacking: mayLackColumns ? missingNames : [] }
}

export function missingColumn(name: string): string {
  return `the column ${displayName(name)} is missing`
}

const problemsShown = 10
const nameShownMax = 80

/** @param isAcceptable false if `--accept-drift` does not help */
export function misfit(
  table: Table,
  problems: readonly string[],
  { header, headerLine, headerFile }: Header,
  isAcceptable: boolean,
): string {
  const suffix = problems.length > problemsShown ? `; and ${problems.length - problemsShown} more` : ''
  const delimiter = header.length === 1 ? delimiterHint(header[0] ?? '', table.source.delimiter) : ''
  const suggestion = delimiter === '' ? titleHint(table, header, headerLine) : delimiter
  const remedy =
    'change the source, or the fields (or source.rename, source.ignore) of the table in the catalog' +
    (isAcceptable
      ? `; \`acervo ingest --accept-drift ${tableId(table)}\` publishes it, with nulls for missing columns and without unknown ones`
      : '')
  const file = headerFile === null ? '' : ` of ${headerFile}`
  const line = headerLine === null ? '' : ` in line ${headerLine}`
  return `the header${file}${line} does not match the catalog: ${problems.slice(0, problemsShown).join('; ')}${suffix}. ${suggestion}Remedy: ${remedy}`
}

function titleHint(
  { source, fields }: Table,
  header: readonly string[],
  headerLine: Header['headerLine'],
): string {
  const isKnown = (name: string): boolean =>
    source.rename.has(name) || fields.some((field) => field.name === name)
  if (headerLine === null || header.some(isKnown)) return ''
  const filled = header.filter((name) => name.trim() !== '').length
  if (header.length !== 2 && fields.length > 1 && filled <= 1)
    return `Line ${headerLine} may be a title: source.skip_lines: ${headerLine} leaves it out. `
  return source.skipLines > 0
    ? `source.skip_lines: ${source.skipLines} leaves out lines above it: check them. `
    : ''
}

function delimiterHint(header: string, declared: string): string {
  const candidate = [';', ',', '\t', '|'].find(
    (delimiter) => delimiter !== declared && header.includes(delimiter),
  )
  return candidate === undefined
    ? ''
    : `The delimiter may be ${JSON.stringify(candidate)}: declare it as source.delimiter. `
}

function displayName(name: string): string {
  return `"${shorten(name.replaceAll(/\p{Cc}/gu, ' '), nameShownMax)}"`
}
