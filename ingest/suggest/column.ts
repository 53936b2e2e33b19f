import { counted, parsedJson, visibleJson } from '../../core/text.ts'
import { momentForm, momentsOf, type AmbiguousMoments, type MomentForm } from './moments.ts'
import { numberNotes, oddityOf } from './oddities.ts'
import {
  isAmbiguous,
  isLossy,
  numberForm,
  valueMarks,
  type AmbiguousNumbers,
  type LossyNumbers,
  type NumberForm,
} from './numbers.ts'

/** Keys of a field in the catalog except its name: `type`, `scale`, `format` and others. */
export type FieldKeys = Readonly<Record<string, unknown>> & { readonly type: string }

/** Facts about a column from all rows. */
export interface FieldFacts {
  /** Number of values that are not null. */
  readonly filled: number
  /** Length of the longest value in characters. */
  readonly longest: number
}

/** A proposed field, which fits all values of the column in the sample. */
export interface SuggestedField {
  readonly keys: FieldKeys
  /**
   * RE2 patterns that every text must match. The type would lose a part of any other text, such as a leading
   * zero.
   */
  readonly spelling?: readonly string[]
  /** Explains the proposal; empty if the question says it all. */
  readonly evidence: (found: FieldFacts) => string
  /** True if `acervo add` prints the evidence too. */
  readonly isNotable?: boolean
  /** Question for a person, with the keys that answer it; null if the type is certain. */
  readonly question: string | null
  /** Type of nearly all values, if only a few do not fit; the trial counts these on all rows. */
  readonly probe: { readonly keys: FieldKeys; readonly what: string } | null
}

/** Sampled values of a column: each distinct text that is not empty, with its count. */
export interface SeenColumn {
  readonly name: string
  readonly texts: ReadonlyMap<string, number>
  /** True if the field must be text, since other types failed in a trial on all rows. */
  readonly isText?: boolean
  /** True if another column of the file has the words for yes and no. */
  readonly isBesideYesNo?: boolean
  /** True if spaces are around the name of the column in the file. */
  readonly hasPaddedName?: boolean
  /** Decimal separator of the other columns, if they have one. */
  readonly decimal?: NumberForm['decimal'] | null
}

/** Texts that mean null in any column. */
const markedNulls = new Set(['#NULO#', '#NULO', '#NE#', '#NE', '#N/A', '\\N'])
/** Texts that mean null, except in text columns, in which they may be names. */
const sureNulls = new Set([
  '#NULO#',
  '#NULO',
  '#NE#',
  '#NE',
  '#N/A',
  'NULL',
  'null',
  '\\N',
  'N/A',
  'n/a',
  'NaN',
  'nan',
])
/** Texts that mean null if all other values are numbers, dates or the like. */
const likelyNulls = new Set(
  '- -- --- – — . .. ... … : * ** ? NA na None none NONE Null ND nd N/D n/d S/D s/d'.split(' '),
)

const booleanWords = [
  ['true', 'false'],
  ['True', 'False'],
  ['TRUE', 'FALSE'],
  ['S', 'N'],
  ['Sim', 'Não'],
  ['sim', 'não'],
  ['SIM', 'NÃO'],
  ['SIM', 'NAO'],
  ['Y', 'N'],
  ['Yes', 'No'],
  ['yes', 'no'],
  ['YES', 'NO'],
  ['Sí', 'No'],
  ['sí', 'no'],
  ['SÍ', 'NO'],
  ['Oui', 'Non'],
  ['oui', 'non'],
  ['OUI', 'NON'],
  ['Ja', 'Nein'],
  ['ja', 'nein'],
  ['Verdadeiro', 'Falso'],
  ['VERDADEIRO', 'FALSO'],
] as const
/** Names of columns that say yes or no, so that S and N are these words and no directions. */
const yesNoName =
  /^(is|has|in|fl|flag|st|sn|ind|indica|indicador|tem|teve|possui|foi|aceita|permite|optante)(_|$)|^(ativ|inativ|aprovad|cancelad|pag)[oa]s?(_|$)|_(ativ[oa]|sn|sim_nao)$/

/** Numbers with more digits after the point are measurements, which become floats. */
const scaleMax = 6
const integerDigitsMax = 18
/** Texts longer than this, in characters, get the type `text`. */
const longText = 255
/** Minimum share of a column's values with one type for which the other values are reported as exceptions. */
const mostShare = 0.5
/** Minimum number of distinct eight-digit numbers that count as dates even if the column's name suggests no date. */
const daysMin = 20

const codeName = /(^|_)(id|cod|codigo|code|cd|cep|zip|cnpj|cpf|ibge|fone|tel|phone)(_|$)/
const placeName = /^(lat|lon|lng|long)(_|$)|(^|_)(latitude|longitude)(_|$)/
const placeDigitsMax = 3
const timeName =
  /(^|_)(hora|horas|horario|hour|time|uhrzeit|heure|saida|chegada|departure|arrival|inicio|fim)(_|$)/
/** Names of columns of months. */
const monthName =
  /(^|_)(mes|meses|month|mois|monat|periodo?|period|competencia|referencia|ref|anomes|data|date|dt)(_|$)/
const dayName =
  /(^|_)(data|date|dt|dia|day|inicio|fim|termino|vencimento|emissao|nascimento|start|end|since|until)(_|$)/

const number = (count: number): string => count.toLocaleString('en')

export function suggestField(column: SeenColumn): SuggestedField {
  const all = [...column.texts.keys()]
  const sure = all.filter((text) => sureNulls.has(text))
  const filled = all.filter((text) => !sureNulls.has(text))
  const marked = sure.filter((text) => markedNulls.has(text))
  const nulls = marked.length === 0 ? {} : { nulls: ['', ...marked] }
  if (filled.length === 0) {
    const field = plainString(() => 'all values are null, so any type would do')
    const keys = { ...field.keys, ...(sure.length > 0 && { nulls: ['', ...sure] }) }
    const said = sure.length === 0 ? { isNotable: true } : nullsSaid(field, sure)
    return { ...field, keys, ...said }
  }
  const own = column.isText === true ? null : typed(column, filled, sure)
  if (own !== null && own.keys.type !== 'string') return own
  const doubtful = sure.filter((text) => !markedNulls.has(text))
  const isTrimmed = isPadded(column, filled)
  const plain = isTrimmed ? [...new Set(filled.map((one) => one.trim()))] : filled
  const texts = isTrimmed
    ? new Map([...column.texts].map(([one, count]) => [one.trim(), count]))
    : column.texts
  const untrimmed = own ?? textField({ ...column, texts }, plain, nulls, doubtful)
  const text = isTrimmed ? trimmedField(untrimmed, filled) : untrimmed
  const withNulls = { ...text, keys: { ...text.keys, ...nulls } }
  return marked.length === 0 ? withNulls : { ...withNulls, ...nullsSaid(text, marked) }
}

/** Returns whether white space is removed from a column of texts: most have it, and different texts stay so. */
function isPadded({ hasPaddedName = false }: SeenColumn, filled: readonly string[]): boolean {
  const padded = filled.filter((text) => text !== text.trim()).length
  const isUsual = padded >= (hasPaddedName ? 1 : filled.length / 2) && padded > 0
  return isUsual && new Set(filled.map((text) => text.trim())).size === filled.length
}

/** Removes white space around the values of a text field. */
function trimmedField(
  { keys, probe, evidence, ...field }: SuggestedField,
  filled: readonly string[],
): SuggestedField {
  const example = filled.find((text) => text !== text.trim()) ?? ''
  const said = `${visibleJson(example)} is read without the spaces around it`
  return {
    ...field,
    keys: { ...keys, trim: true },
    probe: probe === null ? null : { ...probe, keys: { ...probe.keys, trim: true } },
    evidence: (found) => [evidence(found), said].filter((part) => part !== '').join('; '),
    isNotable: true,
  }
}

/**
 * Returns the field for a column, ignoring white space around texts and words for null; null if the column is
 * plain text.
 */
function typed(
  column: SeenColumn,
  filled: readonly string[],
  sure: readonly string[],
): SuggestedField | null {
  const trimmed = filled.map((text) => text.trim()).filter((text) => text !== '')
  const trims = trimmed.length < filled.length || trimmed.some((text, index) => text !== filled[index])
  const likely = [...new Set(trimmed.filter((text) => likelyNulls.has(text)))]
  const values = [...new Set(trimmed.filter((text) => !likelyNulls.has(text)))]
  if (values.length === 0) return null
  const nulls = [...new Set([...sure, ...likely])]
  const extraKeys = { ...(trims && { trim: true }), ...(nulls.length > 0 && { nulls: ['', ...nulls] }) }
  const oddity = oddityOf(values)
  const found =
    (oddity === null ? null : oddField(oddity)) ??
    boolOf(column, values) ??
    numberOf(column, values) ??
    momentOf(column.name, values) ??
    jsonOf(values)
  if (found === null || found.keys.type === 'string') return found
  const own = { ...found, keys: { ...found.keys, ...extraKeys } }
  return nulls.length === 0 ? own : { ...own, ...nullsSaid(own, nulls) }
}

function oddField({ text, isQuestion }: NonNullable<ReturnType<typeof oddityOf>>): SuggestedField {
  return isQuestion ? questionField(text) : { ...plainString(() => text), isNotable: true }
}

/** Names the texts that become null, since they were chosen for the author of the file. */
function nullsSaid(
  { evidence }: SuggestedField,
  nulls: readonly string[],
): Pick<SuggestedField, 'evidence' | 'isNotable'> {
  const words = nulls.map((text) => visibleJson(text)).join(', ')
  const said = `${words} ${nulls.length === 1 ? 'becomes' : 'become'} null`
  return {
    evidence: (found) => [evidence(found), said].filter((part) => part !== '').join('; '),
    isNotable: true,
  }
}

function boolOf({ name, isBesideYesNo }: SeenColumn, values: readonly string[]): SuggestedField | null {
  const words = booleanWords.find((pair) =>
    values.every((text) => (pair as readonly string[]).includes(text)),
  )
  const isUsual = words !== undefined && words[0].toLowerCase() === 'true'
  if (words === undefined || (!isUsual && values.length < 2)) return null
  if (isUsual) return typedField({ type: 'bool' }, words.join(' or '))
  const booleans = { true: [words[0]], false: [words[1]] }
  if (words[0] === 'S' && isBesideYesNo !== true && !yesNoName.test(name.toLowerCase())) {
    const evidence = `S and N may be yes and no, or a direction; for yes and no, declare type: bool, booleans: ${JSON.stringify(booleans)}`
    return { ...plainString(() => evidence), isNotable: true }
  }
  return {
    ...typedField({ type: 'bool', booleans }, `${words.join(' or ')}, which become true or false`),
    isNotable: true,
  }
}

/** Returns true if a column has words for yes and no that have no other meaning. */
export function isYesNo({ texts }: SeenColumn): boolean {
  const all = [...texts.keys()].filter((text) => !sureNulls.has(text))
  return booleanWords.some(
    ([yes, no]) => yes.length > 1 && all.length === 2 && all.includes(yes) && all.includes(no),
  )
}

/** Returns a JSON or list field if all values are JSON objects or arrays. */
function jsonOf(values: readonly string[]): SuggestedField | null {
  const parsed = values.map((text) => (/^[{[]/.test(text) ? parsedJson(text) : undefined))
  if (parsed.includes(undefined)) return null
  return parsed.every(isTexts)
    ? typedField({ type: 'list' }, 'lists of texts in JSON')
    : typedField({ type: 'json' }, 'JSON')
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Returns the decimal separator of the columns whose numbers can be read in one way only; null if they differ. */
export function decimalOf(columns: readonly SeenColumn[]): NumberForm['decimal'] | null {
  const found = columns.flatMap(({ texts }): NumberForm['decimal'][] => {
    const values = [...texts.keys()].map((text) => text.trim()).filter((text) => /\d/.test(text))
    const form = values.length === 0 ? null : numberForm(values)
    if (form === null || isAmbiguous(form) || isLossy(form)) return []
    if (form.hasPoint) return [form.decimal]
    return form.groups === '.' ? [','] : form.groups === ',' ? ['.'] : []
  })
  return new Set(found).size === 1 ? (found[0] ?? null) : null
}

function numberOf(column: SeenColumn, values: readonly string[]): SuggestedField | null {
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
  const field = unnotedField(name, values, form)
  const notes = numberNotes(values, isLossy(form) ? [] : form.marks)
  if (field === null || notes.length === 0 || field.keys.type === 'date') return field
  const evidence = (found: FieldFacts): string => [field.evidence(found), ...notes].join('; ')
  return { ...field, evidence, isNotable: true }
}

function unnotedField(
  name: string,
  values: readonly string[],
  form: NumberForm | LossyNumbers,
): SuggestedField | null {
  const isDigits = values.every((text) => /^-?\d+$/.test(text))
  if (isDigits && areCpfs(values)) return plainString(cpfEvidence)
  if (isLossy(form) && dayName.test(name) && values.some((text) => /^\d{8}$/.test(text))) return null
  if (isLossy(form))
    return form.question === null ? plainString(() => form.loss) : questionField(form.question)
  if (isDigits && areDays(name, values)) return momentOf(name, values)
  if (isDigits && codeName.test(name))
    return plainString(
      ({ filled }) =>
        `all ${number(filled)} values are digits, and the name suggests a code; type: integer would order them as numbers`,
    )
  const { integerDigits, scale, hasExponent, groups, marks } = form
  if (placeName.test(name) && integerDigits > placeDigitsMax)
    return questionField(
      `say what ${visibleJson(values.find((text) => text.replaceAll(/\D/g, '').length > placeDigitsMax) ?? '')} means, since degrees have at most three digits before the point: a spreadsheet may have moved it; correct the file`,
    )
  if (integerDigits > integerDigitsMax || (scale > 0 && integerDigits + scale > 38 && !hasExponent))
    return plainString(() => `up to ${integerDigits} digits, more than a number can have`)
  const notationKeys = readingOf(form)
  const spelling = spellingOf(form)
  if (isWhole(form)) {
    const isPlain = groups === null && marks.length === 0
    return typedField(
      { type: 'integer', ...notationKeys },
      ({ longest }) => `whole numbers of at most ${counted(isPlain ? longest : integerDigits, 'digit')}`,
      spelling,
    )
  }
  const after = `${counted(scale, 'digit')} after the ${form.decimal === ',' ? 'comma' : 'point'}`
  if (hasExponent || scale > scaleMax)
    return typedField({ type: 'float', ...notationKeys }, `numbers, some with ${after}`, spelling)
  const precision = Math.max(18, integerDigits + scale + 2)
  return typedField(
    {
      type: 'decimal',
      ...(precision > 18 && { precision: Math.min(38, precision) }),
      scale,
      ...notationKeys,
    },
    `numbers with at most ${after}${minusSaid(form)}`,
    spelling,
  )
}

/** Explains how negative numbers are written, unless it is -5. */
function minusSaid({ minus }: NumberForm): string {
  return minus.length === 0 ? '' : `; ${minus.join(' and ')} stand for -5`
}

/**
 * Returns RE2 patterns by which a number has no leading zero, and contains every unit mark of the column,
 * such as `R$`.
 */
function spellingOf({ marks }: NumberForm): string[] {
  const digits = '^[^0-9]*([.,][0-9]|0([^0-9]|$)|[1-9])'
  return [digits, ...valueMarks(marks).map((mark) => mark.replaceAll('$', String.raw`\$`))]
}

const isWhole = ({ hasPoint, hasExponent }: NumberForm): boolean => !hasPoint && !hasExponent

/** Returns the catalog keys that declare how numbers are written. */
function readingOf(form: NumberForm): Record<string, unknown> {
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

/** @param what description of all values, such as `JSON` */
function typedField(
  keys: FieldKeys,
  what: string | ((found: FieldFacts) => string),
  spelling: readonly string[] = [],
): SuggestedField {
  const evidence = (found: FieldFacts): string =>
    `all ${number(found.filled)} values are ${typeof what === 'string' ? what : what(found)}`
  return { keys, spelling, evidence, question: null, probe: null }
}

const cpfEvidence = ({ filled }: FieldFacts): string =>
  `all ${number(filled)} values have the check digits of a CPF, a personal identifier of Brazil: mask: cpf hides a part of each`

function plainString(evidence: SuggestedField['evidence']): SuggestedField {
  return { keys: { type: 'string' }, evidence, question: null, probe: null }
}

/** Returns a text field with a question. */
function questionField(question: string): SuggestedField {
  return { keys: { type: 'string' }, evidence: () => '', question, probe: null }
}

/** Returns whether all values are Brazilian personal numbers (CPF) with valid check digits. */
function areCpfs(values: readonly string[]): boolean {
  return values.every((text) => isCpf(text.replaceAll(/[.-]/g, '')))
}

function isCpf(digits: string): boolean {
  if (!/^\d{11}$/.test(digits) || /^(\d)\1*$/.test(digits)) return false
  const check = (length: number): number => {
    const sum = Array.from(digits.slice(0, length)).reduce(
      (all, digit, at) => all + Number(digit) * (length + 1 - at),
      0,
    )
    return ((10 * sum) % 11) % 10
  }
  return check(9) === Number(digits[9]) && check(10) === Number(digits[10])
}

/** Returns whether eight-digit numbers are dates: all are valid, and there are many or the column is named so. */
function areDays(name: string, values: readonly string[]): boolean {
  const areAll = values.every((text) => /^\d{8}$/.test(text) && momentsOf(text).length > 0)
  return areAll && (dayName.test(name) || values.length >= daysMin)
}

function momentOf(name: string, values: readonly string[]): SuggestedField | null {
  const form = momentForm(values)
  if (form === null) return null
  if ('example' in form) return momentQuestion(form)
  const { type, formats } = form
  const open = type === 'time' ? formats.find((format) => !/ss|am/.test(format)) : undefined
  if (open !== undefined && !timeName.test(name)) return clockQuestion(values, formats)
  const areMonths = type === 'date' && formats.length > 0 && !formats.some((format) => format.includes('d'))
  if (areMonths && !formats.every((format) => format.startsWith('yyyy')) && !monthName.test(name))
    return questionField(
      `say whether ${visibleJson(values[0] ?? '')} is a month: declare type: date, format: ${formats.join(' or ')}; otherwise it stays text`,
    )
  const meaning = areMonths ? ', which means the first day of a month; type: string keeps the text' : ''
  return {
    ...typedField(momentKeys(form), `written ${writtenAs(form)}${meaning}`),
    isNotable: areMonths,
  }
}

function momentKeys({ type, formats }: MomentForm): FieldKeys {
  return { type, ...(formats.length > 0 && { format: formats.length === 1 ? formats[0] : formats }) }
}

function writtenAs({ type, formats }: MomentForm): string {
  const plain = { date: 'yyyy-mm-dd', datetime: 'yyyy-mm-dd hh:mm:ss', time: 'hh:mm:ss' }
  return formats.length === 0 ? plain[type] : formats.join(' or ')
}

/** Proposes text for values such as `3:45`, and asks whether they are hours and minutes or minutes and seconds. */
function clockQuestion(values: readonly string[], formats: readonly string[]): SuggestedField {
  const example = values.find((text) => /^\d+:\d+$/.test(text)) ?? ''
  const formatText = formats.length === 1 ? formats[0] : `[${formats.join(', ')}]`
  return questionField(
    `say what ${visibleJson(example)} means: for hours and minutes, declare type: time, format: ${formatText ?? ''}; minutes and seconds stay texts`,
  )
}

function momentQuestion({ type, example, formats, extraFormats, areAll }: AmbiguousMoments): SuggestedField {
  const ways = formats.map((format) =>
    extraFormats.length === 0 ? format : `[${[format, ...extraFormats].join(', ')}]`,
  )
  return questionField(
    `say how ${visibleJson(example)} is written: declare type: ${type}, format: ${ways.join(' or ')}; ${areAll ? 'all' : 'some'} values could be either`,
  )
}

function textField(
  { name, texts }: SeenColumn,
  filled: readonly string[],
  nulls: object,
  doubtful: readonly string[],
): SuggestedField {
  const asks =
    doubtful.length === 0
      ? null
      : `say whether ${doubtful.map((text) => visibleJson(text)).join(' and ')} (${number(doubtful.reduce((sum, text) => sum + (texts.get(text) ?? 0), 0))} times) are texts or mean null; if null, declare nulls: ${JSON.stringify(['', ...doubtful])}`
  const longestSeen = Math.max(...filled.map((text) => text.length))
  const example = visibleJson((filled[0] ?? '').slice(0, 40))
  const rows = [...texts].reduce((sum, [text, count]) => (sureNulls.has(text) ? sum : sum + count), 0)
  const shortYears = shortYearsOf(filled)
  const cpfs = filled.every((text) => /^\d{3}\.\d{3}\.\d{3}-\d{2}$/.test(text)) && areCpfs(filled)
  const keys = { type: longestSeen > longText ? 'text' : 'string', ...nulls }
  const probe = probeOf(name, texts, filled, rows)
  if (shortYears !== null) return { keys, evidence: () => '', question: shortYears, probe }
  return {
    keys,
    evidence: ({ filled: count, longest }) =>
      cpfs
        ? cpfEvidence({ filled: count, longest })
        : `${counted(count, 'text')} of at most ${counted(longest, 'character')}, such as ${example}`,
    isNotable: cpfs,
    question: cpfs ? null : asks,
    probe,
  }
}

/** Asks for the century of dates such as 16-07-68; null where the texts are none. */
function shortYearsOf(filled: readonly string[]): string | null {
  const parts = filled.map((text) => /^(\d{1,2})([-/.])(\d{1,2})\2(\d{2})$/.exec(text))
  const [first] = parts
  if (first == null || !parts.every((one) => one !== null && one[2] === first[2])) return null
  const orders = [
    ['dd', 'mm', 'yy'],
    ['mm', 'dd', 'yy'],
    ['yy', 'mm', 'dd'],
  ].filter((order) =>
    parts.every((one) => {
      const part = (name: string): number => Number(one?.[[1, 3, 4][order.indexOf(name)] ?? 0])
      return part('mm') >= 1 && part('mm') <= 12 && part('dd') >= 1 && part('dd') <= 31
    }),
  )
  if (orders.length === 0) return null
  const isShort = parts.some((one) => one?.[1]?.length === 1 || one?.[3]?.length === 1)
  const formats = orders.map((order) =>
    order.map((part) => (isShort && part !== 'yy' ? part.slice(1) : part)).join(first[2]),
  )
  return `say which date ${visibleJson(filled[0] ?? '')} is: declare type: date, format: ${formats.join(' or ')}, two_digit_years_from: 1930, or another earliest year that yy can mean`
}

/** Returns the type of most values, but not all; null if there is none. */
function probeOf(
  name: string,
  texts: ReadonlyMap<string, number>,
  filled: readonly string[],
  rows: number,
): SuggestedField['probe'] {
  const isMost = (some: readonly string[]): boolean => {
    const count = some.reduce((sum, text) => sum + (texts.get(text) ?? 0), 0)
    // One odd value may be a line that is no row.
    const isAllButOne = count === rows - 1 && count > 1
    return some.length > 0 && some.length < filled.length && (isAllButOne || count >= mostShare * rows)
  }
  const days = dayName.test(name)
    ? filled.filter((text) => /^\d{8}$/.test(text) && momentsOf(text).length > 0)
    : []
  if (isMost(days)) return { keys: { type: 'date', format: 'yyyymmdd' }, what: 'written yyyymmdd' }
  const forms = filled.map((text) => numberForm([text]))
  for (const decimal of ['.', ','] as const) {
    const numbers = filled.filter((_, index) => isWrittenWith(decimal, forms[index] ?? null))
    const form = isMost(numbers) ? numberForm(numbers) : null
    if (form === null || isAmbiguous(form) || isLossy(form)) continue
    const what = isWhole(form)
      ? 'whole numbers'
      : `numbers with a decimal ${decimal === ',' ? 'comma' : 'point'}`
    return { keys: { type: isWhole(form) ? 'integer' : 'float', ...readingOf(form) }, what }
  }
  const moments = filled.filter((text) => !/^\d+$/.test(text) && momentsOf(text).length > 0)
  const form = isMost(moments) ? momentForm(moments) : null
  if (form === null || 'example' in form) return null
  return { keys: momentKeys(form), what: `written ${writtenAs(form)}` }
}

/** Returns whether a text can be a number with this decimal separator, or with none. */
function isWrittenWith(decimal: NumberForm['decimal'], form: ReturnType<typeof numberForm>): boolean {
  if (form === null || isLossy(form)) return false
  return isAmbiguous(form) || form.decimal === decimal || (form.scale === 0 && form.groups === null)
}
