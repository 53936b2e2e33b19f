import type { SourceForm } from '../../core/catalog/catalog.ts'
import { asIso, parseDateFormat } from '../../core/catalog/date-format.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedText } from '../../core/sql.ts'
import type { MatchedField } from './match.ts'

/** How one field gets its values, as SQL over the texts c0, c1, ... of the source. */
export interface ValueSql {
  /** What the source says; null for its words for null. */
  readonly text: string
  /** The value as it is stored; null where the text is not one. */
  readonly value: string
  /** Whether the text is a value (or null), and the value is written out as the text says. */
  readonly isGood: string
  /** What a right text looks like. */
  readonly expects: string
}

/**
 * Text to value in steps that each can only lose a text by making it a reject: words for null, then the dialect
 * rewritten as the plain form of the type (text to text), then the cast, then its rendering compared with the text.
 */
export function valueSql(matched: MatchedField, source: SourceForm): ValueSql {
  const { field } = matched
  const type = typeRow(field.type)
  const text = withoutNulls(given(matched), source.nulls)
  const { plain, expects } = dialectOf(text, matched, source)
  const value = type.value(`try_cast(${plain} as ${type.stored(field)})`)
  return { text, value, expects, isGood: isGood(text, plain, value, matched) }
}

function given({ column, constant }: MatchedField): string {
  if (column !== null) return `c${column}`
  return constant === null || constant === '' ? 'null::varchar' : quotedText(constant)
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
function dialectOf(
  text: string,
  { field }: MatchedField,
  { decimal, booleans }: SourceForm,
): { plain: string; expects: string } {
  const type = typeRow(field.type)
  const expects = type.expects(field)
  if (type.dialect === 'words') {
    const [truths, lies] = [booleans.true, booleans.false].map((words) => words.map(quotedText).join(', '))
    const plain = `case when ${text} in (${truths}) then 'true' when ${text} in (${lies}) then 'false' end`
    return { plain, expects: `${booleans.true.join(', ')} or ${booleans.false.join(', ')}` }
  }
  if (decimal === ',' && type.dialect === 'comma') {
    const plain = `case when not contains(${text}, '.') then replace(${text}, ',', '.') end`
    return { plain, expects: `${expects} (with a decimal comma, digits not grouped)` }
  }
  if (type.moment !== null && field.format !== null) {
    const format = parseDateFormat(field.format, type.moment)
    if (format === null) throw new Error(`the catalog let the format ${field.format} pass`)
    return { plain: asIso(format, text), expects: `a ${field.type} of the calendar as ${field.format}` }
  }
  return { plain: text, expects }
}

function isGood(text: string, plain: string, value: string, { field }: MatchedField): string {
  const type = typeRow(field.type)
  const pattern = type.pattern(field)
  if (pattern === null) return 'true'
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
