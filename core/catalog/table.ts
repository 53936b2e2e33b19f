import { digitsDefault } from './types/field-type.ts'
import { z } from 'zod'
import { expectationsOf, tableExpectations } from './expectations.ts'
import { checkField, digitsOf, fieldShape, buildField } from './field.ts'
import { typeRow, type FieldType } from './field-types.ts'
import { datePartNames, dueFrequencies, engineNames, measureFunctionNames } from './names.ts'
import { orderedField, signedKey, type OrderKey } from './order-key.ts'
import {
  below,
  camelKeys,
  count,
  mapOf,
  omit,
  optional,
  pathName,
  plainText,
  reportRepeats,
  requireField,
  texts,
  typesWith,
  type ReportFault,
} from './shapes.ts'
import { checkSource, sourceShape, buildSource } from './source.ts'

/** Tables with more fields have no row store by default, since it takes time for each field. */
const rowStoreFieldsMax = 200

export const tableShape = z.strictObject({
  name: pathName,
  title: optional(texts).describe('Title of the table for people.'),
  description: optional(texts).describe('Description of the rows.'),
  row_meaning: optional(texts).describe('Meaning of a row, such as `one municipality on one day`.'),
  synonyms: z
    .array(plainText)
    .default([])
    .describe('Other words, in any language, by which people search for the table, such as wages or judges.'),
  order: z
    .array(
      z
        .string()
        .regex(/^\S(.*\S)?( (asc|desc))?$/, 'must be a field name with asc or desc, such as "date desc"'),
    )
    .describe('Order of the rows, first key first; nulls last, ties in the order of the source.'),
  key: optional(z.array(plainText).min(1, 'it must name a field')).describe(
    'Fields that identify a row, such as [date, city]: an ingest rejects rows without them, or with those of another row. Changes then say which row changed, and in what. Default is none.',
  ),
  engine: optional(z.enum(engineNames)).describe(
    'Engine for filters and orders; clickhouse is the one at CLICKHOUSE_URL. Answers are the same. Default is duckdb.',
  ),
  partition: optional(plainText).describe(
    'First field of the order, with one value in each source file, such as a month. An ingest then converts only partitions whose files changed. Default is none.',
  ),
  filters: optional(z.array(plainText)).describe(
    'Fields that clients may filter and order by. Default is all.',
  ),
  export_rows: count(0, 1_000_000_000)
    .default(1_000_000)
    .describe('Most rows of an export; files have no limit. Default is 1000000.'),
  excel_rows: count(0, 1_048_575)
    .default(100_000)
    .describe('Most rows of an Excel workbook, which has room for 1048575. Default is 100000.'),
  search: optional(z.array(plainText)).describe(
    'Fields that a search covers. Default is all of type string and text.',
  ),
  orders: z
    .array(z.array(plainText).min(1, 'it must name a field'))
    .default([])
    .describe(
      'Frequent orders, such as [-date, city], with - for descending: any page of them costs as much as a page of the table. Each takes about 4 bytes per row, and the codes of the filters again.',
    ),
  packed: optional(z.boolean()).describe(
    'Stores the rows a second time for reading few of them: pages become several times cheaper, and it takes as much disk as the Parquet. Default is true; false for tables of more than 200 fields.',
  ),
  measures: z
    .array(plainText)
    .default([])
    .describe('Integer and decimal fields whose sums are meaningful; charts offer them. Default is none.'),
  chart: optional(
    z.strictObject({
      group: z.array(plainText).min(1, 'it must name a field').max(2, 'a chart has one or two groups'),
      measure: plainText,
    }),
  ).describe(
    'Chart that the page opens with: groups, such as [date__week], and a measure, such as new_deaths__sum or rows. Default is the first measure over time.',
  ),
  time: optional(plainText).describe(
    'Field with the time of a row: a date, a year such as 2020, or a month such as 202006. Pages say from when to when there are rows. Default is the first date of the order.',
  ),
  default_columns: optional(z.array(plainText).min(1, 'it must name a field')).describe(
    'Fields that a page shows first, in this order; readers can show all. Default is all fields.',
  ),
  totals: mapOf(plainText).describe(
    'Fields with the value that marks totals of other rows, such as place_type: state if states stand beside their cities. Charts never add totals to their parts.',
  ),
  default_filter: mapOf(plainText).describe(
    'Fields with the value that charts open with, such as is_last: true if sums make sense for the latest rows only. Readers can remove it.',
  ),
  min_group_size: count(0, 1_000_000)
    .default(0)
    .describe(
      'Hides groups of fewer rows in aggregates, charts and statistics of fields. It does not hide rows. Default is 0.',
    ),
  max_rejects: count(0, 1_000_000_000).default(0).describe('Most rows that may be rejected. Default is 0.'),
  may_be_empty: z
    .boolean()
    .default(false)
    .describe('Publishes a source without rows. Default is false, since such a source is usually truncated.'),
  refreshed: optional(z.enum(dueFrequencies)).describe(
    'Interval of changes of the source: a quarter later, `/health` reports the table as stale. Default is never.',
  ),
  expect: optional(tableExpectations).describe(
    'Rules for rows; nothing is published while a row breaks one.',
  ),
  source: sourceShape
    .prefault({})
    .describe('Format of the source CSV, if it differs from comma-separated values in UTF-8.'),
  fields: z.array(fieldShape).min(1, 'must list at least one field'),
})

export type TableDefinition = z.output<typeof tableShape>

export function buildTable(definition: TableDefinition) {
  const fields = definition.fields.map((field) => buildField(field, definition.source))
  const names = fields.map((field) => field.name)
  const textFields = fields.filter(({ type }) => typeRow(type).isText).map((field) => field.name)
  return {
    ...camelKeys(omit(definition, ['export_rows', 'excel_rows', 'max_rejects', 'packed', 'expect'])),
    fields,
    /** Ties are ordered by position in the source. */
    order: definition.order.map((key): OrderKey => {
      const field = orderedField(key, names)
      return { field, direction: key !== field && key.endsWith(' desc') ? 'desc' : 'asc' }
    }),
    filters: definition.filters ?? names,
    indexes: { values: definition.filters ?? [], words: definition.search !== null },
    search: definition.search ?? textFields,
    hasRowStore: definition.packed ?? fields.length <= rowStoreFieldsMax,
    orders: definition.orders.map((keys) => ({ keys: keys.map((key) => signedKey(key)) })),
    exportRowsMax: definition.export_rows,
    excelRowsMax: definition.excel_rows,
    rejectsMax: definition.max_rejects,
    expectations: expectationsOf(
      definition.fields.map((field) => ({ ...field, ...digitsOf(field) })),
      definition.expect,
      definition.key ?? [],
    ),
    source: buildSource(definition.source),
  }
}

export function checkTable(table: TableDefinition, report: ReportFault): void {
  const fieldNames = table.fields.map(({ name }) => name)
  reportRepeats(
    fieldNames.map((name, index) => [['fields', index, 'name'], name]),
    'field name',
    report,
  )
  if (table.chart !== null) checkChart(table.chart, table.fields, below(report, 'chart'))
  for (const [name, value] of table.default_filter) {
    const path = ['default_filter', name]
    const field = table.fields.find((item) => item.name === name)
    if (field === undefined) requireField(name, path, fieldNames, report)
    else if (table.filters?.includes(name) === false)
      report(path, `"${name}" cannot filter charts, since it is not in \`filters\`: add it there`)
    else if (
      typeRow(field.type).parse(value, {
        precision: field.precision ?? digitsDefault.precision,
        scale: field.scale ?? digitsDefault.scale,
      }) === null
    )
      report(path, `"${value}" is not a value of "${name}", whose type is ${field.type}`)
  }
  for (const key of ['filters', 'search', 'measures', 'default_columns'] as const) {
    for (const [index, name] of (table[key] ?? []).entries())
      requireField(name, [key, index], fieldNames, report)
  }
  for (const [index, keys] of (table.expect?.unique ?? []).entries()) {
    for (const [place, name] of keys.entries())
      requireField(name, ['expect', 'unique', index, place], fieldNames, report)
  }
  checkKey(table, fieldNames, report)
  checkOrder(table, fieldNames, report)
  checkPartition(table, fieldNames, report)
  checkOrders(table, fieldNames, report)
  checkFieldUses(table, fieldNames, report)
  checkSource(table.source, fieldNames, below(report, 'source'))
  for (const [index, field] of table.fields.entries())
    checkField(field, table.source, below(report, 'fields', index))
}

function checkOrder({ order }: TableDefinition, fieldNames: readonly string[], report: ReportFault): void {
  const keys = order.map((key, index) => [['order', index], orderedField(key, fieldNames)] as const)
  reportRepeats(keys, 'order field', report)
  for (const [path, key] of keys) {
    const [, field = '', word = ''] = /^(.*) (\S+)$/.exec(key) ?? []
    if (fieldNames.includes(field) && !fieldNames.includes(key))
      report(path, `"${word}" is not a direction: write "${field} asc" or "${field} desc"`)
    else requireField(key, path, fieldNames, report)
  }
}

function checkKey(
  { key, fields }: TableDefinition,
  fieldNames: readonly string[],
  report: ReportFault,
): void {
  const names = (key ?? []).map((name, index) => [['key', index], name] as const)
  reportRepeats(names, 'key field', report)
  for (const [path, name] of names) {
    const type = fields.find((item) => item.name === name)?.type
    if (type === undefined) requireField(name, path, fieldNames, report)
    else if (!isExact(type))
      report(path, `"${name}" cannot identify rows, since its type has no exact order: choose another field`)
  }
}

function isExact(type: FieldType): boolean {
  return typeRow(type).isOrdered && type !== 'float'
}

function checkPartition(table: TableDefinition, fieldNames: readonly string[], report: ReportFault): void {
  const { partition: name, fields, order, source } = table
  if (name === null) return
  const path = ['partition']
  const field = fields.find((item) => item.name === name)
  if (field === undefined) return requireField(name, path, fieldNames, report)
  if (!isExact(field.type))
    report(
      path,
      `"${name}" cannot be the partition, since its type has no exact order: choose a field of another type`,
    )
  if (orderedField(order[0] ?? '', fieldNames) !== name)
    report(
      path,
      `"${name}" must be the first field of the order, so that the rows of a partition are adjacent`,
    )
  if (source.files === null) report(path, '"partition" needs several source files: list them in source.files')
}

function checkOrders(table: TableDefinition, fieldNames: readonly string[], report: ReportFault): void {
  const allowed = table.filters ?? fieldNames
  for (const [index, order] of table.orders.entries()) {
    const keys = order.map((key, place) => [['orders', index, place], signedKey(key).field] as const)
    for (const [path, name] of keys) {
      requireField(name, path, fieldNames, report)
      if (fieldNames.includes(name) && !allowed.includes(name))
        report(
          path,
          `"${name}" is not in \`filters\`, so it has no codes to order by: add it there, or remove it from \`orders\``,
        )
    }
    reportRepeats(keys, 'order field', report)
  }
}

/** Sums of 10 billion rows then fit into the 38 digits of a decimal. */
const summedDigitsMax = 28

function checkChart(
  { group, measure }: NonNullable<TableDefinition['chart']>,
  fields: TableDefinition['fields'],
  report: ReportFault,
): void {
  const fieldNames = fields.map(({ name }) => name)
  const splitEnd = (name: string, ends: readonly string[]): readonly [field: string, end: string | null] => {
    const end = ends.find((ending) => name.endsWith(`__${ending}`)) ?? null
    return end === null || fieldNames.includes(name) ? [name, null] : [name.slice(0, -`__${end}`.length), end]
  }
  for (const [index, term] of group.entries()) {
    const [name, part] = splitEnd(term, datePartNames)
    const field = fields.find((item) => item.name === name)
    if (field === undefined) requireField(name, ['group', index], fieldNames, report)
    else if (part !== null && !['date', 'datetime'].includes(field.type) && field.kind !== 'date')
      report(['group', index], `"${name}" has no dates, so it has no ${part}`)
  }
  if (measure === 'rows') return
  const [name, functionName] = splitEnd(measure, measureFunctionNames)
  const field = fields.find((item) => item.name === name)
  if (field === undefined || functionName === null)
    report(
      ['measure'],
      `"${measure}" is not a measure: write rows, or a field and a function, such as ${fieldNames[0] ?? ''}__count`,
    )
  else if (['sum', 'avg', 'median'].includes(functionName) && typeRow(field.type).wire.kind !== 'number')
    report(['measure'], `"${name}" has no numbers, so it has no ${functionName}`)
}

function checkFieldUses(table: TableDefinition, fieldNames: readonly string[], report: ReportFault): void {
  // Reversed, so that the first of several fields with the same name counts.
  const fields = new Map(table.fields.toReversed().map((field) => [field.name, field]))
  const isText = (name: string): boolean => typeRow(fields.get(name)?.type ?? 'string').isText
  const textTypes = typesWith((row) => row.isText)
  if (table.time !== null) {
    const { type, kind } = fields.get(table.time) ?? {}
    if (type === undefined) requireField(table.time, ['time'], fieldNames, report)
    else if (kind !== 'date' && !['date', 'datetime', 'integer'].includes(type))
      report(['time'], `"${table.time}" has no times: choose dates, or integers such as 2020 or 202006`)
  }
  for (const [index, name] of (table.search ?? []).entries()) {
    if (!isText(name))
      report(['search', index], `"${name}" cannot be searched: only fields of type ${textTypes} can`)
  }
  for (const [index, name] of table.measures.entries()) {
    const field = fields.get(name)
    if (field !== undefined && !typeRow(field.type).isSummed) {
      const summedTypes = typesWith((row) => row.isSummed)
      report(
        ['measures', index],
        `"${name}" cannot be summed exactly: only fields of type ${summedTypes} can`,
      )
    } else if ((field?.precision ?? 0) > summedDigitsMax)
      report(
        ['measures', index],
        `"${name}" cannot be summed: its sums may have more than 38 digits; declare a precision of at most ${summedDigitsMax}`,
      )
  }
  // Clients must be able to exclude totals by a condition.
  for (const name of table.totals.keys()) {
    const path = ['totals', name]
    if (!fieldNames.includes(name)) requireField(name, path, fieldNames, report)
    else if (!isText(name)) report(path, `"${name}" cannot mark totals: only fields of type ${textTypes} can`)
    else if (table.filters?.includes(name) === false)
      report(path, `"${name}" cannot mark totals, since it is not in \`filters\`: add it there`)
  }
}
