import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { fieldLine } from '../suggest/entry.ts'
import type { EntryFit, Suggestion } from '../suggest/suggest.ts'

const numbers = ['integer', 'decimal', 'float']

/**
 * Explains how the entry of a table must change for a file.
 * @param target path for the file; null if it is already there
 */
export function entryChangesFor(
  table: Table,
  { fields }: Suggestion,
  { misfits, refusal }: EntryFit,
  target: string | null,
): string {
  const declared = new Map(table.fields.map((field) => [field.name, field]))
  const columns = fields.map((field) => {
    const fieldName = table.source.rename.get(field.column) ?? field.column
    const declaredField = declared.get(fieldName) ?? declared.get(field.name)
    return {
      ...field,
      declaredField,
      line: fieldLine(declaredField?.name ?? field.name, field.keys, field.evidence),
    }
  })
  const newColumns = columns.filter(({ declaredField }) => declaredField === undefined)
  const misfitColumns = columns.filter(
    ({ declaredField, keys, isEmpty }) =>
      declaredField !== undefined &&
      !isEmpty &&
      (misfits === null ? !fits(keys.type, declaredField.type) : misfits.has(declaredField.name)),
  )
  const names = new Set(columns.map(({ declaredField }) => declaredField?.name))
  const missingFields = table.fields.filter(({ name, mask }) => !names.has(name) && mask === null)
  const changes = [
    ...newColumns.map(({ line }) => `  add a field for a new column: ${line}`),
    ...misfitColumns.map(
      ({ declaredField, line }) =>
        `  change the field "${declaredField?.name ?? ''}" (${declaredField?.type ?? ''}) to: ${line}`,
    ),
    ...missingFields.map(
      ({ name }) => `  remove the field without a column in this file, wherever the entry names it: ${name}`,
    ),
    ...renaming(newColumns, missingFields),
  ]
  const id = tableId(table)
  const isBreaking = misfitColumns.length > 0 || missingFields.length > 0
  const ingest = `\`acervo ingest ${isBreaking ? '--accept-drift ' : ''}${id}\` publishes it`
  const next = target === null ? ingest : `put the file at ${target}, and ${ingest}`
  const isWhollyUnlike = missingFields.length === table.fields.length
  if (refusal !== null && (changes.length === 0 || isWhollyUnlike))
    return `${id} is already in the catalog, but its entry does not fit this file: ${refusal}\nchange the entry or the file, then ${next}`
  return changes.length === 0
    ? `${id} is already in the catalog, and its entry fits this file: ${next}`
    : [
        `${id} is already in the catalog, but its entry does not fit this file; edit the entry:`,
        ...changes,
        `then ${next}`,
      ].join('\n')
}

function renaming(
  newColumns: readonly { readonly column: string }[],
  missingFields: readonly { readonly name: string }[],
): string[] {
  const [[column], [field]] = [newColumns, missingFields]
  if (newColumns.length > 1 || missingFields.length > 1 || column === undefined || field === undefined)
    return []
  const rename = JSON.stringify({ [column.column]: field.name })
  return [`  or, if the column only has a new name, keep the field, and declare source.rename: ${rename}`]
}

function fits(detectedType: string, declared: string): boolean {
  const [from, to] = [numbers.indexOf(detectedType), numbers.indexOf(declared)]
  return detectedType === declared || ['string', 'text'].includes(declared) || (from !== -1 && from <= to)
}
