import { inAlphabet } from '../../../core/warehouse/format/row-json.ts'
import type { Table } from '../../../core/catalog/catalog.ts'
import { fieldTypeNames, typeRow } from '../../../core/catalog/field-types.ts'
import { changeKinds } from '../../../core/warehouse/changes.ts'
import { rowFormats } from '../../formats/registry.ts'
import { exampleQueries } from '../../query/examples.ts'
import { partTerm, partsOf, partSchemaOf, type Term } from '../../query/date-parts.ts'
import { formatList, parseList } from '../../query/list.ts'
import { listLengthMax } from '../../query/conditions.ts'
import { operatorRow, operatorsOf, type Operator, periodUnit } from '../../query/operators.ts'
import { pageSizeDefault, pageSizeMax } from '../../query/parameters.ts'
import { changesParameterRows } from '../../query/changes-query.ts'
import { aggregateParameterRows, measuresMax, termsMax, termsOf } from '../../query/aggregate-query.ts'
import { functionsOf, rowsName } from '../../query/measures.ts'
import { ignoredSigns } from '../../query/search-terms.ts'
import { isParameterName, parameterRows, type ParameterName } from '../../query/query.ts'
import type { Json, TableDescription } from '../description.ts'
import { ref } from './responses.ts'

/** One schema per type, except for decimals, whose digits differ by field. */
export function parameterSchemas(): Json {
  const typesWithoutDigits = fieldTypeNames.filter((type) => !typeRow(type).hasDigits)
  return {
    ...Object.fromEntries(
      typesWithoutDigits.map((type) => [
        schemaName(type),
        typeRow(type).operandSchema({ precision: 0, scale: 0 }),
      ]),
    ),
    'text-part': partSchema,
    'search-text': wordsSchema,
    'page-number': pageNumberSchema,
  }
}

const schemaName = (type: string): string => `${type}-operand`
const partSchema: Json = { type: 'string', minLength: 1, maxLength: 1000, pattern: '^[^\\u0000]*$' }

/** White space, since `\s` differs between languages. */
const blanks = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff'
/** Text with a character that is no blank, quote, separator, punctuation or accent. */
const wordsSchema: Json = {
  ...partSchema,
  pattern: `^[^\\u0000]*[^\\u0000${blanks}\\u0300-\\u036f${ignoredSigns}][^\\u0000]*$`,
}
/** A separate component, since oapi-codegen compiles no alternatives inside a parameter. */
const pageNumberSchema: Json = {
  oneOf: [
    { type: 'integer', minimum: 1, maximum: 999_999_999_999_999 },
    { type: 'string', enum: ['last'] },
  ],
}

const degrees = (limit: number): Json => ({ type: 'number', minimum: -limit, maximum: limit })
/** West, south, east and north, as in GeoJSON; south must not exceed north. */
const boxSchema: Json = {
  type: 'array',
  prefixItems: [degrees(180), { ...degrees(90), maximum: 0 }, degrees(180), { ...degrees(90), minimum: 0 }],
  minItems: 4,
  maxItems: 4,
}

const commaStyle = { style: 'form', explode: false } as const
/** One parameter per value, since values may contain commas. */
const repeatStyle = { style: 'form', explode: true } as const

function valueSchema(field: Term): Json {
  const schema = partSchemaOf(field)
  if (schema !== null) return schema
  if (typeRow(field.type).hasDigits) return typeRow(field.type).operandSchema(field)
  return ref(schemaName(periodUnit(field) === 'day' ? 'date' : field.type))
}

function operandSchema(field: Term, operator: Operator): Json {
  switch (operatorRow(operator).operandKind) {
    case 'value':
      return { schema: valueSchema(field) }
    case 'truth':
      return { schema: ref(schemaName('bool')) }
    case 'part':
    case 'item':
      return { schema: ref('text-part') }
    case 'box':
      return { ...commaStyle, schema: boxSchema }
    case 'pair':
      return {
        ...repeatStyle,
        schema: { type: 'array', items: valueSchema(field), minItems: 2, maxItems: 2 },
      }
    case 'list':
      return {
        ...repeatStyle,
        schema: { type: 'array', items: valueSchema(field), minItems: 1, maxItems: listLengthMax },
      }
  }
}

export type Named = readonly [component: string, parameter: Json]

function takesSeveralValues(operator: Operator): boolean {
  return ['list', 'pair'].includes(operatorRow(operator).operandKind)
}

/** All operators of parts of dates would make the document too long. */
const operatorsOfDateParts: readonly Operator[] = ['in', 'gte', 'lte']

export function conditionParameters({ table, report }: TableDescription): Named[] {
  const examples = exampleValues(table, report)
  const filteredFields = table.fields.filter(({ name }) => table.filters.includes(name))
  const terms = filteredFields.flatMap((field): Term[] => [
    field,
    ...partsOf(table, field).flatMap((part) => partTerm(field, part) ?? []),
  ])
  return terms.flatMap((term) => {
    const { name } = term
    const operators = term.part === undefined ? operatorsOf(term) : operatorsOfDateParts
    const description = (parameterName: string, operator: Operator): string => {
      const meaning = `Rows whose \`${name}\` ${operatorRow(operator).meaning}.`
      return takesSeveralValues(operator)
        ? `${meaning} Also as one value with commas, \`${parameterName}=a,"b, c"\`.`
        : meaning
    }
    const parameter = (parameterName: string, operator: Operator): Named => [
      `filter-${escapedName(parameterName)}`,
      {
        name: takesSeveralValues(operator) ? `${parameterName}[]` : parameterName,
        in: 'query',
        description: description(parameterName, operator),
        ...operandSchema(term, operator),
        ...(examples.has(parameterName) && { example: examples.get(parameterName) }),
      },
    ]
    return [
      // A bare name means `eq`, unless the service's own parameter has it.
      ...(isParameterName(name) ? [] : [parameter(name, 'eq')]),
      ...operators.map((operator) => parameter(`${name}__${operator}`, operator)),
    ]
  })
}

function exampleValues(table: Table, report: TableDescription['report']): ReadonlyMap<string, unknown> {
  const examples = new Map<string, unknown>()
  for (const { parameters } of exampleQueries(table, report)) {
    for (const [name, text] of parameters) {
      const { field, operator } = /^(?<field>.*)__(?<operator>[a-z]+)$/.exec(name)?.groups ?? {}
      if (field === undefined || examples.has(name)) continue
      const fieldOfParameter = table.fields.find((item) => item.name === field)
      const jsonValue = (value: string): unknown =>
        fieldOfParameter !== undefined &&
        typeRow(fieldOfParameter.type).operandSchema(fieldOfParameter)['type'] !== 'string' &&
        Number.isSafeInteger(Number(value))
          ? Number(value)
          : value
      examples.set(name, operator === 'in' ? parseList(text)?.map(jsonValue) : jsonValue(text))
    }
  }
  return examples
}

/** Component names must not contain some characters of field names. */
const escapedName = (name: string): string =>
  name.replaceAll(/[^\w.-]/g, (character) => `-${character.codePointAt(0)?.toString(16) ?? ''}-`)

const componentName = (name: ParameterName): string => `${name}-parameter`

interface QueryParameter {
  readonly schema: Json
  readonly [key: string]: unknown
}

const idPattern = '[0-9]{8}T[0-9]{6}Z-[0-9a-f]{12}'
const snapshotSchema: Json = {
  type: 'string',
  pattern: `^(current|${idPattern})$`,
}

const common: Readonly<
  Record<Exclude<ParameterName, 'fields' | 'ordering' | 'order-by' | 'format'>, QueryParameter>
> = {
  page: { schema: ref('page-number') },
  page_size: { schema: { type: 'integer', minimum: 1, maximum: pageSizeMax, default: pageSizeDefault } },
  snapshot: { schema: snapshotSchema },
  search: { schema: ref('search-text') },
}

const parameterOf = (name: ParameterName, schema: QueryParameter): Json => ({
  name,
  in: 'query',
  description: sentence(parameterRows[name]),
  ...schema,
})

function ofChanges(name: keyof typeof changesParameterRows, schema: Json): Json {
  return { name, in: 'query', description: sentence(changesParameterRows[name]), schema }
}

function sentence(meaning: string): string {
  return `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}${meaning.endsWith('.') ? '' : '.'}`
}

export function sharedParameters(): Json {
  const formats = rowFormats.map(({ name }) => name)
  const names = Object.keys(common) as (keyof typeof common)[]
  return {
    ...Object.fromEntries(names.map((name) => [componentName(name), parameterOf(name, common[name])])),
    'page-format': parameterOf('format', { schema: { type: 'string', enum: formats } }),
    'export-format': parameterOf('format', { schema: { type: 'string', enum: [...formats, 'parquet'] } }),
    'json-format': parameterOf('format', { schema: { type: 'string', enum: ['json'] } }),
    since: ofChanges('since', { type: 'string', pattern: `^${idPattern}$` }),
    to: ofChanges('to', snapshotSchema),
    'change-kind': {
      name: '_change',
      in: 'query',
      description: 'Changes of this kind: `added`, `removed` or `changed`.',
      schema: { type: 'string', enum: changeKinds },
      example: 'changed',
    },
    'if-none-match': {
      name: 'If-None-Match',
      in: 'header',
      description: 'ETag of the copy that you have.',
      schema: { type: 'string' },
    },
  }
}

export const parameter = (component: string): Json => ({ $ref: `#/components/parameters/${component}` })

export const sharedParameter = (name: keyof typeof common): Json => parameter(componentName(name))

const ofAggregates = (name: keyof typeof aggregateParameterRows, schema: Json): Json => ({
  name,
  in: 'query',
  description: sentence(aggregateParameterRows[name]),
  ...schema,
})

const namesSchema = (items: readonly string[], max: number): Json => ({
  ...commaStyle,
  schema: {
    type: 'array',
    items: { type: 'string', enum: items },
    minItems: 1,
    maxItems: max,
    uniqueItems: true,
  },
})

export function keyParameter({ table, report }: TableDescription, name: string): Json {
  const field = table.fields.find((item) => item.name === name)
  const example = report?.fields.find((item) => item.name === name)?.min ?? undefined
  return {
    name,
    in: 'query',
    required: true,
    description: `Value of \`${name}\` in the row.`,
    schema: field === undefined ? partSchema : valueSchema(field),
    ...(example !== undefined && { example }),
  }
}

export function aggregateParameters({ table }: TableDescription): Named[] {
  const terms = termsOf(table).map(({ name }) => formatList([name]))
  const rowsMeasure = rowsName(table)
  const measures = table.fields.flatMap((field) =>
    functionsOf(table, field).map((functionName) => formatList([`${field.name}__${functionName}`])),
  )
  const keys = [...terms, rowsMeasure, ...measures]
  const orderedBy = namesSchema(
    keys.flatMap((name) => [name, name.startsWith('"') ? `"-${name.slice(1)}` : `-${name}`]),
    termsMax + measuresMax,
  )
  return [
    [
      'group-parameter',
      ofAggregates('group', { ...namesSchema(terms, termsMax), example: terms.slice(0, 1) }),
    ],
    ['measure-parameter', ofAggregates('measure', namesSchema([rowsMeasure, ...measures], measuresMax))],
    ['group-ordering-parameter', ofAggregates('ordering', orderedBy)],
    ...(['gt', 'gte', 'lt', 'lte', 'eq', 'ne'] as const).map((operator): Named => [
      `group-rows__${operator}`,
      {
        name: `${rowsMeasure}__${operator}`,
        in: 'query',
        description: `Groups whose number of rows ${operatorRow(operator).meaning}. Other measures have the same operators.`,
        schema: ref(schemaName('integer')),
      },
    ]),
  ]
}

export function fieldParameters({ table }: TableDescription): Named[] {
  const names = inAlphabet(table.fields).map(({ name }) => formatList([name]))
  const keys = table.fields.flatMap(({ name }) => [formatList([name]), formatList([`-${name}`])])
  const ordering = {
    ...commaStyle,
    schema: { type: 'array', items: { type: 'string', enum: keys }, minItems: 1, uniqueItems: true },
  }
  return [
    [
      componentName('fields'),
      parameterOf('fields', {
        ...commaStyle,
        schema: { type: 'array', items: { type: 'string', enum: names }, minItems: 1 },
        example: names.slice(0, 2),
      }),
    ],
    [componentName('ordering'), parameterOf('ordering', ordering)],
    [componentName('order-by'), { ...parameterOf('order-by', ordering), deprecated: true }],
  ]
}
