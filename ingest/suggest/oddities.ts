import { invisibleIn, visibleJson } from '../../core/text.ts'
import { monthsOf } from '../../core/catalog/date-format.ts'

/** Texts that stay texts although they look like numbers or dates. */
interface Oddity {
  readonly text: string
  readonly isQuestion: boolean
}

const statement = (text: string): Oddity => ({ text, isQuestion: false })

const isNumeric = (text: string): boolean => /^\W*\d[\d\s.,:/-]*$/.test(text.replaceAll(/\p{Cf}/gu, ''))

export function oddityOf(values: readonly string[]): Oddity | null {
  const example = visibleJson(values[0] ?? '')
  const isEach = (pattern: RegExp): boolean => values.every((text) => pattern.test(text))
  const formula = values.find((text) => /^="[^"]*"$|^'\d/.test(text))
  if (formula !== undefined)
    return statement(
      `${visibleJson(formula)} has signs of a spreadsheet around its text: remove them from the file`,
    )
  const invisibleTexts = values.filter((text) => /\p{Cf}/u.test(text))
  const [invisibleText] = invisibleTexts
  // If fewer than half the values have invisible characters, another question names them and their lines.
  const areMostInvisible = invisibleTexts.length >= values.length / 2
  if (invisibleText !== undefined && areMostInvisible && values.every(isNumeric))
    return statement(
      `${visibleJson(invisibleText)} has invisible characters (${invisibleIn(invisibleText).join(', ')}): remove them from the file to publish numbers or dates`,
    )
  const dashForCents = values.find((text) => /\d[.,](-{1,2}|[–—])$/.test(text))
  if (dashForCents !== undefined)
    return statement(
      `${visibleJson(dashForCents)} has a dash for cents: write digits in the file to publish numbers`,
    )
  const shortenedNumber = values.find((text) => /^\d[.,]\d{1,5}E\+1\d$/.test(text))
  if (shortenedNumber !== undefined && isEach(/^\d[.,]\d{1,5}E\+1\d$|^\d{9,}$/))
    return statement(
      `${visibleJson(shortenedNumber)} lacks digits, as spreadsheets shorten long numbers: export the column as text`,
    )
  const lakh = values.find((text) => /^\D{0,4}\d{1,2}(,\d{2})+,\d{3}(\.\d+)?$/.test(text))
  if (lakh !== undefined && isEach(/^\D{0,4}[\d,]+(\.\d+)?$/))
    return statement(
      `${visibleJson(lakh)} groups digits by two, as in India: remove the commas to publish numbers`,
    )
  if (isEach(/^-?\d{1,3}\.\d+, ?-?\d{1,3}\.\d+$/)) {
    const isLongitude = values.some((text) => Math.abs(Number.parseFloat(text)) > 90)
    return statement(
      `${example} is a place${isLongitude ? ' with its longitude first' : ': say in its description whether latitude or longitude is first'}`,
    )
  }
  if (values.every(isSchoolYear)) {
    const format = (values[0] ?? '').replace(/^\d{4}/, 'yyyy').replace(/\d\d$/, 'mm')
    return isEach(/(0[1-9]|1[0-2])$/)
      ? {
          text: `say whether ${example} is a month: declare type: date, format: ${format}; otherwise it stays text`,
          isQuestion: true,
        }
      : statement(`${example} names two years, and stays text`)
  }
  const [, name = '', sign = ''] = /^(\p{L}+\.?)([-/ ])\d\d$/u.exec(values[0] ?? '') ?? []
  const [month] = monthsOf(name)
  if (
    month !== undefined &&
    values.every((text) => monthsOf(text.slice(0, -3)).length > 0 && hasYearAtEnd(text, sign))
  )
    return {
      text: `say whether ${example} is a month of a year: declare type: date, format: ${month.word}${sign}yy; otherwise it stays text`,
      isQuestion: true,
    }
  return null
}

const hasYearAtEnd = (text: string, sign: string): boolean => text.at(-3) === sign && /\d\d$/.test(text)

function isSchoolYear(text: string): boolean {
  const [, first, second] = /^(\d{4})[-/](\d\d)$/.exec(text) ?? []
  return first !== undefined && (Number(first) + 1) % 100 === Number(second)
}

/** Notes on numbers: their unit is %, one may stand for missing values, or they may be dates. */
export function numberNotes(values: readonly string[], marks: readonly string[]): string[] {
  const missingValue = values.find((text) => /^-9{3,}([.,]0*)?$/.test(text))
  const areDays = values.every((text) => /^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])(19|20)\d\d$/.test(text))
  return [
    ...(marks.includes('%') ? ['the unit is %'] : []),
    ...(missingValue === undefined
      ? []
      : [
          `${visibleJson(missingValue)} may mean a missing value: declare nulls: ${JSON.stringify(['', missingValue])} if it does`,
        ]),
    ...(areDays ? ['they may be days: declare type: date, format: ddmmyyyy if they are'] : []),
  ]
}
