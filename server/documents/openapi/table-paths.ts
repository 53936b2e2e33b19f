import { type Addresses, withQuery } from '../../http/addresses.ts'
import { rowFormats } from '../../formats/registry.ts'
import { exampleQueries } from '../../query/examples.ts'
import { conditionsMax } from '../../query/query.ts'
import { rowSchema } from '../row-schema.ts'
import type { Json, TableDescription } from '../description.ts'
import { operations } from './operations.ts'
import {
  aggregateParameters,
  keyParameter,
  conditionParameters,
  fieldParameters,
  parameter,
  sharedParameter,
  type Named,
} from './parameters.ts'
import { answer, jsonOf, redirect, problemAnswers, ref, unchanged } from './responses.ts'

export interface TablePart {
  readonly paths: Json
  readonly schemas: Json
  readonly parameters: Json
}

const ofTable = ['unknown-dataset', 'unknown-table', 'not-acceptable', 'invalid-parameter'] as const
const ofRows = [
  ...ofTable,
  'not-published',
  'snapshot-gone',
  'query-too-costly',
  'page-too-large',
  'damaged-files',
  'files-elsewhere',
  'query-timeout',
] as const

/**
 * @param pathOf returns the path of an address
 * @param prefix start of component names; empty if the document describes only this table
 */
export function tablePart(
  view: TableDescription,
  addresses: Addresses,
  pathOf: (address: string) => string,
  prefix: string,
): TablePart {
  const { dataset, table } = view
  const conditions = conditionParameters(view)
  const ownParameters = [...conditions, ...fieldParameters(view)]
  const ofGroups = aggregateParameters(view)
  const [data, exportPath] = [addresses.data(dataset, table), addresses.export(dataset, table)]
  const id = (verb: string): string => `${prefix}${verb}`
  const tag = `${dataset.slug}/${table.name}`
  const rowParameters = [
    ...ownParameters.map(([component]) => parameter(prefix + component)),
    sharedParameter('search'),
    sharedParameter('snapshot'),
    parameter('if-none-match'),
  ]
  const rows = answer('A page of rows.', rowsContent(prefix), [
    'Acervo-Count',
    'Acervo-Hint',
    'Acervo-Snapshot',
    'Content-Disposition',
    'Link',
    'Server-Timing',
  ])
  const groups = answer('A page of groups.', { ...rowsContent(prefix), ...jsonOf(ref('Groups')) }, [
    'Acervo-Count',
    'Acervo-Hint',
    'Acervo-Rows',
    'Acervo-Snapshot',
    'Content-Disposition',
    'Link',
    'Server-Timing',
  ])
  const changes = answer('A page of changed rows.', { ...rowsContent(prefix), ...jsonOf(ref('Changes')) }, [
    'Acervo-Changes',
    'Acervo-Count',
    'Acervo-Hint',
    'Acervo-Since',
    'Acervo-Snapshot',
    'Content-Disposition',
    'Link',
    'Server-Timing',
  ])
  const stream = answer('All rows of the query.', streamContent(prefix), [
    'Acervo-Count',
    'Acervo-Hint',
    'Acervo-Snapshot',
    'Content-Disposition',
    'Link',
  ])
  return {
    schemas: {
      [`${prefix}Row`]: rowSchema(view, false),
      [`${prefix}Page`]: pageSchema(prefix),
    },
    parameters: Object.fromEntries(
      [...ownParameters, ...ofGroups].map(([component, schema]: Named) => [prefix + component, schema]),
    ),
    paths: {
      [pathOf(addresses.table(dataset, table))]: operations({
        parameters: [parameter('json-format'), parameter('if-none-match')],
        id: id('describe'),
        tag,
        summary: `Details of ${table.name}`,
        description: 'Its fields, with their filters and orders.',
        answers: {
          200: answer('The table.', jsonOf(ref('Table')), ['Link']),
          304: unchanged,
          ...problemAnswers(ofTable),
        },
      }),
      [pathOf(data)]: operations({
        parameters: [
          ...rowParameters,
          sharedParameter('page'),
          sharedParameter('page_size'),
          parameter('page-format'),
        ],
        id: id('rows'),
        tag,
        summary: `Rows of ${table.name}, in pages`,
        description: `${table.description ?? ''} ${rules} ${examplesOf(view, data, false)}`.trim(),
        answers: {
          200: rows,
          206: { ...rows, description: 'A range of its bytes.' },
          304: unchanged,
          ...problemAnswers([...ofRows, 'invalid-page', 'unsatisfiable-range']),
        },
      }),
      [pathOf(exportPath)]: operations({
        parameters: [...rowParameters, parameter('export-format')],
        id: id('export'),
        tag,
        summary: `All rows of a query of ${table.name}, as one stream`,
        description:
          `${rules} \`parquet\` is only for all rows and fields. ${examplesOf(view, exportPath, true)}`.trim(),
        answers: {
          200: stream,
          206: { ...stream, description: 'A range of its bytes.' },
          302: redirect('Redirect to the Parquet files of all rows.'),
          304: unchanged,
          ...problemAnswers([...ofRows, 'unsatisfiable-range', 'http-version']),
        },
      }),
      [pathOf(addresses.aggregate(dataset, table))]: operations({
        parameters: [
          ...ofGroups.map(([component]) => parameter(prefix + component)),
          ...conditions.map(([component]) => parameter(prefix + component)),
          ...['search', 'snapshot', 'page', 'page_size'].map((name) => sharedParameter(name as 'page')),
          parameter('page-format'),
          parameter('if-none-match'),
        ],
        id: id('aggregate'),
        tag,
        summary: `Totals of ${table.name}`,
        description: `Groups of rows with measures, such as sums. ${rules}`,
        answers: {
          200: groups,
          206: { ...groups, description: 'A range of its bytes.' },
          304: unchanged,
          ...problemAnswers([...ofRows, 'invalid-page', 'unsatisfiable-range']),
        },
      }),
      [pathOf(addresses.changes(dataset, table))]: operations({
        parameters: [
          ...['since', 'to', 'change-kind'].map(parameter),
          ...['search', 'page', 'page_size'].map((name) => sharedParameter(name as 'page')),
          parameter('page-format'),
          parameter('if-none-match'),
        ],
        id: id('changes'),
        tag,
        summary: `Changes of ${table.name}`,
        description:
          'Rows that were added, removed or changed between two snapshots. All conditions of rows apply too.',
        answers: {
          200: changes,
          206: { ...changes, description: 'A range of its bytes.' },
          304: unchanged,
          ...problemAnswers([...ofRows, 'invalid-page', 'unsatisfiable-range']),
        },
      }),
      ...(table.key !== null && {
        [pathOf(addresses.history(dataset, table))]: operations({
          parameters: [
            ...table.key.map((name) => keyParameter(view, name)),
            parameter('json-format'),
            parameter('if-none-match'),
          ],
          id: id('history'),
          tag,
          summary: `History of a row of ${table.name}`,
          description:
            'When the row with this key was first seen, and each change of it, over the kept snapshots.',
          answers: {
            200: answer('The history.', jsonOf(ref('History')), ['Acervo-Snapshot']),
            304: unchanged,
            ...problemAnswers(ofRows),
          },
        }),
      }),
    },
  }
}

const rules =
  `All conditions must be met, at most ${conditionsMax} of them; a condition with an empty value is ignored. ` +
  'The name of a field alone means its `__eq`; use only one of the two. Use only one of `ordering` and `order-by`. ' +
  'In a list, put a value that contains a comma or a quote in double quotes.'

function examplesOf({ table, report }: TableDescription, address: string, isExport: boolean): string {
  const examples = exampleQueries(table, report).filter((query) => query.isExport === isExport)
  if (examples.length === 0) return ''
  const lines = examples.map(
    ({ description, parameters }) => `- [${escaped(description)}](${withQuery(address, parameters, 1)})`,
  )
  return `\n\nExamples:\n\n${lines.join('\n')}`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>#|]/g, String.raw`\$&`)
}

function pageSchema(prefix: string): Json {
  const link = { type: ['string', 'null'], format: 'uri' }
  return {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Number of rows of the query, over all pages.' },
      next: { ...link, description: 'The page after this one; null on the last.' },
      previous: { ...link, description: 'The page before this one; null on the first.' },
      results: { type: 'array', items: ref(`${prefix}Row`) },
    },
    required: ['count', 'next', 'previous', 'results'],
    additionalProperties: false,
  }
}

function rowsContent(prefix: string): Json {
  const otherFormats = rowFormats.filter(({ name }) => name !== 'json')
  return {
    'application/json': { schema: ref(`${prefix}Page`) },
    ...Object.fromEntries(
      otherFormats.map(({ contentType }) => [contentType, { schema: textOf(contentType) }]),
    ),
    'text/html': { schema: { type: 'string', description: 'The same content as an HTML page.' } },
  }
}

function streamContent(prefix: string): Json {
  return {
    ...Object.fromEntries(
      rowFormats.map(({ contentType }) => [contentType, { schema: textOf(contentType) }]),
    ),
    'application/json': { schema: { type: 'array', items: ref(`${prefix}Row`) } },
  }
}

const textOf = (mediaType: string): Json =>
  /^text\/|ndjson/.test(mediaType) ? { type: 'string' } : { contentMediaType: mediaType }
