import type { Connection } from '../../core/duckdb/connection.ts'
import type { Value } from '../../core/duckdb/vectors.ts'
import { quotedText } from '../../core/sql.ts'

/** What the values of a column look like, and the field that fits all of them. */
export interface SuggestedField {
  readonly type: string
  /** Further keys of the field, such as `scale: 2`. */
  readonly keys: readonly string[]
  readonly evidence: string
  readonly dateFormat?: string
  readonly datetimeFormat?: string
  readonly hasDecimalComma?: boolean
  /** Words for true and false that are not the usual ones. */
  readonly booleans?: readonly [truth: string, lie: string]
}

/** Texts that stand for nothing in files of governments. */
export const nullWords = ['#NULO#', '#NULO', '#NE#', '#NE', 'NULL', 'null', 'N/A', 'NaN', 'nan', 'None']

const dateFormats = [
  'yyyy-mm-dd',
  'dd/mm/yyyy',
  'dd-mm-yyyy',
  'dd.mm.yyyy',
  'yyyymmdd',
  'yyyy/mm/dd',
] as const
const booleanWords = [
  ['true', 'false'],
  ['S', 'N'],
  ['Sim', 'Não'],
  ['SIM', 'NÃO'],
  ['Y', 'N'],
  ['Yes', 'No'],
] as const
/** More digits after the point than this are measured, not counted. */
const scaleMax = 6
/** In characters. */
const longText = 255

function datePattern(format: string): string {
  return format.replaceAll('.', '\\.').replaceAll(/[ymd]/g, '[0-9]')
}

/** Counts what each text of a column could be, over all rows. */
const tests: readonly (readonly [name: string, sql: (text: string) => string])[] = [
  ['integer', (t) => `regexp_full_match(${t}, '-?[0-9]{1,18}')`],
  ['leadingZero', (t) => `regexp_full_match(${t}, '-?0[0-9]+')`],
  ['point', (t) => `regexp_full_match(${t}, '-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?')`],
  ['comma', (t) => `regexp_full_match(${t}, '-?[0-9]+(,[0-9]+)?')`],
  ['hasComma', (t) => `contains(${t}, ',')`],
  ['exponent', (t) => `regexp_matches(${t}, '[eE]')`],
  ['cpf', (t) => `regexp_full_match(${t}, '[0-9]{3}\\.?[0-9]{3}\\.?[0-9]{3}-?[0-9]{2}')`],
  ...dateFormats.map(
    (format) => [format, (t: string) => `regexp_full_match(${t}, '${datePattern(format)}')`] as const,
  ),
  ...dateFormats.map(
    (format) =>
      [
        `${format} hh:mm:ss`,
        (t: string) => `regexp_full_match(${t}, '${datePattern(format)}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}')`,
      ] as const,
  ),
  ...booleanWords.map(
    ([truth, lie]) =>
      [
        `${truth}/${lie}`,
        (t: string) => `${t} in (${quotedText(truth)}, ${quotedText(lie)}${usual(truth)})`,
      ] as const,
  ),
]

function usual(truth: string): string {
  return truth === 'true' ? `, 'True', 'TRUE', 'False', 'FALSE'` : ''
}

/**
 * The field that fits every value of a column.
 *
 * @param from SQL of the rows
 * @param text SQL of the column's texts, null where there is nothing
 */
export async function suggestField(
  db: Connection,
  from: string,
  text: string,
  isCode: boolean,
): Promise<SuggestedField> {
  const counts = tests.map(([, sql]) => `count(*) filter (where ${sql(text)})`)
  const [row = []] = await db.rows(`select count(${text}), coalesce(max(length(${text})), 0),
    coalesce(max(length(regexp_extract(${text}, '[.,]([0-9]+)$', 1))), 0),
    coalesce(max(length(regexp_extract(${text}, '^-?([0-9]+)', 1))), 0),
    any_value(${text}), ${counts.join(', ')} from ${from}`)
  const [filled = 0, longest = 0, scale = 0, digits = 0] = row.slice(0, 4).map(Number)
  const example = row[4] ?? null
  const found = new Map(tests.map(([name], index) => [name, Number(row[5 + index])]))
  return decide({ filled, longest, scale, digits, example, isCode, count: (name) => found.get(name) ?? 0 })
}

interface Facts {
  readonly filled: number
  readonly longest: number
  readonly scale: number
  readonly digits: number
  readonly example: Value
  readonly isCode: boolean
  readonly count: (name: string) => number
}

function decide({ filled, longest, scale, digits, example, isCode, count }: Facts): SuggestedField {
  const number = filled.toLocaleString('en')
  const all = (name: string): boolean => filled > 0 && count(name) === filled
  if (filled === 0) return { type: 'string', keys: [], evidence: 'all values are null, so any type would do' }
  const words = booleanWords.find(([truth, lie]) => all(`${truth}/${lie}`))
  if (words !== undefined) {
    const evidence = `all ${number} values are ${words.join(' or ')}`
    return words[0] === 'true'
      ? { type: 'bool', keys: [], evidence }
      : { type: 'bool', keys: [], evidence, booleans: words }
  }
  const date = dateFormats.find((format) => all(format))
  if (date !== undefined && (date !== 'yyyymmdd' || !isCode)) {
    const evidence = `all ${number} values are written ${date}`
    return date === 'yyyy-mm-dd'
      ? { type: 'date', keys: [], evidence }
      : { type: 'date', keys: [], evidence, dateFormat: date }
  }
  const moment = dateFormats.map((format) => `${format} hh:mm:ss`).find((format) => all(format))
  if (moment !== undefined) {
    const evidence = `all ${number} values are written ${moment}`
    return moment.startsWith('yyyy-mm-dd')
      ? { type: 'datetime', keys: [], evidence }
      : { type: 'datetime', keys: [], evidence, datetimeFormat: moment }
  }
  if (all('cpf') && longest >= 11) {
    return {
      type: 'string',
      keys: ['mask: cpf'],
      evidence: `all ${number} values look like a CPF, which is personal: see whether it must be hidden`,
    }
  }
  if (all('integer')) {
    if (count('leadingZero') > 0) {
      return {
        type: 'string',
        keys: [],
        evidence: `digits, ${count('leadingZero').toLocaleString('en')} of ${number} with a leading zero, which a number would lose`,
      }
    }
    if (isCode)
      return {
        type: 'string',
        keys: [],
        evidence: `all ${number} values are digits, and the name tells of a code`,
      }
    return {
      type: 'integer',
      keys: [],
      evidence: `all ${number} values are whole numbers of at most ${digits} digits`,
    }
  }
  const hasDecimalComma = all('comma') && count('hasComma') > 0
  if (all('point') || hasDecimalComma) {
    const comma = hasDecimalComma ? { hasDecimalComma } : {}
    if (count('exponent') === 0 && scale <= scaleMax && digits + scale <= 38) {
      const precision = Math.max(18, digits + scale)
      const keys = [...(precision > 18 ? [`precision: ${precision}`] : []), `scale: ${scale}`]
      return {
        type: 'decimal',
        keys,
        evidence: `all ${number} values are numbers with at most ${scale} digits after the ${hasDecimalComma ? 'comma' : 'point'}`,
        ...comma,
      }
    }
    return {
      type: 'float',
      keys: [],
      evidence: `all ${number} values are numbers, some with ${scale} digits after the ${hasDecimalComma ? 'comma' : 'point'}`,
      ...comma,
    }
  }
  const shown = JSON.stringify(String(example).slice(0, 40))
  const remarks = remarksOn(filled, count)
  return {
    type: longest > longText ? 'text' : 'string',
    keys: [],
    evidence: `${number} texts of at most ${longest} characters, such as ${shown}${remarks}`,
  }
}

/** Most values of one kind tell that the rest are perhaps faults. */
const mostShare = 0.9

/** What else is to be seen in texts of several kinds. */
function remarksOn(filled: number, count: Facts['count']): string {
  const names = [...dateFormats, 'integer', 'point', 'comma']
  const kind = names.find((name) => count(name) >= mostShare * filled)
  const most =
    kind === undefined
      ? ''
      : `; all but ${(filled - count(kind)).toLocaleString('en')} are written as ${kind}`
  const personal =
    count('cpf') === 0
      ? ''
      : `; ${count('cpf').toLocaleString('en')} look like a CPF, which is personal: see mask`
  return most + personal
}
