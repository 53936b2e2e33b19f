import type { Addresses } from '../../http/addresses.ts'
import type { ProblemCode } from '../../http/problems.ts'
import type { Json, Writing } from '../description.ts'
import { binary, type Address } from './operations.ts'
import { parameter, sharedParameter } from './parameters.ts'
import { answer, jsonOf, redirect, problemAnswers, ref, unchanged, type HeaderName } from './responses.ts'

type PathOf = (address: string) => string

const datasetProblems = ['unknown-dataset', 'not-acceptable', 'invalid-parameter'] as const
const ofFiles = [
  ...datasetProblems,
  'unknown-table',
  'unknown-address',
  'not-published',
  'snapshot-gone',
  'damaged-files',
  'files-elsewhere',
] as const

const ifNoneMatch = parameter('if-none-match')
const asJson = [parameter('json-format'), ifNoneMatch]

function namedAnswers(
  description: string,
  content: Json,
  problems: readonly ProblemCode[],
  headers: readonly HeaderName[] = ['Link'],
): Json {
  return { 200: answer(description, content, headers), 304: unchanged, ...problemAnswers(problems) }
}

export function catalogPaths({ catalog }: Writing, addresses: Addresses, pathOf: PathOf): Address[] {
  const list = pathOf(addresses.list)
  const tag = 'Catalog'
  const index = {
    tag,
    summary: 'Addresses of datasets and documents.',
    parameters: asJson,
    answers: namedAnswers('Entry points of the API.', jsonOf(ref('Index')), [
      'not-acceptable',
      'invalid-parameter',
    ]),
  }
  return [
    { path: '/', id: 'index', ...index },
    { path: list.replace(/datasets\/?$/, ''), id: 'family-index', ...index },
    {
      path: list,
      id: 'datasets',
      tag,
      summary: 'The datasets',
      description: catalog.description,
      parameters: [sharedParameter('page'), ...asJson],
      answers: namedAnswers('The datasets, in one page.', jsonOf(ref('DatasetList')), [
        'invalid-page',
        'not-acceptable',
        'invalid-parameter',
      ]),
    },
    {
      path: list.replace(/datasets(\/?)$/, 'dataset/{dataset}$1'),
      id: 'dataset',
      tag,
      summary: 'A dataset',
      description: 'Its metadata, links and tables.',
      parameters: asJson,
      answers: namedAnswers('The dataset and its tables.', jsonOf(ref('Dataset')), datasetProblems),
    },
  ]
}

const range: Json = {
  name: 'Range',
  in: 'header',
  description: 'For example `bytes=0-1023`; other units are ignored.',
  schema: { type: 'string' },
}

function ranged(content: Json): Json {
  const headers = ['Content-Disposition', 'Last-Modified', 'Link'] as const
  return {
    ...namedAnswers('The file.', content, [...ofFiles, 'unsatisfiable-range'], headers),
    206: answer('A range of the file.', content, headers),
    412: { description: 'The file differs from the one that If-Match names.' },
  }
}

export function filePaths(writing: Writing, pathOf: PathOf): Address[] {
  const { files, base, catalog, page } = writing
  const [first] = catalog.datasets.values()
  const [table] = first?.tables.values() ?? []
  const file = (
    path: string,
    id: string,
    summary: string,
    parameters: Address['parameters'],
    answers: Json,
  ) => ({
    path: `${pathOf(files.base)}${path}`,
    id,
    tag: 'Files',
    summary,
    parameters,
    answers,
  })
  const state = (id: string, summary: string, description: string, schema: string) => ({
    path: pathOf(`${base}/${id}`),
    id,
    tag: 'Files',
    summary,
    parameters: [],
    answers: { 200: answer(description, jsonOf(ref(schema))), ...problemAnswers([]) },
  })
  const fileDescription = 'Names, addresses, sizes and SHA-512 sums.'
  const current = {
    302: redirect('Redirect to the file of the current snapshot.'),
    ...problemAnswers(ofFiles),
  }
  const sums = { 'text/plain; charset=utf-8': { schema: { type: 'string' } } }
  const notReady = answer('Not ready, or stopping.', jsonOf(ref('Readiness')), ['Retry-After'])
  const readiness = state(
    'readyz',
    'Readiness: all published tables are loaded.',
    'It is ready.',
    'Readiness',
  )
  return [
    file(
      '/warehouse.duckdb',
      'views',
      'A DuckDB file with a view of each table, and macros for its versions.',
      [range, ifNoneMatch],
      ranged(binary('application/vnd.duckdb')),
    ),
    file(
      '/{dataset}/',
      'files',
      'The files of a dataset.',
      asJson,
      namedAnswers(fileDescription, jsonOf(ref('DatasetFileList')), ofFiles, []),
    ),
    file('/{dataset}/SHA512SUMS', 'sums', 'SHA-512 sums of the files of a dataset.', [], {
      200: answer('In the format of sha512sum -c.', sums),
      ...problemAnswers(ofFiles),
    }),
    file(
      '/{dataset}/{table}/',
      'table-files',
      'The files of a table.',
      asJson,
      namedAnswers(fileDescription, jsonOf(ref('TableFileList')), ofFiles, []),
    ),
    file('/{dataset}/{table}.csv.gz', 'download', 'All rows of a table as gzipped CSV.', [], current),
    file(
      '/{dataset}/{table}.parquet',
      'parquet',
      'All rows of a table as Parquet, or one of several parts, such as `name-00000-of-00003`.',
      [],
      current,
    ),
    file(
      '/{dataset}/{table}/{snapshot}/{file}',
      'file',
      'A file of a snapshot, which never changes.',
      [range, ifNoneMatch],
      {
        ...ranged({
          ...binary('application/vnd.apache.parquet'),
          ...binary('application/gzip'),
          'application/json': { schema: { type: 'object', description: 'The report of the ingest.' } },
        }),
        302: redirect(
          'Redirect to a public address of the warehouse, if configured, or to the current file if the snapshot is no longer kept.',
        ),
      },
    ),
    {
      path: pathOf(`${base}/oembed`),
      id: 'oembed',
      tag: 'Files',
      summary: 'The frame of a table or a chart, for pages of other sites (https://oembed.com).',
      parameters: [
        {
          name: 'url',
          in: 'query',
          required: true,
          description: 'Address of the page of a table or a chart.',
          schema: { type: 'string', format: 'uri' },
          example: page('en', first, table),
        },
      ],
      answers: {
        200: answer('The frame.', jsonOf(ref('Frame'))),
        ...problemAnswers(['unknown-address', 'invalid-parameter']),
      },
    },
    state('limits', 'Remaining quotas of the client.', 'State of each limit.', 'Standings'),
    state('livez', 'Liveness: the process responds.', 'It answers.', 'Liveness'),
    { ...readiness, answers: { ...readiness.answers, 503: notReady } },
    state('health', 'State of the service.', 'It answers.', 'Health'),
  ]
}
