import { counted, visibleJson } from '../../core/text.ts'
import type { FieldFacts } from '../convert/cast/trial.ts'
import { formatCount, type SeenColumn, type SuggestedField } from './field.ts'
import { dayName, momentKeys, centuryQuestion, writtenAs } from './moment-field.ts'
import { momentForm, momentsOf } from './moments.ts'
import { isWhole, notationKeysOf } from './number-field.ts'
import { isAmbiguous, isLossy, numberForm, type NumberForm } from './numbers.ts'
import { cpfsAmong } from './personal.ts'
import { nullWords } from './words.ts'

const longText = 255
const mostShare = 0.5

/** Suggests text, and asks about meanings that values leave open. */
export function textField(
  { name, texts }: SeenColumn,
  valueTexts: readonly string[],
  nulls: object,
  doubtfulNulls: readonly string[],
): SuggestedField {
  const nullsQuestion =
    doubtfulNulls.length === 0
      ? null
      : `say whether ${doubtfulNulls.map((text) => visibleJson(text)).join(' and ')} (${formatCount(doubtfulNulls.reduce((sum, text) => sum + (texts.get(text) ?? 0), 0))} times) are texts or mean null; if null, declare nulls: ${JSON.stringify(['', ...doubtfulNulls])}`
  const longestSeen = Math.max(...valueTexts.map((text) => text.length))
  const cpfs = cpfsAmong(valueTexts)
  const example = valueTexts.find((text) => cpfs?.texts.has(text) !== true)
  const valueCount = [...texts].reduce((sum, [text, count]) => (nullWords.has(text) ? sum : sum + count), 0)
  const dateQuestion = centuryQuestion(valueTexts)
  const textEvidence = ({ filled, longest }: FieldFacts): string =>
    example === undefined
      ? ''
      : `${counted(filled, 'text')} of at most ${counted(longest, 'character')}, such as ${visibleJson(example.slice(0, 40))}`
  const keys = { type: longestSeen > longText ? 'text' : 'string', ...nulls }
  const probe = probeOf(name, texts, valueTexts, valueCount)
  if (dateQuestion !== null) return { keys, evidence: () => '', question: dateQuestion, probe }
  return {
    keys,
    evidence: (facts) =>
      [textEvidence(facts), cpfs?.evidence(facts) ?? ''].filter((part) => part !== '').join('; '),
    isNotable: cpfs !== null,
    question: example === undefined ? null : nullsQuestion,
    probe,
  }
}

/** Returns whether to trim white space: most texts have it, and different texts stay different without it. */
export function isPadded({ hasPaddedName = false }: SeenColumn, valueTexts: readonly string[]): boolean {
  const padded = valueTexts.filter((text) => text !== text.trim()).length
  const isUsual = padded >= (hasPaddedName ? 1 : valueTexts.length / 2) && padded > 0
  return isUsual && new Set(valueTexts.map((text) => text.trim())).size === valueTexts.length
}

export function trimmedField(
  { keys, probe, evidence, ...field }: SuggestedField,
  valueTexts: readonly string[],
): SuggestedField {
  const example = valueTexts.find((text) => text !== text.trim()) ?? ''
  const note = `${visibleJson(example)} is read without the spaces around it`
  return {
    ...field,
    keys: { ...keys, trim: true },
    probe: probe === null ? null : { ...probe, keys: { ...probe.keys, trim: true } },
    evidence: (facts) => [evidence(facts), note].filter((part) => part !== '').join('; '),
    isNotable: true,
  }
}

/** Type that at least half of the values have, so that the trial can count the others. */
function probeOf(
  name: string,
  texts: ReadonlyMap<string, number>,
  valueTexts: readonly string[],
  valueCount: number,
): SuggestedField['probe'] {
  const isMajority = (sample: readonly string[]): boolean => {
    const count = sample.reduce((sum, text) => sum + (texts.get(text) ?? 0), 0)
    // One odd value may come from a line that is not a row.
    const isAllButOne = count === valueCount - 1 && count > 1
    return (
      sample.length > 0 &&
      sample.length < valueTexts.length &&
      (isAllButOne || count >= mostShare * valueCount)
    )
  }
  const days = dayName.test(name)
    ? valueTexts.filter((text) => /^\d{8}$/.test(text) && momentsOf(text).length > 0)
    : []
  if (isMajority(days)) return { keys: { type: 'date', format: 'yyyymmdd' }, description: 'written yyyymmdd' }
  const forms = valueTexts.map((text) => numberForm([text]))
  for (const decimal of ['.', ','] as const) {
    const numbers = valueTexts.filter((_, index) => isWrittenWith(decimal, forms[index] ?? null))
    const form = isMajority(numbers) ? numberForm(numbers) : null
    if (form === null || isAmbiguous(form) || isLossy(form)) continue
    // A type must not be advised if a text such as 007 would lose something.
    const isNumberLike = (_: string, index: number): boolean =>
      isWrittenWith(decimal, forms[index] ?? null) || isLossForm(forms[index])
    if (isLossForm(numberForm(valueTexts.filter(isNumberLike)))) continue
    const description = isWhole(form)
      ? 'whole numbers'
      : `numbers with a decimal ${decimal === ',' ? 'comma' : 'point'}`
    return { keys: { type: isWhole(form) ? 'integer' : 'float', ...notationKeysOf(form) }, description }
  }
  const moments = valueTexts.filter((text) => !/^\d+$/.test(text) && momentsOf(text).length > 0)
  const form = isMajority(moments) ? momentForm(moments) : null
  // An example marks a form with ambiguous day and month.
  if (form === null || 'example' in form) return null
  return { keys: momentKeys(form), description: `written ${writtenAs(form)}` }
}

function isLossForm(form: ReturnType<typeof numberForm> | undefined): boolean {
  return form !== null && form !== undefined && isLossy(form)
}

function isWrittenWith(decimal: NumberForm['decimal'], form: ReturnType<typeof numberForm>): boolean {
  if (form === null || isLossy(form)) return false
  return isAmbiguous(form) || form.decimal === decimal || (form.scale === 0 && form.groups === null)
}
