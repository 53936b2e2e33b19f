import type { Field, Reading } from '../../../core/catalog/catalog.ts'
import { asIso, parseDateFormat } from '../../../core/catalog/date-format.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { MomentType } from '../../../core/catalog/types/field-type.ts'
import { quotedText } from '../../../core/sql.ts'
import type { MatchedField } from '../conversion.ts'
import { describeNumbers, plainNumberSql, tenfold } from './numbers.ts'
import { Steps } from './steps.ts'

interface ValueSql {
  readonly text: string
  readonly value: string
  /** SQL condition: the text is null, or a valid value with the same rendering. */
  readonly isGood: string
  readonly expects: string
}

export interface ValuesSql {
  readonly fields: readonly ValueSql[]
  readonly from: string
}

const whiteSpace = quotedText(' \t\n\r\u00a0\u202f\u3000')

/**
 * Converts texts in steps: trim, words for null, dialect, cast, and comparison of the rendering with the
 * text. A text that a step cannot convert is rejected, never changed silently. Each result is a column for
 * the next step.
 * @param from SQL of rows with the texts of the source: c0, c1, ...
 * @param constantOf SQL of the text of a field without a column
 */
export function valuesSql(
  matchedFields: readonly MatchedField[],
  from: string,
  constantOf: (field: string) => string,
): ValuesSql {
  const fieldAt = (index: number): Field => {
    const field = matchedFields[index]?.field
    if (field === undefined) throw new RangeError(`there is no field ${index}`)
    return field
  }
  const steps = new Steps(from)
  const trimmedTexts = steps.next(
    'w',
    matchedFields.map(({ column, field }) => (column === null ? constantOf(field.name) : `c${column}`)),
    (text, index) => withoutSpace(text, fieldAt(index)),
  )
  const texts = steps.next('t', trimmedTexts, (text, index) =>
    withoutNulls(text, fieldAt(index).reading.nulls),
  )
  const plains = steps.next('p', texts, (text, index) => dialectOf(text, fieldAt(index)).plain)
  const scaled = steps.next('m', plains, (plain, index) => {
    const { tenfolds } = fieldAt(index).reading
    return tenfolds === 0 ? plain : tenfold(plain, tenfolds)
  })
  const values = scaled.map((plain, index) => valueOf(plain, fieldAt(index)))
  const validityTests = scaled.map((plain, index) => validitySql(texts[index] ?? '', plain, fieldAt(index)))
  const expressions = matchedFields.map(({ field }, index) => ({
    text: texts[index] ?? '',
    value: values[index] ?? '',
    isGood: validityTests[index] ?? '',
    expects: dialectOf('', field).expects,
  }))
  return { fields: expressions, from: steps.from }
}

function withoutSpace(text: string, { reading }: Field): string {
  return reading.trims ? `nullif(trim(${text}, ${whiteSpace}), '')` : text
}

/** DuckDB's reader returns empty texts as null, so they are restored unless declared as null. */
function withoutNulls(text: string, nulls: readonly string[]): string {
  const words = nulls.filter((word) => word !== '')
  const restoredText = nulls.includes('') ? text : `coalesce(${text}, '')`
  return words.length === 0
    ? restoredText
    : `case when ${restoredText} not in (${words.map(quotedText).join(', ')}) then ${restoredText} end`
}

function dialectOf(text: string, field: Field): { plain: string; expects: string } {
  const { reading } = field
  const type = typeRow(field.type)
  const expects = type.expects(field)
  if (type.dialect === 'words') return { plain: truthSql(text, reading), expects: describeWords(reading) }
  if (type.dialect === 'number' || type.dialect === 'integer') {
    const spelling = describeNumbers(reading, type.dialect === 'integer')
    return { plain: plainNumberSql(text, reading), expects: `${expects}${spelling}` }
  }
  if (type.dialect === 'list' && reading.separator !== null)
    return {
      plain: splitList(text, reading.separator),
      expects: `a list of texts separated by ${reading.separator}`,
    }
  if (type.dialect === 'degrees' && reading.decimal === ',')
    return { plain: `replace(${text}, ',', '.')`, expects: `${expects}, with a decimal comma` }
  if (type.moment !== null && reading.formats.length > 0)
    return momentOf(text, type.moment, reading, type.stored(field))
  return { plain: text, expects }
}

function splitList(text: string, separator: string): string {
  return `to_json(list_transform(string_split(${text}, ${quotedText(separator)}), lambda one: trim(one, ${whiteSpace})))::varchar`
}

function truthSql(text: string, { booleans }: Reading): string {
  const [truths, falseWords] = [booleans.true, booleans.false].map((words) =>
    words.map(quotedText).join(', '),
  )
  return `case when ${text} in (${truths}) then 'true' when ${text} in (${falseWords}) then 'false' end`
}

function describeWords({ booleans }: Reading): string {
  return `${booleans.true.join(', ')} or ${booleans.false.join(', ')}`
}

function momentOf(
  text: string,
  moment: MomentType,
  { formats, timezone, twoDigitYearsFrom }: Reading,
  storedType: string,
): { plain: string; expects: string } {
  const isoTexts = formats.map((formatText) => {
    const format = parseDateFormat(formatText, moment)
    if (format === null) throw new Error(`the catalog let the format ${formatText} pass`)
    return asIso(format, text, { timezone: timezone ?? 'UTC', twoDigitYearsFrom })
  })
  const noun = moment === 'time' ? 'a time of day' : `a valid ${moment}`
  const [onlyIsoText = ''] = isoTexts
  if (isoTexts.length === 1) return { plain: onlyIsoText, expects: `${noun} in the format ${formats.join()}` }
  const validIsoTexts = isoTexts.map(
    (iso) => `case when try_cast(${iso} as ${storedType}) is not null then ${iso} end`,
  )
  const candidates = `list_filter([${validIsoTexts.join(', ')}], lambda one: one is not null)`
  return {
    plain: `case when len(${candidates}) = 1 then ${candidates}[1] end`,
    expects: `${noun} in exactly one of the formats ${formats.join(' or ')}`,
  }
}

function valueOf(plain: string, field: Field): string {
  const type = typeRow(field.type)
  const storedType = type.stored(field)
  return type.value(storedType === 'VARCHAR' ? plain : `try_cast(${plain} as ${storedType})`)
}

/**
 * Returns a condition: the text is null, or has the pattern of the type, and its value, written back, equals
 * its canonical form.
 * @param plain the text in the spelling of the type, such as `1234.5` for `1.234,5`
 */
function validitySql(text: string, plain: string, field: Field): string {
  const type = typeRow(field.type)
  const pattern = type.pattern(field)
  if (pattern === null) return 'true'
  const value = valueOf(plain, field)
  const renderedSql = type.rendered(value)
  // Most texts equal the rendering of their value, which is cheaper to test than the pattern.
  const fullTest = `regexp_full_match(${plain}, ${quotedText(pattern)}) and ${renderedSql} = ${type.canonical(plain, field)}${
    type.representable === undefined ? '' : ` and ${type.representable(plain, value)}`
  }`
  const quickCases = [
    `${renderedSql} = ${plain}`,
    ...(type.equivalenceTests?.(plain, renderedSql) ?? []),
  ].map((test) => `when ${test} and ${type.certain(plain, value)} then true`)
  return `(${text} is null or coalesce(case ${quickCases.join(' ')} else ${fullTest} end, false))`
}
