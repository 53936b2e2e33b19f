import { dueFrequencies, limitClasses } from '../../../core/catalog/names.ts'
import { fieldTypeNames } from '../../../core/catalog/field-types.ts'
import { changeKinds } from '../../../core/warehouse/changes.ts'
import { dateParts } from '../../query/date-parts.ts'
import { measureFunctions } from '../../query/measures.ts'
import { operators } from '../../query/operators.ts'
import { parameterRows } from '../../query/query.ts'
import type { Json } from '../description.ts'
import { problemSchema, ref } from './responses.ts'

type Shape = Readonly<Record<string, Json>>

function object(properties: Shape, description?: string): Json {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

const text = { type: 'string' } as const
const uri = { type: 'string', format: 'uri' } as const
const count = { type: 'integer', minimum: 0 } as const
const moment = { type: 'string', format: 'date-time' } as const
const day = { type: 'string', format: 'date' } as const
const type = { type: 'string', enum: fieldTypeNames } as const
const orNull = ({ type: typeName, ...schema }: Json): Json => ({ type: [typeName, 'null'], ...schema })
const listOf = (items: Json): Json => ({ type: 'array', items })
const meanings = (rows: object): Json => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(rows).map((name) => [name, text])),
  additionalProperties: false,
})

const summary: Shape = {
  author_name: orNull(text),
  author_url: orNull(uri),
  code_url: orNull(uri),
  description: text,
  id: { ...uri, description: 'Address of the dataset.' },
  license_name: orNull(text),
  license_url: orNull(uri),
  name: text,
  slug: { ...text, description: 'Name of the dataset in addresses.' },
  source_name: orNull(text),
  source_url: orNull(uri),
}

/** Alternatives, since several code generators reject a list of types. */
const value = {
  oneOf: [text, { type: 'number' }, { type: 'boolean' }, { type: 'null' }],
  description: 'Written as in a row.',
}

const field: Json = {
  type: 'object',
  properties: {
    name: text,
    type,
    precision: { ...count, description: 'Total number of digits of a decimal.' },
    scale: { ...count, description: 'Digits of a decimal after the point.' },
    title: orNull(text),
    description: orNull(text),
    nullable: { type: ['boolean', 'null'], description: 'Whether the current snapshot has nulls.' },
    nulls: orNull(count),
    distinct_estimate: {
      ...orNull(count),
      description: 'Number of different values: exact in tables of up to a million rows, else approximate.',
    },
    min: value,
    max: value,
    choices: { type: ['array', 'null'], items: value, description: 'All values, if there are few.' },
    operators: listOf({ type: 'string', enum: Object.keys(operators) }),
    parts: {
      ...listOf({ type: 'string', enum: dateParts }),
      description: 'Parts of its dates, for conditions and groups.',
    },
    measures: {
      ...listOf({ type: 'string', enum: measureFunctions }),
      description: 'Functions for aggregates.',
    },
    ordering: { type: 'boolean', description: 'Whether rows may be ordered by it.' },
    search: { type: 'boolean', description: 'Whether a search includes it.' },
  },
  required: [
    'name',
    'type',
    'title',
    'description',
    'nullable',
    'operators',
    'parts',
    'measures',
    'ordering',
    'search',
  ],
  additionalProperties: false,
}

const table = object({
  dataset: text,
  name: text,
  description: orNull(text),
  rows: orNull(count),
  snapshot: orNull(text),
  schema_change: {
    ...object({ class: { type: 'string', enum: ['none', 'additive', 'breaking'] }, reasons: listOf(text) }),
    type: ['object', 'null'],
    description: 'What the snapshot changed in the fields of its predecessor; null for a first one.',
  },
  import_date: orNull(moment),
  collected_at: orNull(day),
  order: listOf(object({ field: text, direction: { type: 'string', enum: ['asc', 'desc'] } })),
  search: listOf(text),
  fields: listOf(field),
  operators: { ...meanings(operators), description: 'Meaning of each operator of its fields.' },
  measures: {
    ...meanings(Object.fromEntries(measureFunctions.map((name) => [name, name]))),
    description: 'Meaning of each function of its fields.',
  },
  parameters: { ...meanings(parameterRows), description: 'Meaning of each parameter.' },
  page_size: object({ default: count, max: count }),
  formats: listOf(object({ name: text, media_type: text })),
  dataset_url: uri,
  data_url: uri,
  export_url: uri,
  aggregate_url: uri,
  changes_url: uri,
  export_rows_max: count,
  examples: listOf(object({ means: text, address: uri })),
  files: object({ download: uri, listing: uri, sums: uri }),
})

const groups = object({
  count: { ...count, description: 'Number of groups, over all pages.' },
  rows: { ...count, description: 'Number of rows that they cover, before conditions on groups.' },
  next: { ...orNull(uri), description: 'The page after this one; null on the last.' },
  previous: { ...orNull(uri), description: 'The page before this one; null on the first.' },
  results: listOf({
    type: 'object',
    description: 'Values of the terms and measures, in alphabetical order.',
    additionalProperties: true,
  }),
})

const changes = object({
  count: { ...count, description: 'Number of changed rows of the query, over all pages.' },
  next: { ...orNull(uri), description: 'The page after this one; null on the last.' },
  previous: { ...orNull(uri), description: 'The page before this one; null on the first.' },
  results: listOf({
    type: 'object',
    description:
      'A row with `_change`; if the table has a key, also `_changed`, and earlier values with `_old_` before the name.',
    additionalProperties: true,
  }),
})

const appearance = {
  ...object({ snapshot: text, import_date: moment }),
  type: ['object', 'null'],
}
const history = object({
  key: { type: 'object', additionalProperties: true },
  row: {
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'The row now; null if there is none.',
  },
  first_seen: { ...appearance, description: 'First kept snapshot with the row; null if none has it.' },
  is_first_known: {
    type: 'boolean',
    description: 'False if older snapshots, which are not kept, may have the row.',
  },
  last_seen: { ...appearance, description: 'Last snapshot with the row.' },
  changes: {
    ...listOf(
      object({
        snapshot: text,
        import_date: moment,
        change: { type: 'string', enum: changeKinds },
        fields: listOf(object({ field: text, from: {}, to: {} })),
      }),
    ),
    description: 'Changes of the row, the latest first.',
  },
})

const files = object({
  table: text,
  snapshot: text,
  import_date: moment,
  rows: count,
  files: listOf(
    object({
      name: text,
      address: uri,
      bytes: count,
      sha512: { type: 'string', pattern: '^[0-9a-f]{128}$' },
      media_type: text,
    }),
  ),
})

export const commonSchemas: Shape = {
  Index: object({
    title: text,
    description: text,
    datasets_url: uri,
    openapi_url: uri,
    catalog_url: uri,
    duckdb_url: uri,
    limits_url: uri,
    health_url: uri,
  }),
  DatasetSummary: object(summary),
  Groups: groups,
  Changes: changes,
  History: history,
  Frame: object({
    version: text,
    type: { type: 'string', enum: ['rich'] },
    title: text,
    provider_name: text,
    provider_url: uri,
    width: count,
    height: count,
    html: text,
  }),
  DatasetList: object(
    {
      count: { ...count, description: 'Number of datasets.' },
      next: { type: ['string', 'null'] },
      previous: { type: ['string', 'null'] },
      results: listOf(ref('DatasetSummary')),
    },
    'All datasets, in one page.',
  ),
  Dataset: object({
    ...summary,
    links: listOf(object({ title: text, url: uri })),
    collected_at: day,
    tables: listOf(
      object({
        name: text,
        fields: listOf(object({ name: text, type })),
        data_url: uri,
        import_date: { ...orNull(moment), description: 'Null if it is not published.' },
      }),
    ),
  }),
  Table: table,
  TableFileList: files,
  DatasetFileList: object({ dataset: text, sums: uri, tables: listOf(ref('TableFileList')) }),
  Health: object({
    status: { type: 'string', enum: ['ok', 'degraded'] },
    published: count,
    unpublished: count,
    catalog_fault: {
      ...orNull(text),
      description: 'Error of the current catalog, if a previous one is used.',
    },
    faults: listOf(object({ table: text, serving: orNull(text), fault: text })),
    stale: listOf(
      object({
        table: text,
        refreshed: { type: 'string', enum: dueFrequencies },
        source_from: { type: 'string', format: 'date-time' },
      }),
    ),
  }),
  Liveness: object({ status: { type: 'string', enum: ['ok'] } }),
  Readiness: object({
    status: { type: 'string', enum: ['starting', 'ready', 'stopping'] },
    missing: listOf(object({ table: text, why: text })),
  }),
  Standings: object({
    limits: listOf(
      object({
        policy: text,
        of: { type: 'string', enum: [...limitClasses, 'share'] },
        quota: count,
        unit: { type: 'string', enum: ['requests', 'ms'] },
        window_seconds: { type: 'number', minimum: 0 },
        remaining: count,
        reset_seconds: count,
        meaning: text,
      }),
    ),
  }),
  Options: object({
    name: text,
    description: text,
    renders: listOf(text),
    parses: listOf(text),
  }),
  Problem: problemSchema,
}
