import { counted, visibleJson } from '../../core/text.ts'
import type { FieldFacts } from '../convert/cast/trial.ts'
import {
  formatCount,
  plainString,
  questionField,
  typedField,
  type SeenColumn,
  type SuggestedField,
} from './field.ts'
import { cpfsAmong } from './personal.ts'
import { areDays, dayName, momentField } from './moment-field.ts'
import {
  isAmbiguous,
  isLossy,
  numberForm,
  valueMarks,
  type AmbiguousNumbers,
  type LossyNumbers,
  type NumberForm,
} from './numbers.ts'
import { numberNotes } from './oddities.ts'

/** Numbers with more decimal places are measurements, which become floats. */
const scaleMax = 6
const integerDigitsMax = 18
const codeName =
  /(^|_)(id|cod|codigo|code|cd|cep|zip|cnpj|cpf|rg|nis|nit|pis|pasep|renavam|matricula|inscricao|registro|processo|protocolo|ibge|inep|siafi|siape|cnes|cnae|cbo|ncm|fone|telefone|celular|tel|phone|mobile|fax)(_|$)/
const placeName = /^(lat|lon|lng|long)(_|$)|(^|_)(latitude|longitude)(_|$)/
const placeDigitsMax = 3

/**
 * Decimal separator of the columns that can be read in one way only; null if they differ. Degrees say
 * nothing: they have a point everywhere.
 */
export function decimalOf(columns: readonly SeenColumn[]): NumberForm['decimal'] | null {
  const decimals = columns.flatMap(({ name, texts }): NumberForm['decimal'][] => {
    if (placeName.test(name)) return []
    const values = [...texts.keys()].map((text) => text.trim()).filter((text) => /\d/.test(text))
    const form = values.length === 0 ? null : numberForm(values)
    if (form === null || isAmbiguous(form) || isLossy(form)) return []
    if (form.hasPoint) return [form.decimal]
    return form.groups === '.' ? [','] : form.groups === ',' ? ['.'] : []
  })
  return new Set(decimals).size === 1 ? (decimals[0] ?? null) : null
}

/** Null unless all values are numbers, or digits that a number would change. */
export function numberField(column: SeenColumn, values: readonly string[]): SuggestedField | null {
  const { name, decimal } = column
  const form = numberForm(values)
  if (form === null) return null
  if (isAmbiguous(form)) {
    if (decimal == null) return numberQuestion(form)
    const sign = decimal === ',' ? 'comma' : 'point'
    const field = numericField(name, values, numberForm(values, decimal))
    const evidence = (facts: FieldFacts): string =>
      `${field?.evidence(facts) ?? ''}; ${visibleJson(form.example)} is read with a decimal ${sign}, as in the other columns`
    return field === null ? null : { ...field, evidence, isNotable: true }
  }
  return numericField(name, values, form)
}

function numericField(
  name: string,
  values: readonly string[],
  form: ReturnType<typeof numberForm>,
): SuggestedField | null {
  if (form === null || isAmbiguous(form)) return null
  const field = bareNumberField(name, values, form)
  const notes = numberNotes(values, isLossy(form) ? [] : form.marks)
  if (field === null || notes.length === 0 || field.keys.type === 'date') return field
  const evidence = (facts: FieldFacts): string => [field.evidence(facts), ...notes].join('; ')
  return { ...field, evidence, isNotable: true }
}

/**
 * Suggests a field for numbers without words: text for codes, else integer, decimal or float; null if they
 * may be days.
 */
function bareNumberField(
  name: string,
  values: readonly string[],
  form: NumberForm | LossyNumbers,
): SuggestedField | null {
  const isDigits = values.every((text) => /^-?\d+$/.test(text))
  const cpfs = values.every((text) => /^(\d{11}|\d{14})$/.test(text)) ? cpfsAmong(values) : null
  if (cpfs !== null) return { ...plainString(cpfs.evidence), isNotable: true }
  if (isLossy(form) && dayName.test(name) && values.some((text) => /^\d{8}$/.test(text))) return null
  if (isLossy(form))
    return form.question === null ? plainString(() => form.loss) : questionField(form.question)
  if (isDigits && areDays(name, values)) return momentField({ name }, values)
  if (isDigits && codeName.test(name))
    return plainString(
      ({ filled }) =>
        `all ${formatCount(filled)} values are digits, and the name suggests a code; type: integer would order them as numbers`,
    )
  const { integerDigits, scale, hasExponent, groups, marks } = form
  if (placeName.test(name) && integerDigits > placeDigitsMax)
    return questionField(
      `say what ${visibleJson(values.find((text) => text.replaceAll(/\D/g, '').length > placeDigitsMax) ?? '')} means, since degrees have at most three digits before the point: a spreadsheet may have moved it; correct the file`,
    )
  if (integerDigits > integerDigitsMax || (scale > 0 && integerDigits + scale > 38 && !hasExponent))
    return plainString(() => `up to ${integerDigits} digits, more than a number can have`)
  const notationKeys = notationKeysOf(form)
  const spelling = spellingOf(form)
  if (isWhole(form)) {
    const isPlain = groups === null && marks.length === 0
    return typedField(
      { type: 'integer', ...notationKeys },
      ({ longest }) => `whole numbers of at most ${counted(isPlain ? longest : integerDigits, 'digit')}`,
      spelling,
    )
  }
  const fractionText = `${counted(scale, 'digit')} after the ${form.decimal === ',' ? 'comma' : 'point'}`
  if (hasExponent || scale > scaleMax)
    return typedField({ type: 'float', ...notationKeys }, `numbers, some with ${fractionText}`, spelling)
  const precision = Math.max(18, integerDigits + scale + 2)
  return typedField(
    {
      type: 'decimal',
      ...(precision > 18 && { precision: Math.min(38, precision) }),
      scale,
      ...notationKeys,
    },
    `numbers with at most ${fractionText}${minusSaid(form)}`,
    spelling,
  )
}

function minusSaid({ minus }: NumberForm): string {
  return minus.length === 0 ? '' : `; ${minus.join(' and ')} stand for -5`
}

/** RE2 patterns of numbers without leading zeros, with every unit mark of the column. */
function spellingOf({ marks }: NumberForm): string[] {
  const digits = '^[^0-9]*([.,][0-9]|0([^0-9]|$)|[1-9])'
  return [digits, ...valueMarks(marks).map((mark) => mark.replaceAll('$', String.raw`\$`))]
}

export const isWhole = ({ hasPoint, hasExponent }: NumberForm): boolean => !hasPoint && !hasExponent

export function notationKeysOf(form: NumberForm): Record<string, unknown> {
  const { decimal, groups, marks, minus } = form
  return {
    ...(decimal === ',' && !isWhole(form) && { decimal }),
    ...(groups !== null && { groups }),
    ...(marks.length > 0 && { marks }),
    ...(minus.length > 0 && { minus }),
  }
}

function numberQuestion({ example, separator }: AmbiguousNumbers): SuggestedField {
  const comma = separator === ',' ? ', decimal: ","' : ''
  return questionField(
    `say what ${visibleJson(example)} means: a whole number (type: integer, groups: "${separator}") or a fraction (type: decimal, scale: 3${comma}); all values could be either`,
  )
}
