/** Values in the language of the reader. */

import { withoutFinalZeros } from '../../../core/text.ts'
import { foldText } from '../../../core/folding.ts'
import { isAmount, type Field } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { daysOfPart, type Term } from '../../query/date-parts.ts'
import type { Words } from './en.ts'
import { writtenIn } from './number-formats.ts'

export function isNumber({ type }: Field): boolean {
  return typeRow(type).wire.kind === 'number'
}

export function isTime({ type, kind }: Field): boolean {
  return type === 'date' || type === 'datetime' || kind === 'date'
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))
}

const moneyScale = 4

export function valueText(words: Words, term: Term, value: string | null): string {
  if (value === null) return words.null
  if (value === '') return words.emptyText
  const { digits, grouped, month, shortDay } = writtenIn(words)
  if (term.part !== undefined) {
    const { name } = term.part
    if (name === 'weekday') return words.weekdays[Number(value) - 1] ?? value
    if (name === 'month') return month(value)
    // A week is named after its Monday.
    return name === 'week' ? shortDay(daysOfPart(term, [value])?.[0] ?? value) : value
  }
  const title = term.valueTitles.get(value)
  if (title !== undefined) return title
  if (isTime(term)) {
    const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d.*))?$/.exec(value) ?? []
    if (isDay(day)) return time === '' || time === '00:00:00' ? shortDay(day) : `${shortDay(day)}, ${time}`
  }
  if (term.type === 'bool') return value === 'true' ? words.yes : words.no
  if (isNumber(term)) {
    const isMoney = term.type === 'decimal' && term.scale <= moneyScale
    const short = isMoney || value.includes('e') ? value : withoutFinalZeros(value)
    return isAmount(term) ? grouped(short) : digits(short)
  }
  return value
}

/** Converts a value in the form of `valueText` into the form of the API. */
export function valueFromInput(words: Words, field: Field, text: string): string {
  // An exact value takes precedence over an equal title of another value.
  if (field.valueTitles.has(text)) return text
  const foldedSearch = foldText(text)
  const [titled] = [...field.valueTitles].find(([, title]) => foldText(title) === foldedSearch) ?? []
  if (titled !== undefined) return titled
  if (isNumber(field)) return writtenIn(words).typed(text, field.type === 'integer')
  if (field.type !== 'bool') return text
  const word = text.toLowerCase()
  return word === words.yes ? 'true' : word === words.no ? 'false' : text
}
