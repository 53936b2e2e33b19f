import { parseDateFormat } from './date-format.ts'
import { at, isText, rowOf, typesWith, type Path, type Report } from './declared.ts'
import { digitsDefault } from './types/field-type.ts'

/** Columns that are there besides the fields when rows are read. */
const ownNames = new Set(['file_row_number', 'file_index', 'acervo_position'])

/** Names that DuckDB or a JSON object cannot hold as they are. */
export function checkFieldName(name: string, path: Path, report: Report): void {
  if (name === '__proto__') {
    report(path, '"__proto__" is lost by JSON readers in JavaScript: choose another name')
  } else if (/^[+-]?\d+([.,]\d*)?$/.test(name)) {
    report(path, `"${name}" looks like a number, and JSON readers move such keys: start it with a letter`)
  } else if (name.startsWith('-')) {
    const asked = JSON.stringify(name.slice(1))
    report(
      path,
      `"${name}" begins with -, by which readers ask for ${asked} from the greatest: choose another name`,
    )
  } else if (ownNames.has(name.toLowerCase())) {
    report(path, `"${name}" is a name of our own or of DuckDB for where a row lies: choose another name`)
  } else if (/\p{Cc}|\p{Cs}/u.test(name) || name !== name.trim()) {
    report(path, `"${name}" has a control character or white space at an end: remove it`)
  } else if (Buffer.byteLength(name) > 255) {
    report(path, 'is longer than 255 bytes: shorten it')
  }
}

export function checkDigits(field: unknown, path: Path, report: Report): void {
  const hasDigits = rowOf(field)?.hasDigits === true
  const due = typesWith((row) => row.hasDigits)
  const precision = at(field, 'precision') ?? digitsDefault.precision
  const scale = at(field, 'scale') ?? digitsDefault.scale
  for (const key of ['precision', 'scale']) {
    if (!hasDigits && at(field, key) !== undefined) {
      report([...path, key], `"${key}" belongs to fields of type ${due}: remove it, or make the type ${due}`)
    }
  }
  if (hasDigits && typeof precision === 'number' && typeof scale === 'number' && scale >= precision) {
    report([...path, 'scale'], `scale ${scale} must be less than precision ${precision}, the digits in all`)
  }
}

export function checkFormat(format: string, type: 'date' | 'datetime', path: Path, report: Report): void {
  if (parseDateFormat(format, type) === null) {
    const example = type === 'date' ? 'dd/mm/yyyy' : 'dd/mm/yyyy hh:mm:ss'
    report(
      path,
      `"${format}" is no format of a ${type}: write it with yyyy, mm, dd, hh, mm, ss, such as ${example}`,
    )
  }
}

/** What only some types can be declared with. */
export function checkReading(field: unknown, path: Path, report: Report): void {
  const format = at(field, 'format')
  if (typeof format === 'string') {
    const moment = rowOf(field)?.moment ?? null
    const due = typesWith((row) => row.moment !== null)
    if (moment !== null) checkFormat(format, moment, [...path, 'format'], report)
    else report([...path, 'format'], `"format" belongs to fields of type ${due}: remove it`)
  }
  for (const key of ['mask', 'kind']) {
    if (at(field, key) === undefined || isText(field)) continue
    const due = typesWith((row) => row.isText)
    report([...path, key], `"${key}" belongs to fields of type ${due}: change the type`)
  }
}
