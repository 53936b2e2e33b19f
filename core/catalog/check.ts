import { orderedField, signedKey } from './order-key.ts'
import { checkDigits, checkFieldName, checkFieldReading } from './check-field.ts'
import { checkSource, constantFields } from './check-source.ts'
import { checkExpectations, checkReferences } from './expectations.ts'
import {
  at,
  entries,
  isRecord,
  isString,
  items,
  reportRepeats,
  requireField,
  rowOf,
  strings,
  typesWith,
  unknownName,
  type Path,
  type ReportFault,
} from './raw-document.ts'
import { languages } from './names.ts'

/**
 * Checks rules that the schema in definition.ts cannot express: names that must exist or be unique. Reads the
 * raw document and skips values of a wrong shape, so that one run reports all faults.
 */
export function checkNames(root: unknown, report: ReportFault): void {
  const families = entries(root, 'families')
  if (isRecord(at(root, 'families')) && families.length === 0)
    report(['families'], '"families" is empty: declare at least one family')
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
  checkReferences(root, report)
}

/** Addresses of other resources, which no family may use. */
const ownPlaces: readonly (readonly [place: string, what: string])[] = [
  ['/files', 'files'],
  ['/health', 'the state of the service'],
  ['/livez', 'the check that the process responds'],
  ['/readyz', 'the check that the service is ready'],
  ['/limits', 'the remaining quotas of a client'],
  ['/assets', 'styles and scripts of pages'],
  ['/metadata', 'the metadata documents'],
  ['/catalog', 'the DCAT catalog'],
  ['/feeds', 'the feeds'],
  ['/api/3', 'the CKAN API'],
  ['/api/action', 'the CKAN API'],
  ...languages.map((language) => [`/${language}`, 'the HTML pages'] as const),
]

/** Reports families whose addresses would collide with other resources, or with the datasets of another family. */
function checkPrefixes(prefixes: readonly (readonly [Path, unknown])[], report: ReportFault): void {
  for (const [path, prefix] of prefixes) {
    if (typeof prefix !== 'string') continue
    const own = ownPlaces.find(([place]) => isWithin(prefix, place))
    if (own !== undefined) report(path, `"${prefix}" is used for ${own[1]}: choose another, such as /api/v1`)
    for (const [, other] of prefixes) {
      if (typeof other !== 'string') continue
      const conflict = [`${other}/dataset`, `${other}/datasets`].find((place) => isWithin(prefix, place))
      if (conflict !== undefined)
        report(path, `"${prefix}" is below the addresses of datasets at ${other}: choose another prefix`)
    }
  }
}

function isWithin(address: string, place: string): boolean {
  return address === place || address.startsWith(`${place}/`)
}

function checkDataset(dataset: unknown, path: Path, families: readonly string[], report: ReportFault): void {
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

/** A table as written in the catalog. */
interface CheckedTable {
  readonly table: unknown
  readonly path: Path
  readonly fields: readonly [number, unknown][]
  /** Names of the fields. */
  readonly known: readonly string[]
  readonly report: ReportFault
}

function checkTable(table: unknown, path: Path, report: ReportFault): void {
  const fields = items(table, 'fields')
  const fieldNames = childNames(fields, [...path, 'fields'], 'name')
  reportRepeats(fieldNames, 'field name', report)
  for (const [namePath, name] of fieldNames) {
    if (typeof name === 'string') checkFieldName(name, namePath, report)
  }
  for (const [index, field] of fields) {
    checkDigits(field, [...path, 'fields', index], report)
    checkFieldReading(field, at(table, 'source'), [...path, 'fields', index], report)
  }

  const known = fieldNames.flatMap(([, name]) => (typeof name === 'string' ? [name] : []))
  const written = { table, path, fields, known, report }
  checkOrder(written)
  checkPartition(written)
  checkFilters(written)
  checkOrders(written)
  checkSearch(written)
  checkMeasures(written)
  checkTotals(written)
  checkExpectations(table, path, known, report)
  checkSource(at(table, 'source'), [...path, 'source'], known, report)
  for (const [index, field] of fields) {
    const given = constantFields(at(table, 'source'))
    if (at(field, 'mask') !== undefined && given.includes(String(at(field, 'name')))) {
      report(
        [...path, 'fields', index, 'mask'],
        'a value from "constants" or "from_name" cannot be masked: remove the mask, and write a constant as it should be shown',
      )
    }
  }
}

function checkOrder({ table, path, known, report }: CheckedTable): void {
  const keys = strings(table, 'order').map(
    ([index, key]) => [[...path, 'order', index], orderedField(key, known)] as const,
  )
  reportRepeats(keys, 'order field', report)
  for (const [keyPath, key] of keys) {
    const [, field = '', word = ''] = /^(.*) (\S+)$/.exec(key) ?? []
    if (known.includes(field) && !known.includes(key)) {
      report(keyPath, `"${word}" is not a direction: write "${field} asc" or "${field} desc"`)
    } else requireField(key, keyPath, known, report)
  }
}

function checkPartition({ table, path, fields, known, report }: CheckedTable): void {
  const name = at(table, 'partition')
  if (typeof name !== 'string') return
  const own = [...path, 'partition']
  requireField(name, own, known, report)
  if (!known.includes(name)) return
  const field = fields.map(([, one]) => one).find((one) => at(one, 'name') === name)
  if (rowOf(field)?.isOrdered !== true || at(field, 'type') === 'float')
    report(
      own,
      `"${name}" cannot be the partition, since its type has no exact order: choose a field of another type`,
    )
  const [, first = ''] = strings(table, 'order')[0] ?? []
  if (orderedField(first, known) !== name)
    report(
      own,
      `"${name}" must be the first field of the order, so that the rows of a partition are adjacent`,
    )
  if (at(at(table, 'source'), 'files') === undefined)
    report(own, '"partition" needs several source files: list them in source.files')
}

/** Checks the additional orders: clients must be allowed to order by each of their fields. */
function checkOrders({ table, path, known, report }: CheckedTable): void {
  const filters = strings(table, 'filters').map(([, name]) => name)
  const allowed = at(table, 'filters') === undefined ? known : filters
  const check = (keys: readonly (readonly [Path, string])[]): void => {
    for (const [keyPath, name] of keys) {
      requireField(name, keyPath, known, report)
      if (known.includes(name) && !allowed.includes(name))
        report(
          keyPath,
          `"${name}" is not in \`filters\`, so clients cannot order by it: add it there, or remove it from \`orders\``,
        )
    }
    reportRepeats(keys, 'order field', report)
  }
  for (const [index, order] of items(table, 'orders')) {
    const keys = Array.isArray(order) ? order.filter((key) => typeof key === 'string') : []
    check(keys.map((key, place) => [[...path, 'orders', index, place], signedKey(key).field] as const))
  }
}

function checkFilters({ table, path, known, report }: CheckedTable): void {
  for (const [index, name] of strings(table, 'filters')) {
    requireField(name, [...path, 'filters', index], known, report)
  }
}

function checkSearch({ table, path, fields, known, report }: CheckedTable): void {
  const textual = new Set(fields.filter(([, field]) => isString(field)).map(([, field]) => at(field, 'name')))
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

/** Maximum precision of a measure: sums of 10 billion rows then fit into the 38 digits of a decimal. */
const summedDigitsMax = 28

function checkMeasures({ table, path, fields, known, report }: CheckedTable): void {
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

/** Checks that each field with totals is a text and a filter, so that clients can exclude totals by a condition. */
function checkTotals({ table, path, fields, known, report }: CheckedTable): void {
  const filters =
    isRecord(table) && 'filters' in table ? strings(table, 'filters').map(([, name]) => name) : known
  const texts = new Set(fields.filter(([, field]) => isString(field)).map(([, field]) => at(field, 'name')))
  for (const [name] of entries(table, 'totals')) {
    const namePath = [...path, 'totals', name]
    requireField(name, namePath, known, report)
    if (!known.includes(name)) continue
    if (!texts.has(name)) {
      report(
        namePath,
        `"${name}" cannot mark totals: only fields of type ${typesWith((row) => row.isText)} can`,
      )
    } else if (!filters.includes(name)) {
      report(namePath, `"${name}" cannot mark totals, since it is not in \`filters\`: add it there`)
    }
  }
}

function childNames(
  children: readonly [number, unknown][],
  path: Path,
  key: string,
): (readonly [Path, unknown])[] {
  return children.map(([index, child]) => [[...path, index, key], at(child, key)])
}
