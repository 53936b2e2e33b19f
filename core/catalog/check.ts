import { didYouMean } from '../nearest.ts'
import type { OrderKey } from './catalog.ts'
import { languages } from './languages.ts'
import { parseDateFormat } from './date-format.ts'
import { fieldTypeNames, typeRow } from './field-types.ts'
import { digitsDefault, type FieldTypeRow } from './types/field-type.ts'

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[]
export type Report = (path: Path, message: string) => void

/**
 * What the shapes of definition.ts cannot say: names that must exist and be unique. It reads the document as
 * it came, skipping what has the wrong shape, so that all faults show at once.
 */
export function checkNames(root: unknown, report: Report): void {
  const families = entries(root, 'families')
  if (isRecord(at(root, 'families')) && families.length === 0)
    report(['families'], 'must hold at least one family')
  const names = families.map(([name]) => name)
  for (const name of names) {
    if (!/^[a-z][a-z0-9_-]*$/.test(name)) {
      report(
        ['families', name],
        `the family name "${name}" must be lower-case letters, digits, - and _, letter first`,
      )
    }
  }
  const prefixes = families.map(
    ([name, family]) => [['families', name, 'prefix'], at(family, 'prefix')] as const,
  )
  reportRepeats(prefixes, 'family prefix', report)
  checkPrefixes(prefixes, report)

  const datasets = items(root, 'datasets')
  reportRepeats(childNames(datasets, ['datasets'], 'slug'), 'dataset slug', report)
  for (const [index, dataset] of datasets) checkDataset(dataset, ['datasets', index], names, report)
}

/** What answers beside the families. */
const ownPlaces: readonly (readonly [place: string, what: string])[] = [
  ['/files', 'the files of the service are'],
  ['/health', 'the service says how it is'],
  ['/livez', 'the service says that it lives'],
  ['/readyz', 'the service says whether it is ready'],
  ['/limits', 'a client is told how it stands'],
  ['/assets', 'what pages are drawn with is'],
  ['/metadata', 'the documents about datasets are'],
  ['/catalog', 'the catalog for harvesters is'],
  ['/feeds', 'the feeds are'],
  ['/api/3', 'the addresses of CKAN are'],
  ['/api/action', 'the addresses of CKAN are'],
  ...languages.map((language) => [`/${language}`, 'the pages for people are'] as const),
]

/** No address may be meant by two that answer. */
function checkPrefixes(prefixes: readonly (readonly [Path, unknown])[], report: Report): void {
  for (const [path, prefix] of prefixes) {
    if (typeof prefix !== 'string') continue
    const own = ownPlaces.find(([place]) => isWithin(prefix, place))
    if (own !== undefined) report(path, `"${prefix}" is where ${own[1]}: choose another, such as /api/v1`)
    for (const [, other] of prefixes) {
      if (typeof other !== 'string') continue
      const taken = [`${other}/dataset`, `${other}/datasets`].find((place) => isWithin(prefix, place))
      if (taken !== undefined)
        report(path, `"${prefix}" is where the datasets of the family at ${other} are: choose another`)
    }
  }
}

function isWithin(address: string, place: string): boolean {
  return address === place || address.startsWith(`${place}/`)
}

function checkDataset(dataset: unknown, path: Path, families: readonly string[], report: Report): void {
  for (const [index, name] of strings(dataset, 'listed_in')) {
    if (!families.includes(name)) report([...path, 'listed_in', index], unknownName('family', name, families))
  }
  for (const [name] of entries(dataset, 'overrides')) {
    if (!families.includes(name)) report([...path, 'overrides', name], unknownName('family', name, families))
  }
  const tables = items(dataset, 'tables')
  reportRepeats(childNames(tables, [...path, 'tables'], 'name'), 'table name', report)
  for (const [index, table] of tables) checkTable(table, [...path, 'tables', index], report)
}

function checkTable(table: unknown, path: Path, report: Report): void {
  const fields = items(table, 'fields')
  const fieldNames = childNames(fields, [...path, 'fields'], 'name')
  reportRepeats(fieldNames, 'field name', report)
  for (const [namePath, name] of fieldNames) {
    if (typeof name === 'string') checkFieldName(name, namePath, report)
  }
  for (const [index, field] of fields) {
    checkDigits(field, [...path, 'fields', index], report)
    checkReading(field, [...path, 'fields', index], report)
  }

  const known = fieldNames.flatMap(([, name]) => (typeof name === 'string' ? [name] : []))
  checkOrder(table, path, known, report)
  checkFilters(table, path, known, report)
  checkOrders(table, path, known, report)
  checkSearch(table, path, fields, known, report)
  checkMeasures(table, path, fields, known, report)
  checkSource(at(table, 'source'), [...path, 'source'], known, report)
  for (const [index, field] of fields) {
    const constants = entries(at(table, 'source'), 'constants').map(([name]) => name)
    if (at(field, 'mask') !== undefined && constants.includes(String(at(field, 'name')))) {
      report([...path, 'fields', index, 'mask'], 'a constant cannot be masked: write it as it is to be shown')
    }
  }
}

function checkOrder(table: unknown, path: Path, known: readonly string[], report: Report): void {
  const keys = strings(table, 'order').map(
    ([index, key]) => [[...path, 'order', index], orderedField(key, known)] as const,
  )
  reportRepeats(keys, 'order field', report)
  for (const [keyPath, key] of keys) {
    const [, field = '', word = ''] = /^(.*) (\S+)$/.exec(key) ?? []
    if (known.includes(field) && !known.includes(key)) {
      report(keyPath, `"${word}" is no direction: write "${field} asc" or "${field} desc"`)
    } else requireField(key, keyPath, known, report)
  }
}

/** The other orders, of fields that readers may order by. */
function checkOrders(table: unknown, path: Path, known: readonly string[], report: Report): void {
  const filters = strings(table, 'filters').map(([, name]) => name)
  const allowed = at(table, 'filters') === undefined ? known : filters
  const check = (keys: readonly (readonly [Path, string])[]): void => {
    for (const [keyPath, name] of keys) {
      requireField(name, keyPath, known, report)
      if (known.includes(name) && !allowed.includes(name))
        report(keyPath, `"${name}" cannot be ordered by: only what \`filters\` names can`)
    }
    reportRepeats(keys, 'order field', report)
  }
  for (const [index, order] of items(table, 'orders')) {
    const keys = Array.isArray(order) ? order.filter((key) => typeof key === 'string') : []
    check(keys.map((key, place) => [[...path, 'orders', index, place], signedKey(key).field] as const))
  }
  check(strings(table, 'clustered').map(([index, name]) => [[...path, 'clustered', index], name] as const))
}

/** A key as an address has it: with a minus before it, it descends. */
export function signedKey(key: string): OrderKey {
  return key.startsWith('-') ? { field: key.slice(1), direction: 'desc' } : { field: key, direction: 'asc' }
}

function checkFilters(table: unknown, path: Path, known: readonly string[], report: Report): void {
  for (const [index, name] of strings(table, 'filters')) {
    requireField(name, [...path, 'filters', index], known, report)
  }
}

function checkSearch(
  table: unknown,
  path: Path,
  fields: readonly [number, unknown][],
  known: readonly string[],
  report: Report,
): void {
  const textual = new Set(fields.filter(([, field]) => isText(field)).map(([, field]) => at(field, 'name')))
  for (const [index, name] of strings(table, 'search')) {
    const namePath = [...path, 'search', index]
    requireField(name, namePath, known, report)
    if (known.includes(name) && !textual.has(name)) {
      report(
        namePath,
        `"${name}" cannot be searched: only fields of type ${typesWith((row) => row.isText)} can`,
      )
    }
  }
}

/** With as many, 10 thousand million rows still add up to the 38 digits that there are. */
const summedDigitsMax = 28

function checkMeasures(
  table: unknown,
  path: Path,
  fields: readonly [number, unknown][],
  known: readonly string[],
  report: Report,
): void {
  const summed = fields.filter(([, field]) => rowOf(field)?.isSummed === true)
  const numbers = new Map(summed.map(([, field]) => [at(field, 'name'), field]))
  for (const [index, name] of strings(table, 'measures')) {
    const namePath = [...path, 'measures', index]
    requireField(name, namePath, known, report)
    if (known.includes(name) && !numbers.has(name)) {
      const due = typesWith((row) => row.isSummed)
      report(namePath, `"${name}" cannot be summed exactly: only fields of type ${due} can`)
    } else if (Number(at(numbers.get(name), 'precision') ?? 0) > summedDigitsMax) {
      report(
        namePath,
        `"${name}" cannot be summed: its sums may have more than 38 digits; declare a precision of at most ${summedDigitsMax}`,
      )
    }
  }
}

/** The row of the type that a field says, where there is such a type. */
function rowOf(field: unknown): FieldTypeRow | null {
  const type = fieldTypeNames.find((name) => name === at(field, 'type'))
  return type === undefined ? null : typeRow(type)
}

function isText(field: unknown): boolean {
  return rowOf(field)?.isText === true
}

/** Such as `string or text`. */
function typesWith(trait: (row: FieldTypeRow) => boolean): string {
  return fieldTypeNames.filter((name) => trait(typeRow(name))).join(' or ')
}

function checkSource(source: unknown, path: Path, known: readonly string[], report: Report): void {
  checkFiles(source, path, report)
  for (const type of ['date', 'datetime'] as const) {
    const format = at(source, type)
    if (typeof format === 'string') checkFormat(format, type, [...path, type], report)
  }
  if (at(source, 'quote') !== undefined && at(source, 'quote') === (at(source, 'delimiter') ?? ',')) {
    report([...path, 'quote'], 'must be another character than the delimiter')
  }
  const truths = new Set(strings(at(source, 'booleans'), 'true').map(([, word]) => word))
  for (const [index, word] of strings(at(source, 'booleans'), 'false')) {
    if (truths.has(word)) {
      report([...path, 'booleans', 'false', index], `"${word}" cannot mean both true and false`)
    }
  }
  const renamed = entries(source, 'rename')
  for (const [header, name] of renamed) {
    if (header === '__proto__') {
      report([...path, 'rename'], 'a header named "__proto__" cannot be renamed: change it in the source')
    } else if (typeof name === 'string') requireField(name, [...path, 'rename', header], known, report)
  }
  const targets = renamed.map(([header, name]) => [[...path, 'rename', header], name] as const)
  for (const [name] of entries(source, 'constants')) {
    const place = [...path, 'constants', name]
    requireField(name, place, known, report)
    if (targets.some(([, target]) => target === name)) {
      report(place, `"${name}" has a column that is renamed to it: a field is either constant or read`)
    }
  }
  const columns = new Set(renamed.map(([header]) => header))
  for (const [index, name] of strings(source, 'ignore')) {
    if (columns.has(name)) report([...path, 'ignore', index], `"${name}" is renamed to a field`)
  }
}

function checkFiles(source: unknown, path: Path, report: Report): void {
  const one = at(source, 'files')
  const files = typeof one === 'string' ? [[0, one] as const] : strings(source, 'files')
  for (const [index, file] of files) {
    const place = typeof one === 'string' ? [...path, 'files'] : [...path, 'files', index]
    const isAddress = /^[a-z][a-z0-9+.-]*:/i.test(file)
    if (isAddress && (!/^https?:\/\//.test(file) || !URL.canParse(file))) {
      report(place, `"${file}" must be a path under SOURCES, or an http(s) address`)
    } else if (isAddress && /^https?:\/\/[^/?#]*@/.test(file)) {
      report(place, 'an address with a password would be told in every report: write it without')
    } else if (isAddress && file.includes('*')) {
      report(place, `"${file}": an address cannot be listed, so it must name one file: write each`)
    } else if (!isAddress && (file.startsWith('/') || file.split('/').includes('..'))) {
      report(place, `"${file}" must lie under SOURCES: neither start with / nor hold ..`)
    } else if (!isAddress && file.slice(0, file.lastIndexOf('/') + 1).includes('*')) {
      report(place, `"${file}": * may stand in the name of a file, not of a folder`)
    }
  }
}

function checkFormat(format: string, type: 'date' | 'datetime', path: Path, report: Report): void {
  if (parseDateFormat(format, type) === null) {
    const example = type === 'date' ? 'dd/mm/yyyy' : 'dd/mm/yyyy hh:mm:ss'
    report(
      path,
      `"${format}" is no format of a ${type}: write it with yyyy, mm, dd, hh, mm, ss, such as ${example}`,
    )
  }
}

/** What only some types can be declared with. */
function checkReading(field: unknown, path: Path, report: Report): void {
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

function requireField(name: string, path: Path, known: readonly string[], report: Report): void {
  if (!known.includes(name)) report(path, unknownName('field', name, known))
}

/** Columns that are there besides the fields when rows are read. */
const ownNames = new Set(['file_row_number', 'file_index', 'acervo_position'])

/** Names that DuckDB or a JSON object cannot hold as they are. */
function checkFieldName(name: string, path: Path, report: Report): void {
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

function checkDigits(field: unknown, path: Path, report: Report): void {
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

/** The field of an order key: `date desc` -> `date`. */
export function orderedField(key: string, known: readonly string[]): string {
  return known.includes(key) ? key : key.replace(/ (asc|desc)$/, '')
}

function reportRepeats(named: readonly (readonly [Path, unknown])[], what: string, report: Report): void {
  const seen = new Map<string, string>()
  for (const [path, name] of named) {
    if (typeof name !== 'string') continue
    const earlier = seen.get(name.toLowerCase())
    if (earlier === name) report(path, `${what} "${name}" is there twice: each must be unique`)
    else if (earlier !== undefined) report(path, `${what} "${name}" differs from "${earlier}" only in case`)
    else seen.set(name.toLowerCase(), name)
  }
}

function unknownName(what: string, name: string, known: readonly string[]): string {
  return `there is no ${what} "${name}"${didYouMean(name, known)}; known: ${known.join(', ') || 'none'}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function at(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function entries(value: unknown, key: string): [string, unknown][] {
  const found = at(value, key)
  return isRecord(found) ? Object.entries(found) : []
}

function items(value: unknown, key: string): [number, unknown][] {
  const found = at(value, key)
  return Array.isArray(found) ? [...found.entries()] : []
}

function strings(value: unknown, key: string): [number, string][] {
  return items(value, key).flatMap(([index, item]) => (typeof item === 'string' ? [[index, item]] : []))
}

function childNames(
  children: readonly [number, unknown][],
  path: Path,
  key: string,
): (readonly [Path, unknown])[] {
  return children.map(([index, child]) => [[...path, index, key], at(child, key)])
}
