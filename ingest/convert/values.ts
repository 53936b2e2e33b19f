import type { Field, Reading } from '../../core/catalog/catalog.ts'
import { asIso, parseDateFormat } from '../../core/catalog/date-format.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { MomentType } from '../../core/catalog/types/field-type.ts'
import { quotedText } from '../../core/sql.ts'
import type { MatchedField } from './match.ts'
import { numbersSaid, plainNumber, tenfold } from './numbers.ts'
import { Steps } from './steps.ts'

/** How one field gets its values, as SQL over `from`. */
interface ValueSql {
  /** What the source says; null for its words for null. */
  readonly text: string
  /** The value as it is stored; null where the text is not one. */
  readonly value: string
  /** Whether the text is a value (or null), and the value is written out as the text says. */
  readonly isGood: string
  /** What a right text looks like. */
  readonly expects: string
}

export interface ValuesSql {
  readonly fields: readonly ValueSql[]
  /** All columns of the texts, and what the fields make of them on the way to their values. */
  readonly from: string
}

/** Whatever is to be trimmed. */
const whiteSpace = quotedText(' \t\n\r\u00a0\u202f\u3000')

/**
 * Text to value in steps that each can only lose a text by making it a reject: white space around it and words for null, then
 * the dialect rewritten as the plain form of the type (text to text), then the cast, then its rendering compared with the
 * text. What a step makes of a text is a column that the next one reads.
 *
 * @param from SQL of the texts of the source, c0, c1, ...
 * @param constantOf SQL of the text of a field that no column fills
 */
export function valuesSql(
  matched: readonly MatchedField[],
  from: string,
  constantOf: (field: string) => string,
  rows: number,
): ValuesSql {
  const fieldAt = (index: number): Field => {
    const field = matched[index]?.field
    if (field === undefined) throw new RangeError(`there is no field ${index}`)
    return field
  }
  const steps = new Steps(from, rows)
  const trimmed = steps.next(
    'w',
    matched.map(({ column, field }) => (column === null ? constantOf(field.name) : `c${column}`)),
    (text, index) => withoutSpace(text, fieldAt(index)),
  )
  const texts = steps.next('t', trimmed, (text, index) => withoutNulls(text, fieldAt(index).reading.nulls))
  const plains = steps.next('p', texts, (text, index) => dialectOf(text, fieldAt(index)).plain)
  const moved = steps.next('m', plains, (plain, index) => {
    const { tenfolds } = fieldAt(index).reading
    return tenfolds === 0 ? plain : tenfold(plain, tenfolds)
  })
  const values = steps.last('v', moved, (plain, index) => valueOf(plain, fieldAt(index)))
  const areGood = steps.last('g', moved, (plain, index) => {
    const isOwn = moved[index] === texts[index]
    return isGood(isOwn ? plain : (texts[index] ?? ''), plain, fieldAt(index))
  })
  const fields = matched.map(({ field }, index) => ({
    text: texts[index] ?? '',
    value: values[index] ?? '',
    isGood: areGood[index] ?? '',
    expects: dialectOf('', field).expects,
  }))
  return { fields, from: steps.from }
}

function withoutSpace(text: string, { reading }: Field): string {
  return reading.trims ? `nullif(trim(${text}, ${whiteSpace}), '')` : text
}

/** The reader makes the empty text null. */
function withoutNulls(text: string, nulls: readonly string[]): string {
  const words = nulls.filter((word) => word !== '')
  const whole = nulls.includes('') ? text : `coalesce(${text}, '')`
  return words.length === 0
    ? whole
    : `case when ${whole} not in (${words.map(quotedText).join(', ')}) then ${whole} end`
}

/** The text as the type's plain form, null where it is not in the dialect. */
function dialectOf(text: string, field: Field): { plain: string; expects: string } {
  const { reading } = field
  const type = typeRow(field.type)
  const expects = type.expects(field)
  if (type.dialect === 'words') return { plain: truth(text, reading), expects: wordsSaid(reading) }
  if (type.dialect === 'number' || type.dialect === 'integer') {
    const said = numbersSaid(reading, type.dialect === 'integer')
    return { plain: plainNumber(text, reading), expects: `${expects}${said}` }
  }
  if (type.dialect === 'list' && reading.separator !== null)
    return {
      plain: splitList(text, reading.separator),
      expects: `texts with ${reading.separator} between`,
    }
  if (type.dialect === 'degrees' && reading.decimal === ',')
    return { plain: `replace(${text}, ',', '.')`, expects: `${expects}, with a decimal comma` }
  if (type.moment !== null && reading.formats.length > 0)
    return momentOf(text, type.moment, reading, type.stored(field))
  return { plain: text, expects }
}

/** As JSON; white space around a text is none of it. */
function splitList(text: string, separator: string): string {
  return `to_json(list_transform(string_split(${text}, ${quotedText(separator)}), lambda one: trim(one, ${whiteSpace})))::varchar`
}

function truth(text: string, { booleans }: Reading): string {
  const [truths, lies] = [booleans.true, booleans.false].map((words) => words.map(quotedText).join(', '))
  return `case when ${text} in (${truths}) then 'true' when ${text} in (${lies}) then 'false' end`
}

function wordsSaid({ booleans }: Reading): string {
  return `${booleans.true.join(', ')} or ${booleans.false.join(', ')}`
}

/** In one of the formats; what could be meant by two of them is none. */
function momentOf(
  text: string,
  moment: MomentType,
  { formats, timezone, twoDigitYearsFrom }: Reading,
  stored: string,
): { plain: string; expects: string } {
  const read = formats.map((said) => {
    const format = parseDateFormat(said, moment)
    if (format === null) throw new Error(`the catalog let the format ${said} pass`)
    return asIso(format, text, { timezone: timezone ?? 'UTC', twoDigitYearsFrom })
  })
  const what = moment === 'time' ? 'a time of day' : `a ${moment} of the calendar`
  const [only = ''] = read
  if (read.length === 1) return { plain: only, expects: `${what} as ${formats.join()}` }
  const valid = read.map((iso) => `case when try_cast(${iso} as ${stored}) is not null then ${iso} end`)
  const all = `list_filter([${valid.join(', ')}], lambda one: one is not null)`
  return {
    plain: `case when len(${all}) = 1 then ${all}[1] end`,
    expects: `${what} as ${formats.join(' or ')}, by one of them alone`,
  }
}

function valueOf(plain: string, field: Field): string {
  const type = typeRow(field.type)
  const stored = type.stored(field)
  return type.value(stored === 'VARCHAR' ? plain : `try_cast(${plain} as ${stored})`)
}

function isGood(text: string, plain: string, field: Field): string {
  const type = typeRow(field.type)
  const pattern = type.pattern(field)
  if (pattern === null) return 'true'
  const value = valueOf(plain, field)
  const rendered = type.rendered(value)
  // Most values are written as they are rendered, which is cheaper to see than the pattern.
  const slow = `regexp_full_match(${plain}, ${quotedText(pattern)}) and ${rendered} = ${type.canonical(plain, field)}${
    type.held === undefined ? '' : ` and ${type.held(plain, value)}`
  }`
  const quick = [`${rendered} = ${plain}`, ...(type.alike?.(plain, rendered) ?? [])].map(
    (sign) => `when ${sign} and ${type.certain(plain, value)} then true`,
  )
  return `(${text} is null or coalesce(case ${quick.join(' ')} else ${slow} end, false))`
}
