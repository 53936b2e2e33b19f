import { z } from 'zod'
import { checkFieldExpectations, fieldExpectations } from './expectations.ts'
import { fieldTypeNames, typeRow, type FieldType } from './field-types.ts'
import { kindNames, maskNames } from './names.ts'
import {
  checkBooleans,
  checkFormats,
  checkSeparators,
  formats,
  readingKeys,
  buildReading,
} from './reading.ts'
import { below, count, mapOf, optional, plainText, texts, typesWith, type ReportFault } from './shapes.ts'
import { constantFields, type SourceDefinition } from './source.ts'
import { digitsDefault, type FieldTypeRow } from './types/field-type.ts'

const powersOfTen = [-9, -8, -7, -6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6, 7, 8, 9]

export const fieldShape = z.strictObject({
  name: plainText,
  type: z.enum(fieldTypeNames as [FieldType, ...FieldType[]]),
  title: optional(texts).describe('Title of the field for people.'),
  description: optional(texts).describe('Meaning of the field.'),
  synonyms: z
    .array(plainText)
    .default([])
    .describe('Other words, in any language, by which people search for the field.'),
  unit: optional(texts).describe('Unit of its numbers, such as R$, km or people.'),
  kind: optional(z.enum(kindNames)).describe(
    'Kind of its texts: date for YYYY-MM-DD, uf for codes of Brazilian states; charts use it.',
  ),
  value_titles: mapOf(texts).describe(
    'Texts and integers only: values with their titles for people, such as `M: {pt: masculino}`. Files and programs get the values.',
  ),
  precision: optional(count(1, 38)).describe('Decimal only: number of digits. Default is 18.'),
  scale: optional(count(0, 37)).describe('Decimal only: number of decimal places. Default is 2.'),
  ...readingKeys,
  factor: optional(
    z
      .number()
      .refine(
        (factor) => powersOfTen.some((power) => factor === Number(`1e${power}`)),
        'must be a power of ten, such as 0.01 for cents',
      ),
  ).describe('Numbers only: factor for the numbers of the source, such as 0.01 for cents.'),
  separator: optional(
    z
      .string()
      .regex(
        /^[^\s"[\]]{1,3}$/,
        'must be up to three characters such as ";" or "|", without spaces, " or brackets',
      ),
  ).describe('List only: separator of its texts, such as ";". By default the source has JSON.'),
  format: optional(formats).describe(
    "Date, datetime and time only: format in the source, such as `dd/mm/yyyy`, if it differs from the table's. With several formats, each value must match exactly one.",
  ),
  mask: optional(z.enum(maskNames)).describe(
    'Hides a part of personal identifiers before anything is written; cpf gives `***456789**`.',
  ),
  expect: optional(fieldExpectations).describe(
    'Rules for its values; nothing is published while a value breaks one.',
  ),
})

type FieldDefinition = z.output<typeof fieldShape>

/** Precision and scale, with their defaults. */
export function digitsOf({ precision, scale }: Pick<FieldDefinition, 'precision' | 'scale'>) {
  return { precision: precision ?? digitsDefault.precision, scale: scale ?? digitsDefault.scale }
}

export function buildField(definition: FieldDefinition, source: SourceDefinition) {
  const { name, type, title, description, synonyms, unit, kind, mask, value_titles: valueTitles } = definition
  const reading = buildReading(definition, source)
  const labels = { title, description, synonyms, unit, valueTitles }
  return { name, type, ...labels, kind, ...digitsOf(definition), reading, mask }
}

export function checkField(field: FieldDefinition, source: SourceDefinition, report: ReportFault): void {
  checkName(field.name, below(report, 'name'))
  checkTypeKeys(field, report)
  if (typeRow(field.type).dialect === 'number') checkSeparators(field, source, report)
  checkBooleans(field, report)
  checkFieldExpectations({ ...field, ...digitsOf(field) }, below(report, 'expect'))
  if (field.mask !== null && constantFields(source).includes(field.name))
    report(
      ['mask'],
      'a value from "constants" or "from_name" cannot be masked: remove the mask, and write a constant as it should be shown',
    )
}

/** Queries have these columns in addition to the fields. */
const ownNames = new Set(['file_row_number', 'file_index', 'acervo_position'])

function checkName(name: string, report: ReportFault): void {
  if (name === '__proto__') {
    report([], 'JSON readers in JavaScript drop "__proto__": choose another name')
  } else if (/^[+-]?\d+([.,]\d*)?$/.test(name)) {
    report(
      [],
      `"${name}" looks like a number, and some JSON readers reorder such keys: start it with a letter`,
    )
  } else if (name.startsWith('-')) {
    const quotedField = JSON.stringify(name.slice(1))
    report(
      [],
      `"${name}" begins with "-", which means descending order by ${quotedField} in requests: choose another name`,
    )
  } else if (ownNames.has(name.toLowerCase())) {
    report([], `"${name}" is reserved for the position of a row: choose another name`)
  } else if (/\p{Cc}|\p{Cs}/u.test(name) || name !== name.trim()) {
    report([], `"${name}" has a control character, or white space at its start or end: remove it`)
  } else if (Buffer.byteLength(name) > 255) {
    report([], 'the field name is longer than 255 bytes: shorten it')
  }
}

const keyTypes: readonly (readonly [
  keys: readonly (keyof FieldDefinition)[],
  appliesTo: (row: FieldTypeRow) => boolean,
  remedy: string,
])[] = [
  [['precision', 'scale'], (row) => row.hasDigits, 'remove it, or make the type decimal'],
  [['mask', 'kind'], (row) => row.isText, 'change the type'],
  [['value_titles'], (row) => row.isText || row.dialect === 'integer', 'remove it'],
  [['format'], (row) => row.moment !== null, 'remove it'],
  [['decimal'], (row) => row.dialect === 'number' || row.dialect === 'degrees', 'remove it'],
  [
    ['groups', 'marks', 'minus', 'factor'],
    (row) => row.dialect === 'number' || row.dialect === 'integer',
    'remove it',
  ],
  [['separator'], (row) => row.dialect === 'list', 'remove it'],
  [['booleans'], (row) => row.dialect === 'words', 'remove it'],
  [['timezone'], (row) => row.moment === 'datetime', 'remove it'],
  [['two_digit_years_from'], (row) => row.moment === 'date' || row.moment === 'datetime', 'remove it'],
]

function checkTypeKeys(field: FieldDefinition, report: ReportFault): void {
  const row = typeRow(field.type)
  for (const [keys, appliesTo, remedy] of keyTypes) {
    for (const key of keys) {
      const value = field[key]
      const isGiven = value instanceof Map ? value.size > 0 : value !== null
      if (isGiven && !appliesTo(row))
        report([key], `"${key}" applies only to fields of type ${typesWith(appliesTo)}: ${remedy}`)
    }
  }
  const { precision, scale } = digitsOf(field)
  if (row.hasDigits && scale >= precision)
    report(['scale'], `scale ${scale} must be less than precision ${precision}, the total number of digits`)
  if (row.moment !== null) checkFormats(field.format, 'format', row.moment, report)
}
