import { createReadStream } from 'node:fs'
import { PassThrough, pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import type { Field, Table } from '../../core/catalog/catalog.ts'
import { partTerm, partsOf, type Term } from '../../server/query/date-parts.ts'
import { operatorsOf } from '../../server/query/operators.ts'

/**
 * Computes the answer to a query from the source CSV, without Acervo or DuckDB: a second implementation of
 * the query language.
 */

/** Numbers of integers and decimals as scaled bigints, so that no digit is lost. */
export type Cell = string | number | bigint | boolean | null
/** Cells in the order of the fields. */
export type Row = readonly Cell[]

export function cellOf(field: Field, text: string): Cell {
  switch (field.type) {
    case 'integer':
      return BigInt(text)
    case 'decimal': {
      const [whole = '', fraction = ''] = text.split('.')
      return BigInt(whole + fraction.padEnd(field.scale, '0').slice(0, field.scale))
    }
    case 'float':
      return Number(text)
    case 'bool':
      return text.toLowerCase() === 'true'
    case 'datetime':
      return text.replace(' ', 'T')
    default:
      return text
  }
}

/** The cell as JSON has it. */
export function shown(field: Field, cell: Cell): unknown {
  if (typeof cell === 'string' && (field.type === 'json' || field.type === 'list')) return JSON.parse(cell)
  if (typeof cell === 'string' && field.type === 'point') {
    const [lat, lon] = cell.split(',').map(Number)
    return { lat, lon }
  }
  if (typeof cell !== 'bigint') return cell
  return Number(field.type === 'decimal' ? decimalText(field, cell) : cell)
}

/** All rows of a source, plain or in gzip, in the declared order. */
export async function readRows(file: string, table: Table): Promise<Row[]> {
  const rows: Row[] = []
  const parser = parse({ columns: true })
  // Errors in the pipeline end the parser too.
  const unpacking = file.endsWith('.gz') ? createGunzip() : new PassThrough()
  pipeline(createReadStream(file), unpacking, parser, () => undefined)
  for await (const texts of parser as AsyncIterable<Record<string, string>>) {
    rows.push(
      table.fields.map((field) => {
        const text = texts[field.name] ?? ''
        return text === '' ? null : cellOf(field, text)
      }),
    )
  }
  return ordered(table, rows, table.order)
}

/** A condition as a reader means it. */
export interface Asked {
  readonly field: Term
  readonly operator: string
  readonly values: readonly Cell[]
}

export interface AskedRows {
  readonly conditions: readonly Asked[]
  readonly words: readonly string[]
  readonly ordering: readonly { readonly field: string; readonly direction: 'asc' | 'desc' }[]
}

/** @param rows in the declared order */
export function evaluate(
  table: Table,
  rows: readonly Row[],
  { conditions, words, ordering }: AskedRows,
): Row[] {
  const terms = words.map(fold)
  const search = table.search.map((name) => indexOf(table, name))
  const placed = conditions.map((condition) => ({
    condition,
    at: indexOf(table, condition.field.part?.base.name ?? condition.field.name),
  }))
  const matching = rows.filter(
    (row) =>
      placed.every(({ condition, at }) => holds(termCell(condition.field, row[at] ?? null), condition)) &&
      terms.every((term) =>
        search.some((at) => {
          const cell = row[at]
          return typeof cell === 'string' && hasTerm(fold(cell), term)
        }),
      ),
  )
  return ordering.length === 0 ? matching : ordered(table, matching, ordering)
}

/** The value of a part of a date, counted from the first of January. */
export function termCell({ part }: Term, cell: Cell): Cell {
  if (part === undefined || cell === null) return cell
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d\d)-(\d\d)(?:T.*)?$/.exec(String(cell)) ?? []
  const lengths = [31, isLeap(Number(year)) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  const length = lengths[Number(month) - 1] ?? 0
  if (Number(year) === 0 || Number(day) < 1 || Number(day) > length) return null
  if (part.base.type !== 'datetime' && String(cell).length > 10) return null
  const ordinal = lengths.slice(0, Number(month) - 1).reduce((sum, days) => sum + days, Number(day))
  const weekday = weekdayIn(Number(year), ordinal)
  switch (part.name) {
    case 'year':
      return BigInt(year)
    case 'quarter':
      return `${year}-Q${'111222333444'.charAt(Number(month) - 1)}`
    case 'month':
      return `${year}-${month}`
    case 'day':
      return `${year}-${month}-${day}`
    case 'weekday':
      return BigInt(weekday)
    case 'week': {
      const week = Math.floor((ordinal - weekday + 10) / 7)
      if (week < 1) return weekText(Number(year) - 1, weeksIn(Number(year) - 1))
      return week > weeksIn(Number(year)) ? weekText(Number(year) + 1, 1) : weekText(Number(year), week)
    }
  }
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

/** From 1 for Monday; the first of January of year 1 was one. */
function weekdayIn(year: number, ordinal: number): number {
  const before = year - 1
  const days = 365 * before + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400)
  return ((days + ordinal - 1) % 7) + 1
}

function weeksIn(year: number): number {
  const first = weekdayIn(year, 1)
  return first === 4 || (first === 3 && isLeap(year)) ? 53 : 52
}

function weekText(year: number, week: number): string {
  return `${String(year).padStart(4, '0')}-W${String(week).padStart(2, '0')}`
}

/** Tests a folded text for a search term; `*` at its end means that a word starts with it. */
function hasTerm(text: string, term: string): boolean {
  if (!term.endsWith('*')) return text.includes(term)
  const start = term.slice(0, -1)
  for (let at = text.indexOf(start); at !== -1; at = text.indexOf(start, at + 1)) {
    const before = Array.from(text.slice(0, at)).at(-1)
    if (before === undefined || !/[\p{L}\p{N}]/u.test(before)) return true
  }
  return false
}

function holds(cell: Cell, { operator, values }: Asked): boolean {
  const [first = null, second = null] = values
  if (operator === 'isnull') return (cell === null) === first
  if (operator === 'ne') return !isSame(cell, first)
  if (cell === null) return false
  switch (operator) {
    case 'eq':
      return isSame(cell, first)
    case 'gt':
      return compareCells(cell, first) > 0
    case 'gte':
      return compareCells(cell, first) >= 0
    case 'lt':
      return compareCells(cell, first) < 0
    case 'lte':
      return compareCells(cell, first) <= 0
    case 'in':
      return values.some((value) => isSame(cell, value))
    case 'range':
      return compareCells(cell, first) >= 0 && compareCells(cell, second) <= 0
    case 'iexact':
      return trimmed(fold(String(cell))) === trimmed(fold(String(first)))
    case 'contains':
      return fold(String(cell)).includes(fold(String(first)))
    case 'startswith':
      return fold(String(cell)).startsWith(fold(String(first)))
    case 'has':
      return (JSON.parse(String(cell)) as Cell[]).some((item) => isSame(item, first))
    case 'within': {
      const [lat = 0, lon = 0] = String(cell).split(',').map(Number)
      const [west = 0, south = 0, east = 0, north = 0] = values.map(Number)
      return (
        lat >= south &&
        lat <= north &&
        (west <= east ? lon >= west && lon <= east : lon >= west || lon <= east)
      )
    }
    default:
      throw new Error(`no operator ${operator}`)
  }
}

/** Returns whether two texts look the same: they may be in any normal form. */
export function isSame(a: Cell, b: Cell): boolean {
  return typeof a === 'string' && typeof b === 'string' ? a.normalize('NFC') === b.normalize('NFC') : a === b
}

/** A text without the blanks at its ends. */
function trimmed(text: string): string {
  return text.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, '')
}

/** Characters one by one: in a whole text JavaScript writes the last sigma of a word in a way of its own. */
export function fold(text: string): string {
  const bare = text.normalize('NFD').replaceAll(/\p{M}/gu, '')
  return Array.from(bare, (character) => character.toLowerCase())
    .join('')
    .normalize('NFC')
    .replaceAll(/[\u2018-\u201b\u2032\u00b4]/g, "'")
    .replaceAll(/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
    .replaceAll(/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, ' ')
    .replaceAll(/[\uff01-\uff5e]/g, (sign) => sign.normalize('NFKC'))
}

/** By code points, as bytes of UTF-8 are ordered. */
export function compareCells(a: Cell, b: Cell): number {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a === b) return 0
    let at = 0
    while (a.codePointAt(at) === b.codePointAt(at)) at += 1
    return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1)
  }
  if (a === b || a === null || b === null) return 0
  return a < b ? -1 : 1
}

export function indexOf(table: Table, name: string): number {
  return table.fields.findIndex((field) => field.name === name)
}

function ordered(table: Table, rows: readonly Row[], by: AskedRows['ordering']): Row[] {
  const keys = by.map(({ field, direction }) => ({ at: indexOf(table, field), direction }))
  return rows.toSorted((left, right) => {
    for (const { at, direction } of keys) {
      const a = left[at] ?? null
      const b = right[at] ?? null
      if (a === b) continue
      if (a === null || b === null) return a === null ? 1 : -1
      const difference = compareCells(a, b)
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  })
}

/** A query as parameters, and as what it means. */
export interface RandomQuery extends AskedRows {
  readonly query: URLSearchParams
  readonly fields: readonly string[] | null
}

export type Random = () => number

export const pick = <T>(random: Random, items: readonly T[]): T => {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new RangeError('nothing to pick from')
  return item
}

/** Conditions on values that are there, mostly, so that most queries find something. */
export function randomQuery(random: Random, table: Table, rows: readonly Row[]): RandomQuery {
  const query = new URLSearchParams()
  const conditions: Asked[] = []
  for (let left = pick(random, [0, 1, 1, 1, 2, 2, 3]); left > 0; left -= 1) {
    const field = table.fields.find(({ name }) => name === pick(random, table.filters))
    if (field === undefined) continue
    const made = randomCondition(random, table, field, rows)
    if (made === null || query.has(made.name)) continue
    if (
      conditions.some((condition) => condition.field === field && condition.operator === made.asked.operator)
    )
      continue
    query.set(made.name, made.text)
    conditions.push(made.asked)
  }
  const words: string[] = []
  if (table.search.length > 0 && random() < 0.2) {
    const text = pick(random, rows)[indexOf(table, pick(random, table.search))]
    const rowsFound =
      typeof text === 'string'
        ? [
            ...text.split(/[\s/\\|_+&=\u2010-\u2015\uff01-\uff5e-]+/),
            ...(text.match(/[\p{L}\p{N}]+ [\p{L}\p{N}]+/gu) ?? []),
          ].filter(isWord)
        : []
    if (rowsFound.length > 0) {
      for (let left = pick(random, [1, 1, 2]); left > 0; left -= 1)
        words.push(searchedFor(random, pick(random, rowsFound)) + pick(random, ['', '', '*']))
      query.set(
        'search',
        words
          .map((word) => (word.includes(' ') ? pick(random, [`"${word}"`, `“${word}”`]) : word))
          .join(pick(random, [' ', '  ', ', '])),
      )
    }
  }
  const ordering: RandomQuery['ordering'][number][] = []
  if (random() < 0.3) {
    for (let left = pick(random, [1, 1, 2, 3]); left > 0; left -= 1) {
      const { name: field } = pick(random, table.fields)
      if (ordering.every((key) => key.field !== field))
        ordering.push({ field, direction: pick(random, ['asc', 'desc'] as const) })
    }
    const text = ordering.map(({ field, direction }) => (direction === 'desc' ? `-${field}` : field)).join()
    query.set(pick(random, ['ordering', 'order-by']), text)
  }
  let fields: string[] | null = null
  if (random() < 0.3) {
    fields = [...new Set([pick(random, table.fields).name, pick(random, table.fields).name])]
    query.set('fields', fields.join())
  }
  return { query, conditions, words, ordering, fields }
}

/** Returns whether a text is one word or two, without punctuation at its ends, which a search ignores. */
function isWord(text: string): boolean {
  return fold(text) !== '' && /^[\p{L}\p{N}]([^"“”„«»,;]*[\p{L}\p{N}])?$/u.test(text)
}

/** A word or phrase in another writing, or a part of it. */
function searchedFor(random: Random, word: string): string {
  const made = mangled(random, word).trim()
  return isWord(made) ? made : word
}

/** Another writing of the same word. */
function mangled(random: Random, word: string): string {
  return (
    pick(random, [
      (text: string) => text,
      (text: string) => fold(text),
      (text: string) => (text.toUpperCase() === text ? text : fold(text).toUpperCase()),
      (text: string) => Array.from(text).slice(0, 4).join(''),
    ])(word) || word
  )
}

/** A condition as a parameter, and as what it means. */
interface RandomCondition {
  readonly name: string
  readonly text: string
  readonly asked: Asked
}

/** A condition on a part of some date of a table; null if the chosen value has no such condition. */
export function randomPartCondition(
  random: Random,
  table: Table,
  rows: readonly Row[],
): RandomCondition | null {
  const terms = table.fields.flatMap((base) =>
    partsOf(table, base).flatMap((part) => partTerm(base, part) ?? []),
  )
  return randomCondition(random, table, pick(random, terms), rows)
}

/** A query with one condition of this operator; null if no value of the field allows one. */
export function queryWith(
  random: Random,
  table: Table,
  field: Field,
  operator: string,
  rows: readonly Row[],
): RandomQuery | null {
  for (let tries = 0; tries < 50; tries += 1) {
    const made = randomCondition(random, table, field, rows, operator)
    if (made?.asked.field === field)
      return {
        query: new URLSearchParams({ [made.name]: made.text }),
        conditions: [made.asked],
        words: [],
        ordering: [],
        fields: null,
      }
  }
  return null
}

function randomCondition(
  random: Random,
  table: Table,
  term: Term,
  rows: readonly Row[],
  wanted: string | null = null,
): RandomCondition | null {
  const parts = term.part === undefined ? partsOf(table, term) : []
  const derived =
    wanted === null && parts.length > 0 && random() < 0.4 ? partTerm(term, pick(random, parts)) : undefined
  const field: Term = derived ?? term
  const at = indexOf(table, field.part?.base.name ?? field.name)
  const value = (): Cell => termCell(field, pick(random, rows)[at] ?? null)
  // Only names of operators come from the service; their meaning is implemented again here.
  const operator = wanted ?? pick(random, ['eq', 'eq', ...operatorsOf(field)])
  const name = operator === 'eq' && random() < 0.7 ? field.name : `${field.name}__${operator}`
  if (operator === 'isnull') {
    const isNull = random() < 0.5
    const text = isNull ? pick(random, ['true', 'True', '1']) : pick(random, ['false', 'False', '0'])
    return { name, text, asked: { field, operator, values: [isNull] } }
  }
  const first = value()
  // The service takes no longer ones.
  if (typeof first === 'string' && first.length > 200) return null
  if (first === null) {
    if (operator !== 'eq' || name !== field.name) return null
    return { name, text: 'None', asked: { field, operator: 'isnull', values: [true] } }
  }
  if (operator === 'contains' || operator === 'startswith') {
    const characters = Array.from(String(first))
    const start = operator === 'startswith' ? 0 : Math.floor(random() * characters.length)
    const part = characters.slice(start, start + pick(random, [1, 2, 4, 8])).join('')
    const text = mangled(random, part)
    if (fold(text) === '') return null
    return { name, text, asked: { field, operator, values: [text] } }
  }
  if (operator === 'iexact') {
    const text = pick(random, ['', ' ', '\t ']) + mangled(random, String(first))
    if (fold(text) === '') return null
    return { name, text, asked: { field, operator, values: [text] } }
  }
  if (operator === 'has') {
    const item = pick(random, [...(JSON.parse(String(first)) as string[]), 'none'])
    if (item === '""') return null
    return { name, text: item === '' ? '""' : item, asked: { field, operator, values: [item] } }
  }
  if (operator === 'within') {
    const [lat = 0, lon = 0] = String(first).split(',').map(Number)
    const [south, north] = [lat - 10, lat + 10].map((degrees) => Math.max(-90, Math.min(90, degrees)))
    const [west, east] = [lon - 90, lon + 20].map((degrees) => ((degrees + 540) % 360) - 180)
    const values = [west ?? 0, south ?? 0, east ?? 0, north ?? 0].map((degrees) => degrees.toFixed(6))
    return { name, text: values.join(), asked: { field, operator, values } }
  }
  if (operator === 'in' || operator === 'range') {
    const count = operator === 'range' ? 2 : pick(random, [1, 2, 5])
    const values = [first, ...Array.from({ length: count - 1 }, value)].filter(
      (cell) => cell !== null && String(cell).length <= 200,
    )
    if (operator === 'range') {
      if (values.length !== 2) return null
      values.sort(compareCells)
    }
    const spelled = values.map((operand) => quoted(written(random, field, operand, operator === 'in')))
    const text = spelled.join(pick(random, [',', ', ', ' ,']))
    return { name, text, asked: { field, operator, values } }
  }
  const text = written(random, field, first, operator === 'eq' || operator === 'ne')
  // `None` means null, and `""` the empty text.
  if ((name === field.name && text === 'None') || text === '""') return null
  return { name, text: text === '' ? '""' : text, asked: { field, operator, values: [first] } }
}

/**
 * A value as an address may have it.
 * @param isEqual whether it is compared for being the same, in which case a text may be in another normal form
 */
function written(random: Random, field: Field, cell: Cell, isEqual: boolean): string {
  if (typeof cell === 'boolean') return pick(random, cell ? ['true', 'True', '1'] : ['false', 'False', '0'])
  if (field.type === 'decimal' && typeof cell === 'bigint') {
    return decimalText(field, cell).replace(/\d/, (digit) => pick(random, [digit, `0${digit}`]))
  }
  const text = String(cell)
  return isEqual && typeof cell === 'string'
    ? pick(random, [text, text.normalize('NFC'), text.normalize('NFD')])
    : text
}

/** The cell as a text that a page shows. */
export function textOf(field: Field, cell: NonNullable<Cell>): string {
  if (typeof cell === 'bigint') return field.type === 'decimal' ? decimalText(field, cell) : String(cell)
  return field.type === 'datetime' ? String(cell).replace('T', ' ') : String(cell)
}

function decimalText({ scale }: Field, cell: bigint): string {
  const digits = (cell < 0n ? -cell : cell).toString().padStart(scale + 1, '0')
  const at = digits.length - scale
  return `${cell < 0n ? '-' : ''}${digits.slice(0, at)}${scale === 0 ? '' : `.${digits.slice(at)}`}`
}

function quoted(text: string): string {
  return /[",;|[\](){}\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
