import type { Addresses } from '../../http/addresses.ts'
import type { Json, TableView, Writing } from '../view.ts'
import { componentName, parameter } from './parameters.ts'
import { answer, jsonOf, leading, problemAnswers, ref, unchanged } from './responses.ts'
import { binary, inPath, item, namesIn, operations } from './operations.ts'

type PathOf = (address: string) => string

const ofDataset = ['unknown-dataset', 'not-acceptable', 'invalid-parameter'] as const
const ofFiles = [
  ...ofDataset,
  'unknown-table',
  'unknown-address',
  'not-published',
  'snapshot-gone',
  'damaged-files',
  'files-elsewhere',
] as const

/** The addresses of the catalog in a family. */
export function catalogPaths(
  { catalog }: Writing,
  addresses: Addresses,
  pathOf: PathOf,
  example: TableView | null,
): Json {
  const { dataset } = namesIn(catalog, example)
  const common = [parameter('json-format'), parameter('known')]
  const list = pathOf(addresses.list)
  const index = (path: string, id: string): [string, Json] => [
    path,
    item(id, 'Where the datasets and the documents of the API are.', 'Catalog', common, {
      200: answer('Addresses to begin with.', jsonOf(ref('Index')), ['Link']),
      304: unchanged,
      ...problemAnswers(['not-acceptable', 'invalid-parameter']),
    }),
  ]
  return {
    ...Object.fromEntries([index('/', 'index'), index(list.replace(/datasets\/?$/, ''), 'family-index')]),
    [list]: operations({
      parameters: [parameter(componentName('page')), ...common],
      id: 'datasets',
      tags: ['Catalog'],
      summary: 'The datasets',
      description: catalog.description,
      answers: {
        200: answer('The datasets, in one page.', jsonOf(ref('DatasetList')), ['Link']),
        304: unchanged,
        ...problemAnswers(['invalid-page', 'not-acceptable', 'invalid-parameter']),
      },
    }),
    ...(dataset !== null && {
      [list.replace(/datasets(\/?)$/, 'dataset/{dataset}$1')]: operations({
        parameters: [dataset, ...common],
        id: 'dataset',
        tags: ['Catalog'],
        summary: 'A dataset',
        description: 'Its metadata, links and tables.',
        answers: {
          200: answer('The dataset and its tables.', jsonOf(ref('Dataset')), ['Link']),
          304: unchanged,
          ...problemAnswers(ofDataset),
        },
      }),
    }),
  }
}

/** The published files, and how the service is. */
export function filePaths(
  { catalog, files, base }: Writing,
  pathOf: PathOf,
  example: TableView | null,
): Json {
  const { dataset, table } = namesIn(catalog, example)
  const at = (below: string): string => `${pathOf(files.base)}${below}`
  const ranged = (content: Json): Json => ({
    200: answer('The file.', content, ['Content-Disposition', 'Last-Modified', 'Link']),
    206: answer('A range of it.', content, ['Content-Disposition', 'Last-Modified', 'Link']),
    304: unchanged,
    412: { description: 'It is not what If-Match names any more.' },
    ...problemAnswers([...ofFiles, 'unsatisfiable-range']),
  })
  const range: Json = {
    name: 'Range',
    in: 'header',
    description: 'Such as `bytes=0-1023`; what is no range of bytes is not looked at.',
    schema: { type: 'string' },
  }
  return {
    [at('/warehouse.duckdb')]: item(
      'views',
      'A DuckDB file with a view of each table, and its versions.',
      'Files',
      [range, parameter('known')],
      ranged(binary('application/vnd.duckdb')),
    ),
    ...(dataset !== null && {
      [at('/{dataset}/')]: item(
        'files',
        'The files of a dataset.',
        'Files',
        [dataset, parameter('json-format'), parameter('known')],
        {
          200: answer('Names, addresses, sizes and sums.', jsonOf(ref('DatasetFiles'))),
          304: unchanged,
          ...problemAnswers(ofFiles),
        },
      ),
      [at('/{dataset}/SHA512SUMS')]: item(
        'sums',
        'SHA-512 sums of the files of a dataset.',
        'Files',
        [dataset],
        {
          200: answer('As sha512sum -c reads them.', {
            'text/plain; charset=utf-8': { schema: { type: 'string' } },
          }),
          ...problemAnswers(ofFiles),
        },
      ),
    }),
    ...(dataset !== null &&
      table !== null && {
        [at('/{dataset}/{table}/')]: item(
          'table-files',
          'The files of a table.',
          'Files',
          [dataset, table, parameter('json-format'), parameter('known')],
          {
            200: answer('Names, addresses, sizes and sums.', jsonOf(ref('TableFiles'))),
            304: unchanged,
            ...problemAnswers(ofFiles),
          },
        ),
        [at('/{dataset}/{table}.csv.gz')]: item(
          'download',
          'All rows of a table as gzipped CSV.',
          'Files',
          [dataset, table],
          {
            302: leading('To the file of the current snapshot.'),
            ...problemAnswers(ofFiles),
          },
        ),
        [at('/{dataset}/{table}.parquet')]: item(
          'parquet',
          'All rows of a table as Parquet, or one of several parts, such as `name-00000-of-00003`.',
          'Files',
          [dataset, table],
          {
            302: leading('To the file of the current snapshot.'),
            ...problemAnswers(ofFiles),
          },
        ),
        [at('/{dataset}/{table}/{snapshot}/{file}')]: item(
          'file',
          'A file of a snapshot, which never changes.',
          'Files',
          [
            dataset,
            table,
            inPath('snapshot', { type: 'string', minLength: 1 }, example?.manifest?.snapshot),
            inPath(
              'file',
              { type: 'string', minLength: 1 },
              example?.manifest?.parts[0]?.file ?? 'report.json',
            ),
            range,
            parameter('known'),
          ],
          {
            ...ranged({
              ...binary('application/vnd.apache.parquet'),
              ...binary('application/gzip'),
              'application/json': { schema: { type: 'object', description: 'The report of the ingest.' } },
            }),
            302: leading(
              'To a public address of the warehouse, where the operator names one; or to the current file, where the snapshot is not kept any more.',
            ),
          },
        ),
      }),
    [pathOf(`${base}/limits`)]: item('limits', 'What is left to the client that asks.', 'Files', [], {
      200: { ...answer('How it stands with each limit.', jsonOf(ref('Standings'))) },
      ...problemAnswers([]),
    }),
    [pathOf(`${base}/livez`)]: item('livez', 'That the process answers.', 'Files', [], {
      200: { ...answer('It answers.', jsonOf(ref('Liveness'))) },
      ...problemAnswers([]),
    }),
    [pathOf(`${base}/readyz`)]: item('readyz', 'Whether all that is published is loaded.', 'Files', [], {
      ...problemAnswers([]),
      200: { ...answer('It is.', jsonOf(ref('Readiness'))) },
      503: { ...answer('It is not, or the service is stopping.', jsonOf(ref('Readiness')), ['Retry-After']) },
    }),
    [pathOf(`${base}/health`)]: item('health', 'How the service is.', 'Files', [], {
      200: { ...answer('It answers.', jsonOf(ref('Health'))) },
      ...problemAnswers([]),
    }),
  }
}
