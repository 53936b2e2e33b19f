import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'

/** In characters; longer ones are in no table. */
export const valueLengthMax = 1000

/** A value of a field as it stands in an address, in its one way of writing; null where it is no value of its type. */
export function readValue(field: Field, text: string): string | null {
  return isTextValue(text) ? typeRow(field.type).parse(text, field) : null
}

/** What any text must be that is compared with others. */
export function isTextValue(text: string): boolean {
  return text.length <= valueLengthMax && !text.includes('\0')
}

/** What `readValue` takes, as the end of a sentence. */
export function expectedValue(field: Field): string {
  const { isText, expectsInQuery, expects } = typeRow(field.type)
  if (isText) return `a text of at most ${valueLengthMax} characters, none of them NUL`
  return expectsInQuery ?? expects(field)
}

/** Negative where `a` comes before `b`, as DuckDB orders them; both as `readValue` writes them. */
export function compareValues({ type }: Pick<Field, 'type'>, a: string, b: string): number {
  return typeRow(type).compare(a, b)
}

/**
 * The values that are equal to some of these for readers: the same texts in the normal forms of Unicode, of which sources
 * use NFC or NFD.
 */
export function equalValues({ type }: Pick<Field, 'type'>, values: readonly string[]): readonly string[] {
  if (!typeRow(type).isText && typeRow(type).parts !== 'texts') return values
  if (values.every((value) => /^[\0-\x7f]*$/.test(value))) return values
  return [...new Set(values.flatMap((value) => [value, value.normalize('NFC'), value.normalize('NFD')]))]
}

/** The characters that `__iexact` ignores at the ends of a text, in every engine. */
export const blanks = ' \t\r\n'

/** Removes the blanks at both ends of a text. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && blanks.includes(text.charAt(start))) start += 1
  while (end > start && blanks.includes(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}
