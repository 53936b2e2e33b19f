import type { Hint } from '../selection/selections.ts'

/**
 * The header of an empty answer that names the values nearest to those asked for, such as
 * `city: nearest "S%C3%A3o Paulo"; try city__iexact`. Names and values are percent-encoded but for blanks in values; hints have commas between.
 */
export function hintHeader(hints: readonly Hint[] = []): { 'Acervo-Hint'?: string } {
  const texts = hints.map(({ field, nearest, isSameInAnyCase }) => {
    const name = encodeURIComponent(field.name)
    const text = `${name}: nearest "${encodeURIComponent(nearest).replaceAll('%20', ' ')}"`
    return isSameInAnyCase ? `${text}; try ${name}__iexact` : text
  })
  return texts.length === 0 ? {} : { 'Acervo-Hint': texts.join(', ') }
}
