import type { Field } from '../../core/catalog/catalog.ts'
import { typeRow, type FieldType } from '../../core/catalog/field-types.ts'

/** Text of an address -> the one way in which the value is written from there on; null where it is none of the type. */
type Reader = (text: string, field: Field) => string | null

const readText: Reader = (text) => text

const readers: Record<FieldType, Reader> = {
  string: readText,
  text: readText,
  integer: (text, field) => {
    if (!matches(text, field)) return null
    const number = BigInt(text)
    return BigInt.asIntN(64, number) === number ? String(number) : null
  },
  float: (text, field) => {
    if (!matches(text, field)) return null
    const number = Number(text)
    return Number.isFinite(number) ? String(number === 0 ? 0 : number) : null
  },
  decimal: (text, field) => {
    if (!matches(text, field)) return null
    const [, minus = '', whole = '', fraction = ''] = /^(-?)0*(\d+)(?:\.(\d*))?$/.exec(text) ?? []
    const digits = `${whole}${field.scale === 0 ? '' : `.${fraction.padEnd(field.scale, '0').slice(0, field.scale)}`}`
    return /[1-9]/.test(digits) ? `${minus}${digits}` : digits
  },
  bool: (text) => readTruth(text),
  date: (text) => dateOf(text),
  datetime: (text) => {
    const [, day = '', time = '00:00:00', fraction = ''] =
      /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}:\d{2})(\.\d{1,6})?)?$/.exec(text) ?? []
    if (dateOf(day) === null || !/^([01]\d|2[0-3])(:[0-5]\d){2}$/.test(time)) return null
    return `${day} ${time}${fraction.replace(/\.?0*$/, '')}`
  },
}

/** One of the words for true or false, in any case; null where it is none. */
export function readTruth(text: string): 'true' | 'false' | null {
  const word = text.toLowerCase()
  if (word === 'true' || word === '1') return 'true'
  return word === 'false' || word === '0' ? 'false' : null
}

/** In characters; longer ones are in no table. */
export const valueLengthMax = 1000

/** A value of a field as it stands in an address, in its one way of writing; null where it is no value of its type. */
export function readValue(field: Field, text: string): string | null {
  return isTextValue(text) ? readers[field.type](text, field) : null
}

/** What any text must be that is compared with others. */
export function isTextValue(text: string): boolean {
  return text.length <= valueLengthMax && !text.includes('\0')
}

/** What `readValue` takes, as the end of a sentence. */
export function expectedValue(field: Field): string {
  switch (field.type) {
    case 'string':
    case 'text':
      return `a text of at most ${valueLengthMax} characters, none of them NUL`
    case 'bool':
      return 'true or false (also True, False, 1, 0)'
    case 'date':
      return `${typeRow('date').expects(field)} or 12/06/2020`
    case 'datetime':
      return `${typeRow('datetime').expects(field)}, or a date, which means its first moment`
    default:
      return typeRow(field.type).expects(field)
  }
}

/** The pattern that sources must match. */
function matches(text: string, field: Field): boolean {
  const pattern = typeRow(field.type).pattern(field)
  return pattern === null || new RegExp(`^(?:${pattern})$`).test(text)
}

/** The ancestor's clients also write dates as DD/MM/YYYY. */
function dateOf(text: string): string | null {
  const iso = text.replace(/^(\d{2})\/(\d{2})\/(\d{4})$/, '$3-$2-$1')
  if (!/^\d{4}-\d{2}-\d{2}$/.test(iso)) return null
  const time = Date.parse(`${iso}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso) ? iso : null
}

/** Negative where `a` comes before `b`, as DuckDB orders them; both as `readValue` writes them. */
export function compareValues({ type }: Pick<Field, 'type'>, a: string, b: string): number {
  switch (type) {
    case 'integer':
      return sign(BigInt(a) - BigInt(b))
    case 'decimal':
      // Both have the same number of digits after the point.
      return sign(BigInt(a.replace('.', '')) - BigInt(b.replace('.', '')))
    case 'float':
      return Number(a) - Number(b)
    case 'string':
    case 'text':
      return Buffer.compare(Buffer.from(a), Buffer.from(b))
    case 'bool':
    case 'date':
    case 'datetime':
      return a < b ? -1 : Number(a > b)
  }
}

function sign(number: bigint): number {
  return number < 0n ? -1 : Number(number > 0n)
}
