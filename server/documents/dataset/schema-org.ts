import type { Dataset } from '../../../core/catalog/catalog.ts'
import type { Language } from '../../../core/catalog/names.ts'
import type { DatasetDocument } from '../document.ts'
import { publishedFiles } from '../files-of.ts'
import type { DatasetDescription, Json, Writing } from '../description.ts'
import { shorten } from '../../../core/text.ts'

/** Document for search engines; also embedded in the page of the dataset. */
export const schemaOrg: DatasetDocument = {
  file: 'schema-org.jsonld',
  name: 'schema.org',
  description: 'The dataset for search engines, as schema.org.',
  contentType: 'application/ld+json',
  write: (writing, view) => JSON.stringify(schemaOrgOf(writing, view, 'en')),
}

const [descriptionMin, descriptionMax] = [50, 5000]
/** Search engines do not index large documents. */
const [tablesMax, variablesMax] = [30, 60]

export function schemaOrgOf(
  writing: Writing,
  { dataset: { slug }, tables }: DatasetDescription,
  language: Language,
): Json {
  const { catalog, page } = writing
  const texts = catalog.inLanguage.get(language) ?? catalog
  const dataset = texts.datasets.get(slug)
  if (dataset === undefined) throw new Error('the dataset is not in the catalog')
  const { author, publisher, license, keywords, spatial, temporal, language: languages } = dataset
  const published = tables.flatMap((view) => publishedFiles(writing, view) ?? [])
  const moments = published.map(({ manifest }) => manifest.import_date).toSorted()
  const names = new Set(
    [...dataset.tables.values()].flatMap(({ fields }) => fields.map(({ name, title }) => title ?? name)),
  )
  return {
    '@context': 'https://schema.org/',
    '@type': 'Dataset',
    '@id': writing.rows.dataset(dataset),
    name: dataset.name,
    description: descriptionOf(dataset),
    url: page(language, dataset),
    identifier: slug,
    ...(license !== null && { license: license.url }),
    isAccessibleForFree: true,
    ...(author !== null && {
      creator: {
        '@type': 'Organization',
        name: author.name,
        ...(author.url !== null && { url: author.url }),
      },
    }),
    ...(publisher !== null && {
      publisher: { '@type': 'Organization', name: publisher.name, url: publisher.url },
    }),
    ...(moments.length > 0 && { dateModified: moments.at(-1) }),
    ...(keywords.length > 0 && { keywords }),
    ...(languages.length > 0 && { inLanguage: languages }),
    ...(temporal !== null && { temporalCoverage: `${temporal.start}/${temporal.end ?? '..'}` }),
    ...(spatial !== null && {
      spatialCoverage: {
        '@type': 'Place',
        name: spatial.name,
        ...(spatial.uri !== null && { sameAs: spatial.uri }),
        ...(spatial.bbox !== null && { geo: { '@type': 'GeoShape', box: boxOf(spatial.bbox) } }),
      },
    }),
    includedInDataCatalog: { '@type': 'DataCatalog', name: texts.title, url: page(language) },
    variableMeasured: [...names].slice(0, variablesMax),
    distribution: published.slice(0, tablesMax).map(({ manifest, download, addressOf }) => ({
      '@type': 'DataDownload',
      name: manifest.table,
      contentUrl: addressOf(download),
      encodingFormat: ['text/csv', 'application/gzip'],
      contentSize: `${download.bytes} B`,
      sha256: download.sha256,
    })),
  }
}

function descriptionOf({ name, description, source, tables }: Dataset): string {
  const origin = source === null ? '' : `${[source.name, source.url ?? []].flat().join(', ')}.`
  const sentences = [description, `${name}: ${[...tables.keys()].join(', ')}.`, origin]
  let text = sentences[0] ?? ''
  for (const sentence of sentences.slice(1))
    if (text.length < descriptionMin) text = `${text} ${sentence}`.trim()
  return shorten(text, descriptionMax - 1)
}

/** Order of schema.org: south, west, north, east. */
function boxOf([west, south, east, north]: readonly [number, number, number, number]): string {
  return `${south} ${west} ${north} ${east}`
}
