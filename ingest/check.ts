import type { Field, Table } from '../core/catalog/catalog.ts'
import { tableId } from '../core/catalog/catalog.ts'
import { didYouMean } from '../core/nearest.ts'
import { TableFailure } from './rejects.ts'
import type { ReadSource } from './source.ts'

/** A field and the column of the source that fills it. */
export interface MatchedField {
  readonly field: Field
  /** Index in the header. */
  readonly column: number
}

/**
 * Matches the fields of a table with the header of its source, by name.
 *
 * @throws TableFailure naming every row that cannot be read, or every name that does not match
 */
export function checkSource(table: Table, { scanner }: ReadSource): MatchedField[] {
  if (scanner.rejectCount > 0) {
    throw new TableFailure('the source cannot be read as CSV', scanner.rejects, scanner.rejectCount)
  }
  if (scanner.header === null) throw new TableFailure('the source is empty: it must at least have a header')
  return matchHeader(table, scanner.header)
}

const problemsShown = 10
const nameShownMax = 80

function matchHeader(table: Table, header: readonly string[]): MatchedField[] {
  const names = header.map((name) => table.source.rename.get(name) ?? name)
  const declared = table.fields.map((field) => field.name)
  const columns = new Map(names.map((name, index) => [name, index]))
  const fields = new Set(declared)
  const repeated = new Set(names.filter((name, index) => columns.get(name) !== index))
  const unknown = [...columns.keys()].filter((name) => !fields.has(name))
  const problems = [
    ...[...repeated].map((name) => `the column ${shown(name)} is there twice`),
    ...declared.filter((name) => !columns.has(name)).map((name) => `the column ${shown(name)} is missing`),
    ...unknown
      .slice(0, problemsShown)
      .map(
        (name) =>
          `the column ${shown(name)} is not a field of ${tableId(table)}${didYouMean(name, declared)}`,
      ),
  ]
  const count = problems.length + Math.max(0, unknown.length - problemsShown)
  if (count > 0) {
    const more = count > problemsShown ? `; and ${count - problemsShown} more` : ''
    const other = names.length === 1 ? otherDelimiter(names[0] ?? '', table.source.delimiter) : ''
    const remedy = 'change the source, or the fields (or source.rename) of the table in the catalog'
    throw new TableFailure(
      `the header does not fit: ${problems.slice(0, problemsShown).join('; ')}${more}. ${other}Remedy: ${remedy}`,
    )
  }
  return table.fields.map((field) => ({ field, column: columns.get(field.name) ?? 0 }))
}

/** A header of one column most often has another delimiter than was declared. */
function otherDelimiter(header: string, declared: string): string {
  const found = [';', ',', '\t', '|'].find(
    (delimiter) => delimiter !== declared && header.includes(delimiter),
  )
  return found === undefined
    ? ''
    : `The delimiter may be ${JSON.stringify(found)}: declare it as source.delimiter. `
}

function shown(name: string): string {
  return `"${name.length > nameShownMax ? `${name.slice(0, nameShownMax)}…` : name}"`
}
