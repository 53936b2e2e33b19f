import { atomType } from '../atom.ts'
import type { MachineDocument } from '../document.ts'
import { datasetDocuments, tableDocuments, serviceDocuments } from '../registry.ts'
import type { Json, Writing } from '../description.ts'
import type { Address } from './operations.ts'
import { parameter, sharedParameter } from './parameters.ts'
import { answer, jsonOf, problemAnswers, unchanged } from './responses.ts'

export function documentPaths(
  { catalog, base, documents }: Writing,
  pathOf: (address: string) => string,
): Address[] {
  const fullPath = (path: string): string => pathOf(`${base}/${path}`)
  const itemsOf = (machineDocuments: readonly MachineDocument<never>[], folder: string): Address[] =>
    machineDocuments.map(({ file, description, contentType }) =>
      pathItem(
        fullPath(folder + file),
        `${folder.replaceAll(/[{}]/g, '')}${file}`,
        description,
        content(contentType),
      ),
    )
  const [jsonLd, turtle] = [content('application/ld+json'), content('text/turtle; charset=utf-8')]
  const xml = content('application/xml; charset=utf-8')
  const atom = content(atomType)
  const [pageParameters, jsonParameters] = [[sharedParameter('page')], [parameter('json-format')]]
  const openApi = jsonOf({ type: 'object' })
  const partOfSitemap = 'Part of the sitemap, if it needs several files.'
  return [
    ...catalog.families.flatMap(({ prefix, name }) => [
      pathItem(
        `${prefix}/openapi.json`,
        `openapi-${name}`,
        'The whole API as OpenAPI 3.1.',
        openApi,
        jsonParameters,
      ),
      pathItem(
        `${prefix}/dataset/{dataset}/{table}/openapi.json`,
        `openapi-table-${name}`,
        'The API of one table.',
        openApi,
        jsonParameters,
      ),
    ]),
    pathItem(
      pathOf(documents.catalog()),
      'catalog',
      'All datasets for harvesters, as DCAT-AP.',
      { ...jsonLd, ...turtle },
      pageParameters,
    ),
    pathItem(
      pathOf(documents.catalog('jsonld')),
      'catalog-jsonld',
      'The catalog as JSON-LD.',
      jsonLd,
      pageParameters,
    ),
    pathItem(
      pathOf(documents.catalog('ttl')),
      'catalog-ttl',
      'The catalog as Turtle.',
      turtle,
      pageParameters,
    ),
    pathItem(fullPath('sitemap.xml'), 'sitemap', 'Sitemap of all HTML pages.', xml),
    pathItem(fullPath('sitemap-{number}.xml'), 'sitemap-part', partOfSitemap, xml),
    pathItem(fullPath('feeds/atom.xml'), 'feed', 'What changed, as Atom.', atom),
    pathItem(fullPath('feeds/{dataset}/atom.xml'), 'feed-dataset', 'Changes of a dataset.', atom),
    pathItem(fullPath('feeds/{dataset}/{table}/atom.xml'), 'feed-table', 'Changes of a table.', atom),
    ...itemsOf(serviceDocuments, ''),
    ...itemsOf(datasetDocuments, 'metadata/{dataset}/'),
    ...itemsOf(tableDocuments, 'metadata/{dataset}/{table}/'),
  ]
}

const problems = problemAnswers([
  'unknown-dataset',
  'unknown-table',
  'unknown-address',
  'invalid-page',
  'invalid-parameter',
  'not-acceptable',
])

function pathItem(
  path: string,
  id: string,
  summary: string,
  contents: Json,
  parameters: readonly Json[] = [],
): Address {
  const answers = { 200: answer(summary, contents, ['Link']), 304: unchanged, ...problems }
  return {
    path,
    id,
    tag: 'Documents',
    summary,
    parameters: [...parameters, parameter('if-none-match')],
    answers,
  }
}

function content(contentType: string): Json {
  const schema = contentType.includes('json') ? { type: 'object' } : { type: 'string' }
  return { [contentType]: { schema: contentType.includes('arrow') ? {} : schema } }
}
