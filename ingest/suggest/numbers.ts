import { visibleJson } from '../../core/text.ts'
import { minusForms, type MinusForm } from '../../core/catalog/names.ts'

export interface NumberForm {
  readonly decimal: '.' | ','
  readonly groups: string | null
  readonly marks: readonly string[]
  /** Spellings of negative numbers besides -5. */
  readonly minus: readonly MinusForm[]
  /** Maximum digits before and after the point. */
  readonly integerDigits: number
  readonly scale: number
  readonly hasExponent: boolean
  /** True for a point even without digits after it, as in `5.`. */
  readonly hasPoint: boolean
}

/** Loss of texts as numbers, such as `digits with a plus, which a number would lose`, or a question about it. */
export type LossyNumbers =
  | { readonly loss: string; readonly question: null }
  | { readonly loss: null; readonly question: string }

/** A separator may be decimal or grouping, so that a person must choose. */
export interface AmbiguousNumbers {
  readonly example: string
  readonly separator: '.' | ','
}

/** Longest first, so that `US$` does not match as `$`. */
const knownMarks = ['US$', 'R$', '€', '£', '$', '%', '+']
const markPattern = knownMarks.map((mark) => mark.replaceAll(/[$+]/g, '\\$&')).join('|')
const spaces = '[ \\u00a0\\u202f]*'
const markedPattern = new RegExp(
  `^((?:(?:${markPattern})${spaces})*)([-+\\u2212\\u2013]?)${spaces}((?:(?:${markPattern})${spaces})*)([0-9.,' \\u00a0\\u202f\\u2019]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?)((?:${spaces}(?:${markPattern}))*)$`,
)

interface Bare {
  readonly digits: string
  readonly sign: string
  /** Null for `-5` and `(5)`. */
  readonly minus: MinusForm | null
  readonly marks: readonly string[]
}

const parentheses = '()'

/** The pattern takes quadratic time. */
const lengthMax = 400

function bareOf(text: string): Bare | null {
  if (text.length > lengthMax) return null
  const [, before = '', inner, after = ''] = /^([^()\d.,]*)\(([^()]*)\)([^()\d.,]*)$/.exec(text) ?? []
  const isBehind = text.endsWith('-')
  const number = plainOf(inner === undefined ? (isBehind ? text.slice(0, -1) : text) : before + inner + after)
  if (inner === undefined && !isBehind) return number
  // A dash after a separator stands for cents: 12,- is no negative number.
  if (isBehind && /[.,]-$/.test(text)) return null
  // A number cannot have two signs.
  if (number === null || number.sign !== '') return null
  return inner === undefined
    ? { ...number, sign: '-', minus: '5-' }
    : { ...number, marks: [parentheses, ...number.marks] }
}

const otherSigns: Readonly<Record<string, MinusForm>> = { '\u2212': '\u22125', '\u2013': '\u20135' }

function plainOf(text: string): Bare | null {
  const [, before = '', sign = '', within = '', digits, after = ''] = markedPattern.exec(text) ?? []
  if (digits === undefined) return null
  const affixes = [before, within, after].join(' ')
  const marks = [...affixes.matchAll(new RegExp(markPattern, 'g'))].map(([mark]) => mark)
  const minus = otherSigns[sign] ?? null
  return {
    digits,
    sign: minus === null ? sign : '-',
    minus,
    marks: sign === '+' ? ['+', ...marks] : marks,
  }
}

const groupings = ['.', ',', ' ', "'"] as const
const groupClass = { '.': '\\.', ',': ',', ' ': '[ \\u00a0\\u202f]', "'": "['\\u2019]" } as const

type Grouping = (typeof groupings)[number] | null

const allForms = (['.', ','] as const).flatMap((decimal) =>
  [null, ...groupings].flatMap((groups: Grouping) => {
    if (groups === decimal) return []
    const integerPart =
      groups === null ? '[0-9]*' : `(?:[1-9][0-9]{0,2}(?:${groupClass[groups]}[0-9]{3})+|[0-9]*)`
    const point = decimal === '.' ? '\\.' : ','
    const pattern = new RegExp(`^(?=.*[0-9])${integerPart}(?:${point}[0-9]*)?(?:[eE][+-]?[0-9]+)?$`)
    return [{ decimal, groups, pattern }]
  }),
)

/**
 * Finds the notation of numbers.
 * @param knownDecimal decimal separator of other columns
 * @returns an example for a person if the texts have several readings, would lose digits, or seem to
 * enumerate, such as 1.9 and 1.10; null if they have no common notation, or are rather codes or notes
 */
export function numberForm(
  texts: readonly string[],
  knownDecimal?: NumberForm['decimal'],
): NumberForm | AmbiguousNumbers | LossyNumbers | null {
  const bareNumbers: Bare[] = []
  for (const text of texts) {
    const number = bareOf(text)
    if (number === null) return null
    bareNumbers.push(number)
  }
  // If all values have parentheses, they mean a note or a code.
  if (bareNumbers.every(({ marks }) => marks.includes(parentheses)) || isOpenEnded(bareNumbers)) return null
  const digitTexts = bareNumbers.map(({ digits }) => digits)
  const [chosenForm, ...furtherForms] = fittingForms(digitTexts, knownDecimal)
  if (chosenForm === undefined) return null
  const loss = lossOf(bareNumbers)
  if (loss !== null) return loss
  const plainNumbers = digitTexts.map((digits) => plainNumber(chosenForm, digits))
  const ambiguousIndex = digitTexts.findIndex((digits, index) =>
    furtherForms.some((form) => Number(plainNumber(form, digits)) !== Number(plainNumbers[index])),
  )
  if (ambiguousIndex !== -1) {
    const separator = digitTexts[ambiguousIndex]?.includes(',') === true ? ',' : '.'
    return { example: texts[ambiguousIndex] ?? '', separator }
  }
  const enumerationExample = enumerationOf(plainNumbers)
  if (enumerationExample !== null) return enumerationQuestion(enumerationExample, chosenForm.decimal)
  return {
    decimal: chosenForm.decimal,
    groups: chosenForm.groups,
    marks: [...knownMarks, parentheses].filter((mark) =>
      bareNumbers.some(({ marks }) => marks.includes(mark)),
    ),
    minus: minusForms.filter((form) => bareNumbers.some(({ minus }) => minus === form)),
    integerDigits: Math.max(...plainNumbers.map((text) => /^0*([0-9]*)/.exec(text)?.[1]?.length ?? 0), 1),
    scale: Math.max(...plainNumbers.map((text) => /\.([0-9]*)/.exec(text)?.[1]?.length ?? 0)),
    hasExponent: plainNumbers.some((text) => /e/i.test(text)),
    hasPoint: plainNumbers.some((text) => text.includes('.')),
  }
}

type Separators = (typeof allForms)[number]

function fittingForms(
  digitTexts: readonly string[],
  knownDecimal: NumberForm['decimal'] | undefined,
): Separators[] {
  const isUsed = (sign: string): boolean =>
    digitTexts.some((digits) =>
      sign === ' ' || sign === "'" ? new RegExp(groupClass[sign]).test(digits) : digits.includes(sign),
    )
  return allForms.filter(({ decimal, groups, pattern }) => {
    if (knownDecimal !== undefined && decimal !== knownDecimal) return false
    if (groups !== null && !isUsed(groups)) return false
    // A decimal comma is declared only if a text has one, or if dots separate groups: decimals need a comma then.
    if (decimal === ',' && groups !== '.' && !isUsed(decimal)) return false
    return digitTexts.every((digits) => pattern.test(digits))
  })
}

function plainNumber({ decimal, groups }: Separators, digits: string): string {
  const ungrouped = groups === null ? digits : digits.replaceAll(new RegExp(groupClass[groups], 'g'), '')
  return decimal === ',' ? ungrouped.replace(',', '.') : ungrouped
}

/** Maximum span of positions in an enumeration, per position that occurs. */
const gapsMax = 4

/**
 * Finds texts that enumerate parts, such as 1.9, 1.10 and 1.11: no part such as 05 occurs, one ends in 0,
 * another has one digit, and few parts are missing or both 1.1 and 1.10 occur.
 * @returns two such texts; null for numbers
 */
function enumerationOf(plainNumbers: readonly string[]): readonly [string, string] | null {
  const fractions = plainNumbers.map((text) => /^\d+\.(0+|[1-9]\d*)$/.exec(text)?.[1] ?? null)
  if (fractions.some((part, index) => part === null && !/^\d+$/.test(plainNumbers[index] ?? ''))) return null
  const textEndingInZero = plainNumbers.find((_, index) => /^[1-9]\d*0$/.test(fractions[index] ?? ''))
  const singleDigits = plainNumbers.filter((_, index) => /^[1-9]$/.test(fractions[index] ?? ''))
  if (textEndingInZero === undefined || singleDigits.length === 0) return null
  const positions = new Set(fractions.filter((part) => part !== null).map(Number))
  const equalNumber = singleDigits.find((text) => Number(text) === Number(textEndingInZero))
  const neighbourCount = [...positions].filter(
    (position) => positions.has(position - 1) || positions.has(position + 1),
  ).length
  const arePositionsClose = Math.max(...positions) - Math.min(...positions) <= gapsMax * positions.size
  const numbers = new Set(plainNumbers.map(Number))
  const haveTwoSpellings = numbers.size <= plainNumbers.length / 2
  const hasNeighbours = neighbourCount >= positions.size / 2
  const isListWithPair = equalNumber !== undefined && (hasNeighbours || haveTwoSpellings)
  if (!arePositionsClose && !isListWithPair) return null
  return [equalNumber ?? singleDigits.at(-1) ?? '', textEndingInZero]
}

function enumerationQuestion(examples: readonly [string, string], decimal: '.' | ','): LossyNumbers {
  const [first, ten] = examples.map((text) => visibleJson(decimal === ',' ? text.replace('.', ',') : text))
  const scale = examples[1].length - examples[1].indexOf('.') - 1
  const comma = decimal === ',' ? ', decimal: ","' : ''
  return {
    loss: null,
    question: `say whether ${first ?? ''} and ${ten ?? ''} count parts, and stay texts, or are numbers: type: decimal, scale: ${scale}${comma}`,
  }
}

export function isAmbiguous(form: object): form is AmbiguousNumbers {
  return 'separator' in form
}

export function isLossy(form: object): form is LossyNumbers {
  return 'loss' in form
}

/**
 * A trailing minus means codes or open ranges, such as `2019-`, if all texts have it, or no number has a
 * point or comma.
 */
function isOpenEnded(numbers: readonly Bare[]): boolean {
  const trailingMinus = numbers.filter(({ minus }) => minus === '5-')
  return (
    trailingMinus.length === numbers.length ||
    (trailingMinus.length > 0 && !numbers.some(({ digits }) => /[.,]/.test(digits)))
  )
}

const lossyNumbers = (loss: string): LossyNumbers => ({ loss, question: null })

/** Returns what texts would lose if stored as numbers, such as leading zeros; null for none. */
function lossOf(numbers: readonly Bare[]): LossyNumbers | null {
  if (numbers.some(({ digits }) => /^0[0-9]/.test(digits)))
    return lossyNumbers('digits, some with a leading zero, which a number would lose')
  const isNegative = ({ sign, marks }: Bare): boolean => sign === '-' || marks.includes(parentheses)
  if (numbers.some(({ marks }) => marks.includes('+')) && !numbers.some(isNegative))
    return lossyNumbers('digits with a plus, which a number would lose')
  const isExponential = numbers.some(({ digits }) => /e/i.test(digits))
  if (isExponential && !numbers.some(({ digits }) => /[.,]/.test(digits)))
    return lossyNumbers(
      'digits around an E, such as 1E5, which may be codes: declare type: float if they are numbers',
    )
  return lossOfDifferentMarks(numbers)
}

function lossOfDifferentMarks(numbers: readonly Bare[]): LossyNumbers | null {
  const countsByMarks = new Map<string, number>()
  for (const { marks } of numbers) {
    const marksOfText = valueMarks(marks).join(' ')
    countsByMarks.set(marksOfText, (countsByMarks.get(marksOfText) ?? 0) + 1)
  }
  if (countsByMarks.size < 2) return null
  const phrases = [...countsByMarks].map(([marks, count]) => `${count} with ${marks === '' ? 'none' : marks}`)
  const question = `say what these marks mean, since a number would lose them: of ${numbers.length} different values, ${phrases.join(', ')}`
  return { loss: null, question }
}

export function valueMarks(marks: readonly string[]): string[] {
  return [...new Set(marks)].filter((mark) => mark !== '+' && mark !== parentheses).toSorted()
}
