import { parseDateFormat } from './date-format.ts'
import {
  at,
  digitsOf,
  reportRepeats,
  rowOf,
  strings,
  typesWith,
  type Path,
  type ReportFault,
} from './raw-document.ts'
import type { FieldTypeRow, MomentType } from './types/field-type.ts'

/** Columns that queries have in addition to the fields, so no field may have their names. */
const ownNames = new Set(['file_row_number', 'file_index', 'acervo_position'])

/** Reports names that DuckDB or a JSON object cannot contain unchanged. */
export function checkFieldName(name: string, path: Path, report: ReportFault): void {
  if (name === '__proto__') {
    report(path, 'JSON readers in JavaScript drop "__proto__": choose another name')
  } else if (/^[+-]?\d+([.,]\d*)?$/.test(name)) {
    report(
      path,
      `"${name}" looks like a number, and some JSON readers reorder such keys: start it with a letter`,
    )
  } else if (name.startsWith('-')) {
    const quotedField = JSON.stringify(name.slice(1))
    report(
      path,
      `"${name}" begins with "-", which means descending order by ${quotedField} in requests: choose another name`,
    )
  } else if (ownNames.has(name.toLowerCase())) {
    report(path, `"${name}" is reserved for the position of a row: choose another name`)
  } else if (/\p{Cc}|\p{Cs}/u.test(name) || name !== name.trim()) {
    report(path, `"${name}" has a control character, or white space at its start or end: remove it`)
  } else if (Buffer.byteLength(name) > 255) {
    report(path, 'the field name is longer than 255 bytes: shorten it')
  }
}

export function checkDigits(field: unknown, path: Path, report: ReportFault): void {
  const hasDigits = rowOf(field)?.hasDigits === true
  const due = typesWith((row) => row.hasDigits)
  const { precision, scale } = digitsOf(field)
  for (const key of ['precision', 'scale']) {
    if (!hasDigits && at(field, key) !== undefined) {
      report(
        [...path, key],
        `"${key}" applies only to fields of type ${due}: remove it, or make the type ${due}`,
      )
    }
  }
  if (hasDigits && scale >= precision) {
    report(
      [...path, 'scale'],
      `scale ${scale} must be less than precision ${precision}, the total number of digits`,
    )
  }
}

const formatExamples: Readonly<Record<MomentType, string>> = {
  date: 'dd/mm/yyyy',
  datetime: 'dd/mm/yyyy hh:mm:ss',
  time: 'hh:mm',
}

/** Checks one format, or several. */
export function checkFormats(
  holder: unknown,
  key: string,
  type: MomentType,
  path: Path,
  report: ReportFault,
): void {
  const value = at(holder, key)
  const formats = typeof value === 'string' ? [[[...path, key], value] as const] : placed(holder, key, path)
  for (const [place, format] of formats) {
    if (parseDateFormat(format, type) !== null) continue
    const words = type === 'time' ? 'hh, mm, ss' : 'yyyy, mm, dd, hh, mm, ss'
    report(
      place,
      `"${format}" is not a format of a ${type}: write it with ${words}, such as ${formatExamples[type]}`,
    )
  }
  reportRepeats(formats, 'format', report)
}

function placed(holder: unknown, key: string, path: Path): (readonly [Path, string])[] {
  return strings(holder, key).map(([index, text]) => [[...path, key, index], text])
}

/** Keys that only some types of fields may have, and a test for these types. */
const ofTypes: readonly (readonly [keys: readonly string[], belongs: (row: FieldTypeRow) => boolean])[] = [
  [['mask', 'kind'], (row) => row.isText],
  [['decimal'], (row) => row.dialect === 'number' || row.dialect === 'degrees'],
  [['groups', 'marks', 'minus', 'factor'], (row) => row.dialect === 'number' || row.dialect === 'integer'],
  [['separator'], (row) => row.dialect === 'list'],
  [['booleans'], (row) => row.dialect === 'words'],
  [['timezone'], (row) => row.moment === 'datetime'],
  [['two_digit_years_from'], (row) => row.moment === 'date' || row.moment === 'datetime'],
]

/** Checks declarations that only some types may have. */
export function checkFieldReading(field: unknown, source: unknown, path: Path, report: ReportFault): void {
  const row = rowOf(field)
  if (at(field, 'format') !== undefined && row !== null) {
    const due = typesWith(({ moment }) => moment !== null)
    if (row.moment !== null) checkFormats(field, 'format', row.moment, path, report)
    else report([...path, 'format'], `"format" applies only to fields of type ${due}: remove it`)
  }
  for (const [keys, belongs] of ofTypes) {
    for (const key of keys) {
      if (at(field, key) === undefined || (row !== null && belongs(row))) continue
      const change = key === 'mask' || key === 'kind' ? 'change the type' : 'remove it'
      report([...path, key], `"${key}" applies only to fields of type ${typesWith(belongs)}: ${change}`)
    }
  }
  if (row?.dialect === 'number') checkSigns(field, source, path, report)
  checkBooleans(field, path, report)
}

/** Reports equal separators of fractions and of digit groups, since numbers would be ambiguous. */
export function checkSigns(holder: unknown, beneath: unknown, path: Path, report: ReportFault): void {
  const valueOf = (key: string): unknown => at(holder, key) ?? at(beneath, key)
  const [decimal, groups] = [valueOf('decimal') ?? '.', valueOf('groups')]
  if (decimal !== groups || ['decimal', 'groups'].every((key) => at(holder, key) === undefined)) return
  const key = at(holder, 'groups') === undefined ? 'decimal' : 'groups'
  report(
    [...path, key],
    `${JSON.stringify(groups)} cannot be both "decimal" (by default ".") and "groups": declare a different character for each`,
  )
}

export function checkBooleans(holder: unknown, path: Path, report: ReportFault): void {
  const truths = new Set(strings(at(holder, 'booleans'), 'true').map(([, word]) => word))
  for (const [index, word] of strings(at(holder, 'booleans'), 'false')) {
    if (truths.has(word)) {
      report([...path, 'booleans', 'false', index], `"${word}" cannot mean both true and false`)
    }
  }
}
