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

function matchHeader(table: Table, header: readonly string[]): MatchedField[] {
  const names = header.map((name) => table.source.rename.get(name) ?? name)
  const declared = table.fields.map((field) => field.name)
  const problems = [
    ...names.flatMap((name, index) =>
      names.indexOf(name) < index ? [`the column "${name}" is there twice`] : [],
    ),
    ...declared.filter((name) => !names.includes(name)).map((name) => `the column "${name}" is missing`),
    ...names
      .filter((name) => !declared.includes(name))
      .map((name) => `the column "${name}" is not a field of ${tableId(table)}${didYouMean(name, declared)}`),
  ]
  if (problems.length > 0) {
    const remedy = 'change the source, or the fields (or source.rename) of the table in the catalog'
    throw new TableFailure(`the header does not fit: ${problems.join('; ')}. Remedy: ${remedy}`)
  }
  return table.fields.map((field) => ({ field, column: names.indexOf(field.name) }))
}
