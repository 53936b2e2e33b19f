import type { Field, Table } from '../../../core/catalog/catalog.ts'
import { partsOf, type Term } from '../../query/date-parts.ts'
import type { Measure } from '../../query/measures.ts'
import type { Words } from './en.ts'

/** Titles of tables, fields and measures for people. */

export function titleOf({ title, name }: Pick<Field, 'title' | 'name'>): string {
  return title ?? name
}

/** A part of a table's first date field has a short title, such as `Week`. */
export function termTitle(words: Words, { part, ...field }: Term, table?: Pick<Table, 'fields'>): string {
  if (part === undefined) return titleOf(field)
  const first = table?.fields.find((fieldName) => partsOf(table, fieldName).length > 0)
  return first?.name === part.base.name
    ? words.partNames[part.name]
    : words.parts[part.name](withinSentence(titleOf(part.base)))
}

/** A declared sum has the title of its field. */
export function measureTitle(
  words: Words,
  { name, aggregate, field }: Measure,
  { measures, chart }: Table,
): string {
  if (field === null) return words.rowsHead
  const isDeclared = measures.includes(field.name) || chart?.measure === name
  const title = titleOf(field)
  return aggregate === 'sum' && isDeclared ? title : words.measured[aggregate](withinSentence(title))
}

/**
 * Makes the first letter lowercase, unless the title begins with an abbreviation such as `CNPJ`, or has one
 * letter.
 */
export function withinSentence(title: string): string {
  return /^\p{Lu}\p{Ll}/u.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title
}
