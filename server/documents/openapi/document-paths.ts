import { atomType } from '../atom.ts'
import type { MachineDocument } from '../document.ts'
import { datasetDocuments, tableDocuments, wholeDocuments } from '../registry.ts'
import type { Json, TableView, Writing } from '../view.ts'
import { inPath, item, namesIn } from './operations.ts'
import { componentName, parameter } from './parameters.ts'
import { answer, jsonOf, problemAnswers, unchanged } from './responses.ts'

/** The documents for machines, and the feeds. */
export function documentPaths(
  { catalog, base, documents }: Writing,
  pathOf: (address: string) => string,
  example: TableView | null,
): Json {
  const { dataset, table } = namesIn(catalog, example)
  const at = (path: string): string => pathOf(`${base}/${path}`)
  const rows = (
    documentsOf: readonly MachineDocument<never>[],
    folder: string,
    parameters: readonly Json[],
  ) =>
    documentsOf.map(({ file, description, contentType }): [string, Json] => [
      at(folder + file),
      one(`${folder.replaceAll(/[{}]/g, '')}${file}`, description, parameters, content(contentType)),
    ])
  const rdf = { ...content('application/ld+json'), ...content('text/turtle; charset=utf-8') }
  const page = parameter(componentName('page'))
  return Object.fromEntries([
    ...catalog.families.flatMap(({ prefix, name }) => [
      [
        `${prefix}/openapi.json`,
        one(
          `openapi-${name}`,
          'All that may be asked here, as OpenAPI 3.1.',
          [parameter('json-format')],
          jsonOf({ type: 'object' }),
        ),
      ],
      ...(dataset === null || table === null
        ? []
        : [
            [
              `${prefix}/dataset/{dataset}/{table}/openapi.json`,
              one(
                `openapi-table-${name}`,
                'The same of one table.',
                [dataset, table, parameter('json-format')],
                jsonOf({ type: 'object' }),
              ),
            ],
          ]),
    ]),
    [pathOf(documents.catalog()), one('catalog', 'All datasets for harvesters, as DCAT-AP.', [page], rdf)],
    [
      pathOf(documents.catalog('jsonld')),
      one('catalog-jsonld', 'The same as JSON-LD.', [page], content('application/ld+json')),
    ],
    [
      pathOf(documents.catalog('ttl')),
      one('catalog-ttl', 'The same as Turtle.', [page], content('text/turtle; charset=utf-8')),
    ],
    [
      at('sitemap.xml'),
      one('sitemap', 'All pages for people.', [], content('application/xml; charset=utf-8')),
    ],
    [
      at('sitemap-{number}.xml'),
      one(
        'sitemap-part',
        'Some of them, where they are more than one file holds.',
        [inPath('number', { type: 'integer', minimum: 1, maximum: 9999 })],
        content('application/xml; charset=utf-8'),
      ),
    ],
    [at('feeds/atom.xml'), one('feed', 'What changed, as Atom.', [], content(atomType))],
    ...(dataset === null
      ? []
      : [
          [
            at('feeds/{dataset}/atom.xml'),
            one('feed-dataset', 'What changed in a dataset.', [dataset], content(atomType)),
          ],
        ]),
    ...(dataset === null || table === null
      ? []
      : [
          [
            at('feeds/{dataset}/{table}/atom.xml'),
            one('feed-table', 'What changed in a table.', [dataset, table], content(atomType)),
          ],
        ]),
    ...rows(wholeDocuments as readonly MachineDocument<never>[], '', []),
    ...(dataset === null
      ? []
      : rows(datasetDocuments as readonly MachineDocument<never>[], 'metadata/{dataset}/', [dataset])),
    ...(dataset === null || table === null
      ? []
      : rows(tableDocuments as readonly MachineDocument<never>[], 'metadata/{dataset}/{table}/', [
          dataset,
          table,
        ])),
  ] as [string, Json][])
}

function one(id: string, summary: string, parameters: readonly Json[], contents: Json): Json {
  return item(id, summary, 'Documents', [...parameters, parameter('known')], {
    200: answer(summary, contents, ['Link']),
    304: unchanged,
    ...problemAnswers([
      'unknown-dataset',
      'unknown-table',
      'unknown-address',
      'invalid-page',
      'invalid-parameter',
      'not-acceptable',
    ]),
  })
}

function content(contentType: string): Json {
  const schema = contentType.includes('json') ? { type: 'object' } : { type: 'string' }
  return { [contentType]: { schema: contentType.includes('arrow') ? {} : schema } }
}
