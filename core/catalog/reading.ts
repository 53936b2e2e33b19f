import { z } from 'zod'
import { parseDateFormat } from './date-format.ts'
import { typeRow, type FieldType } from './field-types.ts'
import { minusForms } from './names.ts'
import { names, optional, plainText, reportRepeats, timezone, type ReportFault } from './shapes.ts'
import type { MomentType } from './types/field-type.ts'

/** Spelling of values in a source: declared by a table for all its fields, or by a field. */

export const readingKeys = {
  trim: optional(z.boolean()).describe('Removes white space around values. Default false.'),
  nulls: optional(z.array(z.string())).describe(
    'Texts that mean null, such as `["", "#NULO#"]`. Default is the empty text.',
  ),
  decimal: optional(z.enum(['.', ','])).describe(
    'Decimal separator of numbers: `","` for a comma. Default is the point.',
  ),
  groups: optional(z.enum([',', '.', ' ', "'", 'none'])).describe(
    'Separator of groups of three digits, such as `"."` in 1.234.567; `" "` is any space. Default is none.',
  ),
  marks: optional(
    z.array(
      z
        .string()
        .regex(
          /^(?:\(\)|[^\s\d.,'()\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]+)$/u,
          'must be a symbol such as "R$", "%", "+" or "()", without spaces, digits, ".", ",", apostrophes or minus signs',
        ),
    ),
  ).describe(
    'Texts before or after a number that are ignored, such as `["R$", "%"]`, with or without a space. `"()"` around a number makes it negative. Default is none.',
  ),
  minus: optional(z.array(z.enum(minusForms))).describe(
    'Spellings of negative numbers besides `-5`: `"−5"` and `"–5"` with another sign, `"5-"` with a trailing minus. Default is none.',
  ),
  booleans: optional(
    z.strictObject({ true: names.min(1, 'must list a word'), false: names.min(1, 'must list a word') }),
  ).describe(
    'Words of bool fields, such as `{ "true": [S], "false": [N] }`. Default is true, True, TRUE and false, False, FALSE.',
  ),
  timezone: optional(timezone).describe(
    'Zone to which times with an offset (z in their format) are converted. Default is UTC.',
  ),
  two_digit_years_from: optional(z.int().min(1800).max(2100)).describe(
    'First year for years of two digits (yy in a format); the last is 99 years later. Default is 1969.',
  ),
}

type ReadingKeys = { readonly [Key in keyof typeof readingKeys]: z.output<(typeof readingKeys)[Key]> }

export const formats = z.union([plainText, names.min(1, 'must list at least one format')])
type Formats = z.output<typeof formats> | null

const formatExamples: Readonly<Record<MomentType, string>> = {
  date: 'dd/mm/yyyy',
  datetime: 'dd/mm/yyyy hh:mm:ss',
  time: 'hh:mm',
}

export function checkFormats(value: Formats, key: string, type: MomentType, report: ReportFault): void {
  const formatsWithPlaces = [value ?? []].flat().map((format, index) => [[key, index], format] as const)
  for (const [place, format] of formatsWithPlaces) {
    if (parseDateFormat(format, type) !== null) continue
    const words = type === 'time' ? 'hh, mm, ss' : 'yyyy, mm, dd, hh, mm, ss'
    report(
      place,
      `"${format}" is not a format of a ${type}: write it with ${words}, such as ${formatExamples[type]}`,
    )
  }
  reportRepeats(formatsWithPlaces, 'format', report)
}

export function checkBooleans({ booleans }: Pick<ReadingKeys, 'booleans'>, report: ReportFault): void {
  for (const [index, word] of (booleans?.false ?? []).entries()) {
    if (booleans?.true.includes(word) === true)
      report(['booleans', 'false', index], `"${word}" cannot mean both true and false`)
  }
}

/** Reports equal separators of fractions and of digit groups, since numbers would be ambiguous. */
export function checkSeparators(keys: ReadingKeys, inherited: ReadingKeys | null, report: ReportFault): void {
  const [decimal, groups] = [
    keys.decimal ?? inherited?.decimal ?? '.',
    keys.groups ?? inherited?.groups ?? 'none',
  ]
  if (decimal !== groups || (keys.decimal === null && keys.groups === null)) return
  report(
    [keys.groups === null ? 'decimal' : 'groups'],
    `${JSON.stringify(groups)} cannot be both "decimal" (by default ".") and "groups": declare a different character for each`,
  )
}

interface FieldReading extends ReadingKeys {
  readonly type: FieldType
  readonly factor: number | null
  readonly separator: string | null
  readonly format: Formats
}

const twoDigitYearsFromDefault = 1969
const booleansDefault = { true: ['true', 'True', 'TRUE'], false: ['false', 'False', 'FALSE'] }

/** Spelling of a field's values, declared by the field, or else by its source. */
export function buildReading(
  field: FieldReading | null,
  source: ReadingKeys & Readonly<Record<MomentType, Formats>>,
) {
  const moment = field === null ? null : typeRow(field.type).moment
  const declaredFormats = field?.format ?? (moment === null ? null : source[moment])
  const groups = field?.groups ?? source.groups ?? 'none'
  return {
    trims: field?.trim ?? source.trim ?? false,
    nulls: field?.nulls ?? source.nulls ?? [''],
    decimal: field?.decimal ?? source.decimal ?? '.',
    groups: groups === 'none' ? null : groups,
    marks: field?.marks ?? source.marks ?? [],
    minus: field?.minus ?? source.minus ?? [],
    /** Power of ten: -2 for cents. */
    tenfolds: Math.round(Math.log10(field?.factor ?? 1)),
    separator: field?.separator ?? null,
    booleans: field?.booleans ?? source.booleans ?? booleansDefault,
    formats: [declaredFormats ?? []].flat(),
    timezone: field?.timezone ?? source.timezone,
    twoDigitYearsFrom: field?.two_digit_years_from ?? source.two_digit_years_from ?? twoDigitYearsFromDefault,
  }
}
