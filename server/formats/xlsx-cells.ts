import { withoutFinalZeros } from '../../core/text.ts'
import { isAmount, type Field } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { dateOf } from '../../core/catalog/types/date.ts'
import { csvOf } from './csv.ts'

/** Formats by style; `workbook.ts` writes them in this order. */
export const numberFormats = [
  'General',
  '@',
  '0',
  'yyyy-mm-dd',
  'yyyy-mm-dd hh:mm:ss',
  ...Array.from({ length: 7 }, (_, scale) => `#,##0${scale === 0 ? '' : `.${'0'.repeat(scale)}`}`),
] as const

export const cellStyles = {
  general: 0,
  text: 1,
  whole: 2,
  date: 3,
  datetime: 4,
  /** Styles by number of decimal places. */
  amounts: [5, 6, 7, 8, 9, 10, 11],
  heading: numberFormats.length,
} as const

const digitsMax = 15
/** Smaller decimals are always number cells: Excel shows at least three of their decimal places. */
const wholeMax = 1_000_000_000_000
/** Excel's day number for 1970-01-01. */
const unixDay = 25_569
const firstDay = 61
const dayMs = 86_400_000
/** Character limit of a cell; a text with no more bytes always fits. */
const textMax = 32_767
/** Characters kept of a longer text; some count as two in Excel. */
const keptMax = 16_000

/** XML cannot contain control characters; their symbols begin with U+2400 for NUL. */
const controls = Array.from({ length: 32 }, (_, code) => code).filter((code) => ![9, 10, 13].includes(code))
const symbols = String.fromCharCode(...controls.map((code) => 0x2400 + code), 0xfffd, 0xfffd)
const unwritable = String.fromCharCode(...controls, 0xfffe, 0xffff)
/** Excel reads `_x0041_` as A. */
const escapeStart = '_(x[0-9A-Fa-f]{4})'

/** Number, day or moment if Excel keeps it exactly, else text. */
export function cellOf(json: string, field: Field): string {
  const { isText, moment, wire } = typeRow(field.type)
  if (wire.kind === 'truth') return truthCell(json === 'true' ? '1' : '0')
  const text = csvOf(json, field)
  if (wire.kind === 'number') {
    const isExact = field.type === 'float' || isExactInExcel(text, field.type)
    return isExact ? numberCell(text, numberStyle(field)) : textCell(text)
  }
  if (moment === 'date') return dayCell(text)
  if (moment === 'datetime') {
    const [day = '', time = ''] = text.split('T')
    if (serialOf(day) < firstDay || time.length > 'hh:mm:ss.sss'.length) return textCell(text)
    const fraction = Date.parse(`1970-01-01T${time}Z`) / dayMs
    return numberCell(String(serialOf(day)) + fraction.toFixed(12).slice(1), cellStyles.datetime)
  }
  if (field.kind === 'date' && isText && /^\d{4}-\d\d-\d\d$/.test(text) && dateOf(text) !== null)
    return dayCell(text)
  return textCell(text)
}

function dayCell(day: string): string {
  const days = serialOf(day)
  return days < firstDay ? textCell(day) : numberCell(String(days), cellStyles.date)
}

function serialOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / dayMs + unixDay
}

/**
 * SQL of the XML of a cell: a number, date or truth value if XLSX keeps it exactly; otherwise text. In the
 * cells below, `\0` marks the place of the value, and a time is a fraction of its day.
 */
export function cellSql(field: Field): string {
  const { csv, isText, moment, wire } = typeRow(field.type)
  const column = `part.${quotedName(field.name)}`
  const asText = textSql(`${csv(column)}::varchar`)
  const numberOrText = (isExact: string, number: string, style: number): string =>
    `case when ${isExact} then ${aroundSql(numberCell('\0', style), number)} else ${asText} end`
  const cell = (): string => {
    if (wire.kind === 'truth') return aroundSql(truthCell('\0'), `${column}::utinyint`)
    if (wire.kind === 'number')
      return numberOrText(isExactInExcelSql(field, column), `${csv(column)}::varchar`, numberStyle(field))
    const isDay = moment === 'date' || (field.kind === 'date' && isText)
    if (!isDay && moment !== 'datetime') return asText
    const daysSql = `date_diff('day', date '1899-12-30', try_cast(${column} as date))`
    const andIsIsoSql = isText ? ` and regexp_full_match(${column}, '\\d{4}-\\d\\d-\\d\\d')` : ''
    if (isDay) return numberOrText(`${daysSql} >= ${firstDay}${andIsIsoSql}`, daysSql, cellStyles.date)
    const msOfDaySql = `(epoch_ms(${column}) - epoch_ms(date_trunc('day', ${column})))`
    const pointAndDecimalsSql = `substr(printf('%.12f', ${msOfDaySql} / ${dayMs}::double), 2)`
    const serial = `${daysSql} || ${pointAndDecimalsSql}`
    return numberOrText(
      `${daysSql} >= ${firstDay} and epoch_us(${column}) % 1000 = 0`,
      serial,
      cellStyles.datetime,
    )
  }
  return `coalesce(${cell()}, '<c/>')`
}

/** Returns whether Excel shows all digits; a decimal below `wholeMax` may lose late decimal places. */
function isExactInExcel(text: string, type: Field['type']): boolean {
  if (type === 'decimal' && Math.abs(Number(text)) < wholeMax) return true
  return withoutFinalZeros(text).replaceAll(/\D/g, '').replace(/^0+/, '').length <= digitsMax
}

function isExactInExcelSql({ type, precision, scale }: Field, column: string): string {
  if (type === 'integer')
    return `${column} between -1e${digitsMax}::bigint + 1 and 1e${digitsMax}::bigint - 1`
  if (type === 'float' || precision <= digitsMax) return `${column} is not null`
  const text = scale === 0 ? `${column}::varchar` : `rtrim(${column}::varchar, '0')`
  return `(abs(${column}::double) < ${wholeMax} or length(ltrim(translate(${text}, '-.', ''), '0')) <= ${digitsMax})`
}

function numberStyle(field: Field): number {
  if (!isAmount(field)) return cellStyles.whole
  const digits = field.type === 'float' ? null : field.type === 'decimal' ? field.scale : 0
  return digits === null ? cellStyles.general : (cellStyles.amounts[digits] ?? cellStyles.general)
}

function numberCell(number: string, style: number): string {
  return `<c s="${style}"><v>${number}</v></c>`
}

function truthCell(digit: string): string {
  return `<c t="b"><v>${digit}</v></c>`
}

export function textCell(text: string, style: number = cellStyles.text): string {
  return tagged(cellText(text), style)
}

function tagged(xml: string, style: number): string {
  return `<c s="${style}" t="inlineStr"><is><t xml:space="preserve">${xml}</t></is></c>`
}

function textSql(text: string): string {
  const mark = `' [cut: ' || length(${text}) || ' characters]'`
  const fitting = `case when strlen(${text}) > ${textMax} then left(${text}, ${keptMax}) || ${mark} else ${text} end`
  // A statement cannot contain NUL.
  const translatedSql = `translate(${fitting}, chr(0) || ${quotedText(unwritable.slice(1))}, '${symbols}')`
  const escaped = `regexp_replace(${translatedSql}, '${escapeStart}', '_x005F_\\1', 'g')`
  const xml = entities.reduce(
    (sql, [character, entity]) => `replace(${sql}, ${quotedText(character)}, '${entity}')`,
    escaped,
  )
  return aroundSql(tagged('\0', cellStyles.text), xml)
}

export function cellText(text: string): string {
  const points = Buffer.byteLength(text) > textMax ? Array.from(text) : null
  const fitting =
    points === null ? text : `${points.slice(0, keptMax).join('')} [cut: ${points.length} characters]`
  const escapedSql = Array.from(unwritable).reduce(
    (result, character, index) => result.replaceAll(character, symbols.charAt(index)),
    fitting,
  )
  const escaped = escapedSql.replaceAll(new RegExp(escapeStart, 'g'), '_x005F_$1')
  return entities.reduce((result, [character, entity]) => result.replaceAll(character, entity), escaped)
}

const entities = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\r', '&#13;'],
] as const

function aroundSql(text: string, value: string): string {
  const [before = '', after = ''] = text.split('\0')
  return `(${quotedText(before)} || ${value} || ${quotedText(after)})`
}
