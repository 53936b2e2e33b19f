import { parsedJson, visibleJson } from '../../core/text.ts'
import { plainString, questionField, typedField, type SeenColumn, type SuggestedField } from './field.ts'
import { momentField } from './moment-field.ts'
import { numberField } from './number-field.ts'
import { oddityOf } from './oddities.ts'
import { isPadded, textField, trimmedField } from './text-field.ts'
import { booleanWords, doubtfulYes, likelyNulls, unmistakableNulls, nullWords, yesNoName } from './words.ts'

/** Suggests the type and other keys of a field from the distinct texts of its column. */
export function suggestField(column: SeenColumn): SuggestedField {
  const distinctTexts = [...column.texts.keys()]
  const nullTexts = distinctTexts.filter((text) => nullWords.has(text))
  const valueTexts = distinctTexts.filter((text) => !nullWords.has(text))
  const unmistakableNullTexts = nullTexts.filter((text) => unmistakableNulls.has(text))
  const nullKeys = unmistakableNullTexts.length === 0 ? {} : { nulls: ['', ...unmistakableNullTexts] }
  if (valueTexts.length === 0) {
    const field = plainString(() => 'all values are null, so any type would do')
    const keys = { ...field.keys, ...(nullTexts.length > 0 && { nulls: ['', ...nullTexts] }) }
    const notice = nullTexts.length === 0 ? { isNotable: true } : nullsNotice(field, nullTexts)
    return { ...field, keys, ...notice }
  }
  const typedSuggestion = column.isText === true ? null : nonTextField(column, valueTexts, nullTexts)
  if (typedSuggestion !== null && typedSuggestion.keys.type !== 'string') return typedSuggestion
  const doubtfulNulls = nullTexts.filter((text) => !unmistakableNulls.has(text))
  const isTrimmed = isPadded(column, valueTexts)
  const trimmedTexts = isTrimmed ? [...new Set(valueTexts.map((text) => text.trim()))] : valueTexts
  const textCounts = isTrimmed ? trimmedCounts(column.texts) : column.texts
  const plainField =
    typedSuggestion ?? textField({ ...column, texts: textCounts }, trimmedTexts, nullKeys, doubtfulNulls)
  const stringField = isTrimmed ? trimmedField(plainField, valueTexts) : plainField
  const withNulls = { ...stringField, keys: { ...stringField.keys, ...nullKeys } }
  return unmistakableNullTexts.length === 0
    ? withNulls
    : { ...withNulls, ...nullsNotice(stringField, unmistakableNullTexts) }
}

function trimmedCounts(texts: SeenColumn['texts']): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [text, count] of texts) counts.set(text.trim(), (counts.get(text.trim()) ?? 0) + count)
  return counts
}

/** Tries all types but text; null if none fits, text if doubtful. */
function nonTextField(
  column: SeenColumn,
  valueTexts: readonly string[],
  nullTexts: readonly string[],
): SuggestedField | null {
  const trimmedTexts = valueTexts.map((text) => text.trim()).filter((text) => text !== '')
  const hasBlanks =
    trimmedTexts.length < valueTexts.length || trimmedTexts.some((text, index) => text !== valueTexts[index])
  const likelyNullTexts = [...new Set(trimmedTexts.filter((text) => likelyNulls.has(text)))]
  const values = [...new Set(trimmedTexts.filter((text) => !likelyNulls.has(text)))]
  if (values.length === 0) return null
  const nulls = [...new Set([...nullTexts, ...likelyNullTexts])]
  const extraKeys = { ...(hasBlanks && { trim: true }), ...(nulls.length > 0 && { nulls: ['', ...nulls] }) }
  const oddity = oddityOf(values)
  const field =
    (oddity === null ? null : oddField(oddity)) ??
    boolOf(column, values) ??
    numberField(column, values) ??
    momentField(column, values) ??
    jsonOf(values)
  if (field === null || field.keys.type === 'string') return field
  const suggested = { ...field, keys: { ...field.keys, ...extraKeys } }
  return nulls.length === 0 ? suggested : { ...suggested, ...nullsNotice(suggested, nulls) }
}

function oddField({ text, isQuestion }: NonNullable<ReturnType<typeof oddityOf>>): SuggestedField {
  return isQuestion ? questionField(text) : { ...plainString(() => text), isNotable: true }
}

function nullsNotice(
  { evidence }: SuggestedField,
  nulls: readonly string[],
): Pick<SuggestedField, 'evidence' | 'isNotable'> {
  const words = nulls.map((text) => visibleJson(text)).join(', ')
  const sentence = `${words} ${nulls.length === 1 ? 'becomes' : 'become'} null`
  return {
    evidence: (facts) => [evidence(facts), sentence].filter((part) => part !== '').join('; '),
    isNotable: true,
  }
}

/** Field of words for yes and no; text if the words may mean something else. */
function boolOf({ name, isBesideYesNo }: SeenColumn, values: readonly string[]): SuggestedField | null {
  const words = booleanWords.find((pair) => values.every((text) => pair.includes(text)))
  if (words === undefined) return boolInMixedCase(values)
  const isTrueFalse = words[0].toLowerCase() === 'true'
  if (!isTrueFalse && values.length < 2) return null
  if (isTrueFalse) return typedField({ type: 'bool' }, words.join(' or '))
  const booleans = { true: [words[0]], false: [words[1]] }
  if (doubtfulYes.includes(words[0]) && isBesideYesNo !== true && !yesNoName.test(name.toLowerCase())) {
    const evidence = `${words.join(' and ')} may be yes and no, or have another meaning; for yes and no, declare type: bool, booleans: ${JSON.stringify(booleans)}`
    return { ...plainString(() => evidence), isNotable: true }
  }
  return {
    ...typedField({ type: 'bool', booleans }, `${words.join(' or ')}, which become true or false`),
    isNotable: true,
  }
}

function boolInMixedCase(values: readonly string[]): SuggestedField | null {
  const spellingsOf = (word: string): string[] =>
    values.filter((text) => text.toLowerCase() === word.toLowerCase())
  for (const [yes, no] of booleanWords) {
    const booleans = { true: spellingsOf(yes), false: spellingsOf(no) }
    const hasBoth = booleans.true.length > 0 && booleans.false.length > 0
    if (yes.length === 1 || !hasBoth || booleans.true.length + booleans.false.length < values.length) continue
    const words = [...booleans.true, ...booleans.false].join(', ')
    return {
      ...typedField({ type: 'bool', booleans }, `${words}, which become true or false`),
      isNotable: true,
    }
  }
  return null
}

/** The words for yes and no must have no other meaning. */
export function isYesNo({ texts }: SeenColumn): boolean {
  const filledTexts = [...texts.keys()].filter((text) => !nullWords.has(text))
  return booleanWords.some(
    ([yes, no]) =>
      yes.length > 1 && filledTexts.length === 2 && filledTexts.includes(yes) && filledTexts.includes(no),
  )
}

function jsonOf(values: readonly string[]): SuggestedField | null {
  const parsedValues = values.map((text) => (/^[{[]/.test(text) ? parsedJson(text) : undefined))
  if (parsedValues.includes(undefined)) return null
  return parsedValues.every(isTexts)
    ? typedField({ type: 'list' }, 'lists of texts in JSON')
    : typedField({ type: 'json' }, 'JSON')
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
