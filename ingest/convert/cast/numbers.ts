import type { Reading } from '../../../core/catalog/catalog.ts'
import { quotedText } from '../../../core/sql.ts'
import { escapedPattern } from '../../../core/text.ts'

/** Rewrites numbers of a source as text in the plain form of their types, so that nothing is rounded. */

/** A declared space also matches no-break spaces. */
const separators: Readonly<Record<string, string>> = { ' ': '[ \\x{a0}\\x{202f}]', "'": `['\\x{2019}]` }
const spaces = `${separators[' '] ?? ''}*`

const parentheses = '()'

/** RE2: all digits within parentheses, with marks such as `R$` inside or outside. */
const enclosedPattern = String.raw`[^()0-9.,]*\([^()]*\)[^()0-9.,]*`

/** SQL: a minus if the number is negative, and digits with a decimal point, without groups and marks; null for other forms. */
export function plainNumberSql(text: string, reading: Reading): string {
  // The forms are spellings of minus five, such as `-5` or `5-`.
  const leadingSigns = reading.minus.filter((form) => form.endsWith('5')).map((form) => form.slice(0, -1))
  const hasTrailingMinus = reading.minus.includes('5-')
  const withPlainMinus =
    leadingSigns.length === 0
      ? text
      : `regexp_replace(${text}, '^([^0-9]*)[${leadingSigns.join('')}]', '\\1-')`
  const innerReading = { ...reading, marks: reading.marks.filter((mark) => mark !== parentheses) }
  const negativeCases = [
    ...(reading.marks.includes(parentheses)
      ? [
          [
            `regexp_full_match(${withPlainMinus}, ${quotedText(enclosedPattern)})`,
            `regexp_replace(${withPlainMinus}, '[()]', '', 'g')`,
          ] as const,
        ]
      : []),
    ...(hasTrailingMinus
      ? [[`ends_with(${withPlainMinus}, '-')`, `left(${withPlainMinus}, -1)`] as const]
      : []),
  ].map(
    ([condition, number]) => `when ${condition} then '-' || nullif(${bareNumber(number, innerReading)}, '')`,
  )
  const otherSql = bareNumber(withPlainMinus, innerReading)
  return negativeCases.length === 0 ? otherSql : `case ${negativeCases.join(' ')} else ${otherSql} end`
}

/** SQL: a text without groups and marks, in plain form; null if it has another form. */
function bareNumber(text: string, { decimal, groups, marks }: Reading): string {
  if (groups === null && marks.length === 0) {
    return decimal === '.' ? text : `case when not contains(${text}, '.') then replace(${text}, ',', '.') end`
  }
  const separatorPattern = groups === null ? null : (separators[groups] ?? escapedPattern(groups))
  const integerPattern =
    separatorPattern === null ? '[0-9]*' : `(?:[1-9][0-9]{0,2}(?:${separatorPattern}[0-9]{3})+|[0-9]*)`
  const body = `(${integerPattern})(?:${escapedPattern(decimal)}([0-9]*))?((?:[eE][+-]?[0-9]+)?)`
  const markPatterns = marks.filter((mark) => mark !== '+').map(escapedPattern)
  const [marksBefore, marksAfter] =
    markPatterns.length === 0
      ? ['', '']
      : [`(?:(?:${markPatterns.join('|')})${spaces})*`, `(?:${spaces}(?:${markPatterns.join('|')}))*`]
  const sign = marks.includes('+') ? '(-?)\\+?' : '(-?)'
  const pattern = quotedText(
    `${marksBefore}${sign}${marksBefore === '' ? '' : spaces}${marksBefore}${body}${marksAfter}`,
  )
  const part = (number: number): string => `regexp_extract(${text}, ${pattern}, ${number})`
  const [minus, integer, fractionDigits, exponent] = [part(1), part(2), part(3), part(4)]
  const digits = separatorPattern === null ? integer : `regexp_replace(${integer}, '[^0-9]', '', 'g')`
  const fraction = `if(${fractionDigits} = '', '', '.' || ${fractionDigits})`
  return `case when regexp_full_match(${text}, ${pattern})
    then ${minus} || ${digits} || ${fraction} || ${exponent} end`
}

/** SQL of a plain number times a power of ten; null for a number with an exponent. */
export function tenfold(number: string, tenfolds: number): string {
  const pattern = quotedText('(-?)([0-9]*)(?:\\.([0-9]*))?')
  const [sign, integerPart, fraction] = [1, 2, 3].map(
    (part) => `regexp_extract(${number}, ${pattern}, ${part})`,
  )
  const width = Math.abs(tenfolds)
  const shiftedSql =
    tenfolds < 0
      ? `lpad(${integerPart}, greatest(length(${integerPart}), ${width + 1})::integer, '0')[:-${width + 1}] || '.' ||
         right(lpad(${integerPart}, greatest(length(${integerPart}), ${width})::integer, '0'), ${width}) || ${fraction}`
      : `${integerPart} || left(rpad(${fraction}, ${width}, '0'), ${width}) || '.' || substr(${fraction}, ${width + 1})`
  return `case when regexp_full_match(${number}, ${pattern}) and regexp_matches(${number}, '[0-9]')
    then ${sign} || rtrim(rtrim(${shiftedSql}, '0'), '.') end`
}

export function describeNumbers(
  { decimal, groups, marks, minus, tenfolds }: Reading,
  isWhole: boolean,
): string {
  const hasComma = decimal === ',' && !isWhole
  const groupsText = groups === null ? null : `groups of three digits separated by ${JSON.stringify(groups)}`
  const phrases = [
    ...(hasComma ? ['with a decimal comma'] : []),
    ...(groupsText === null
      ? hasComma
        ? ['without separators between groups of digits']
        : []
      : [groupsText]),
    ...(marks.length === 0 ? [] : [`with or without ${marks.join(' or ')} beside it`]),
    ...(minus.length === 0 ? [] : [`negative numbers as ${minus.join(' or ')}`]),
    ...(tenfolds === 0 ? [] : [`then multiplied by ${Number(`1e${tenfolds}`)}`]),
  ]
  return phrases.length === 0 ? '' : ` (${phrases.join(', ')})`
}
