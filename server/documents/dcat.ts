import { counted } from '../../core/text.ts'
import type {
  Catalog,
  CatalogTexts,
  Contact,
  Dataset,
  Originator,
  Party,
  Period,
  Place,
} from '../../core/catalog/catalog.ts'
import type { Frequency } from '../../core/catalog/names.ts'
import type { StoredFile } from '../../core/warehouse/manifest.ts'
import { publishedFiles, type Published } from './files-of.ts'
import { jsonLd, turtle, type Node } from './rdf.ts'
import type { DatasetDocument } from './document.ts'
import { publisherOf, type DatasetDescription, type TableDescription, type Writing } from './description.ts'

/**
 * DCAT-AP 3.0.1. Linked objects state the types that SHACL shapes require, since validators follow no links.
 */

const ofDataset = {
  name: 'DCAT-AP',
  description: 'The dataset for harvesters of other catalogs, as DCAT-AP 3.',
}

export const dcatJsonLd: DatasetDocument = {
  ...ofDataset,
  file: 'dcat.jsonld',
  contentType: 'application/ld+json',
  write: (writing, view) => jsonLd([datasetNode(writing, view)]),
}

export const dcatTurtle: DatasetDocument = {
  ...ofDataset,
  file: 'dcat.ttl',
  contentType: 'text/turtle; charset=utf-8',
  write: (writing, view) => turtle([datasetNode(writing, view)]),
}

export const catalogPageSize = 100

interface CatalogPage {
  readonly page: number
  readonly pages: number
  readonly datasets: readonly DatasetDescription[]
  readonly count: number
  readonly ending: 'jsonld' | 'ttl'
}

/** Page of the catalog, with links to other pages. */
export function catalogPage(writing: Writing, page: CatalogPage): string {
  const nodes = [catalogNode(writing, page), pagingNode(writing, page)]
  return page.ending === 'ttl' ? turtle(nodes) : jsonLd(nodes)
}

function catalogNode(writing: Writing, { datasets }: CatalogPage): Node {
  const { catalog, documents, page } = writing
  const moments = datasets.flatMap(({ tables }) =>
    tables.flatMap(({ manifest }) => manifest?.import_date ?? []),
  )
  return {
    '@id': documents.catalog(),
    '@type': 'dcat:Catalog',
    'dct:title': translationsOf(catalog, ({ title }) => title),
    'dct:description': translationsOf(catalog, ({ title, description }) =>
      description === '' ? title : description,
    ),
    'dct:publisher': agentNode(publisherOf(writing)),
    'foaf:homepage': documentNode(page('en')),
    'dct:modified': dateTime(moments.toSorted().at(-1)),
    'dcat:service': {
      ...serviceNode(writing),
      'dct:description': catalog.notice,
      'dcat:endpointDescription': { '@id': documents.ofService('.well-known/api-catalog') },
      'dct:publisher': agentNode(publisherOf(writing)),
      'dcat:servesDataset': datasets.map(({ dataset }) => ({ '@id': writing.rows.dataset(dataset) })),
    },
    'dcat:dataset': datasets.map((view) => datasetNode(writing, view)),
  }
}

function serviceNode({ catalog, rows }: Writing): Node {
  return {
    '@id': rows.list,
    '@type': 'dcat:DataService',
    'dct:title': `${catalog.title}: API`,
    'dcat:endpointURL': { '@id': rows.list },
  }
}

/** Older and newer terms of Hydra, since harvesters follow either. */
function pagingNode({ documents }: Writing, { page, pages, count, ending }: CatalogPage): Node {
  const pageNode = (number: number): Node => ({ '@id': documents.catalog(ending, number) })
  const [first, last] = [pageNode(1), pageNode(pages)]
  return {
    ...pageNode(page),
    '@type': ['hydra:PagedCollection', 'hydra:PartialCollectionView'],
    'hydra:totalItems': { '@value': count, '@type': 'xsd:integer' },
    'hydra:itemsPerPage': { '@value': catalogPageSize, '@type': 'xsd:integer' },
    'hydra:first': first,
    'hydra:firstPage': first,
    'hydra:last': last,
    'hydra:lastPage': last,
    ...(page < pages && { 'hydra:next': pageNode(page + 1), 'hydra:nextPage': pageNode(page + 1) }),
    ...(page > 1 && { 'hydra:previous': pageNode(page - 1), 'hydra:previousPage': pageNode(page - 1) }),
  }
}

const eu = 'http://publications.europa.eu/resource/authority'

const frequencies: Readonly<Record<Frequency, string>> = {
  continuous: 'CONT',
  daily: 'DAILY',
  weekly: 'WEEKLY',
  monthly: 'MONTHLY',
  quarterly: 'QUARTERLY',
  annual: 'ANNUAL',
  irregular: 'IRREG',
  never: 'NEVER',
}

function datasetNode(writing: Writing, { dataset, tables }: DatasetDescription): Node {
  const { catalog, rows, page } = writing
  const { slug, frequency, contact, spatial, temporal, language, themes, author, source } = dataset
  const moments = tables.flatMap(({ manifest }) => manifest?.import_date ?? []).toSorted()
  const texts = (pick: (dataset: Dataset) => string | undefined): unknown[] =>
    translationsOf(catalog, ({ datasets }) => pick(datasets.get(slug) ?? dataset) ?? '')
  return {
    '@id': rows.dataset(dataset),
    '@type': 'dcat:Dataset',
    'dct:identifier': slug,
    'dct:title': texts(({ name }) => name),
    'dct:description': texts(({ description }) => description),
    'dct:publisher': agentNode(dataset.publisher ?? publisherOf(writing)),
    'dct:creator': author === null ? null : agentNode(author),
    'dct:modified': dateTime(moments.at(-1)),
    'dct:issued': { '@value': dataset.collectedAt, '@type': 'xsd:date' },
    'dcat:keyword': dataset.keywords.flatMap((_keyword, index) => texts(({ keywords }) => keywords[index])),
    'dcat:theme': themes.map((theme) => ({
      '@id': `${eu}/data-theme/${theme}`,
      '@type': 'skos:Concept',
      'skos:prefLabel': { '@value': theme, '@language': 'en' },
    })),
    'dcat:contactPoint': contact === null ? null : contactNode(contact),
    'dct:accrualPeriodicity':
      frequency === null
        ? null
        : { '@id': `${eu}/frequency/${frequencies[frequency]}`, '@type': 'dct:Frequency' },
    'dct:spatial':
      spatial === null
        ? null
        : placeNode(
            spatial,
            texts(({ spatial: place }) => place?.name),
          ),
    'dct:temporal': temporal === null ? null : periodNode(temporal),
    'dct:language': language.map(languageNode),
    'dcat:landingPage': [...catalog.inLanguage.keys()].map((pageLanguage) =>
      documentNode(page(pageLanguage, dataset)),
    ),
    'prov:wasDerivedFrom':
      source === null
        ? null
        : {
            ...(source.url !== null && { '@id': source.url }),
            '@type': 'prov:Entity',
            'rdfs:label': source.name,
          },
    'dcat:distribution': tables.flatMap((view) => distributionNodes(writing, dataset, view)),
  }
}

function distributionNodes(writing: Writing, dataset: Dataset, view: TableDescription): Node[] {
  const files = publishedFiles(writing, view)
  if (files === null) return []
  const { manifest, download } = files
  const node = (file: StoredFile, description: string, properties: Node): Node => ({
    ...distributionNode(writing, dataset, view, files, file),
    'dct:title': description,
    ...properties,
  })
  return [
    node(download, `${view.table.name}: CSV`, {
      'dcat:mediaType': mediaTypeNode('text/csv'),
      'dct:format': fileTypeNode('CSV'),
      'dcat:compressFormat': mediaTypeNode('application/gzip'),
    }),
    ...manifest.parts.map((part, index) =>
      node(
        part,
        `${view.table.name}: Parquet${manifest.parts.length === 1 ? '' : `, part ${index + 1} of ${manifest.parts.length}`}`,
        {
          'dcat:mediaType': mediaTypeNode('application/vnd.apache.parquet'),
          'dct:format': fileTypeNode('PARQUET'),
        },
      ),
    ),
  ]
}

function distributionNode(
  writing: Writing,
  dataset: Dataset,
  { table }: TableDescription,
  { manifest, addressOf }: Published,
  file: StoredFile,
): Node {
  return {
    '@id': `${addressOf(file)}#distribution`,
    '@type': 'dcat:Distribution',
    'dct:description': table.description ?? `${counted(manifest.rows, 'row')} of ${table.name}.`,
    'dcat:accessURL': { '@id': writing.files.listing(table) },
    'dcat:downloadURL': { '@id': addressOf(file) },
    'dcat:byteSize': { '@value': String(file.bytes), '@type': 'xsd:nonNegativeInteger' },
    'spdx:checksum': {
      '@type': 'spdx:Checksum',
      'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256', '@type': 'spdx:ChecksumAlgorithm' },
      'spdx:checksumValue': { '@value': file.sha256, '@type': 'xsd:hexBinary' },
    },
    'dct:license': dataset.license === null ? null : licenseNode(dataset.license),
    'dct:modified': dateTime(manifest.import_date),
    'dcat:accessService': serviceNode(writing),
  }
}

const licenseNode = ({ name, url }: Party): Node => ({
  '@id': url,
  '@type': 'dct:LicenseDocument',
  'dct:title': name,
})

const iana = 'https://www.iana.org/assignments/media-types'
const mediaTypeNode = (name: string): Node => ({ '@id': `${iana}/${name}`, '@type': 'dct:MediaType' })
const fileTypeNode = (code: string): Node => ({
  '@id': `${eu}/file-type/${code}`,
  '@type': 'dct:MediaTypeOrExtent',
})
const documentNode = (address: string): Node => ({ '@id': address, '@type': 'foaf:Document' })

function agentNode({ name, url }: Originator): Node {
  return {
    '@type': 'foaf:Agent',
    'foaf:name': name,
    ...(url !== null && { 'foaf:homepage': documentNode(url) }),
  }
}

function contactNode({ name, email, url }: Contact): Node {
  return {
    '@type': 'vcard:Kind',
    'vcard:fn': name,
    ...(email !== null && { 'vcard:hasEmail': { '@id': `mailto:${email}` } }),
    ...(url !== null && { 'vcard:hasURL': { '@id': url } }),
  }
}

function placeNode({ uri, bbox }: Place, names: readonly unknown[]): Node {
  const [west, south, east, north] = bbox ?? []
  return {
    ...(uri !== null && { '@id': uri }),
    '@type': 'dct:Location',
    'skos:prefLabel': names,
    ...(bbox !== null && {
      'dcat:bbox': {
        '@value': `POLYGON((${west} ${south},${east} ${south},${east} ${north},${west} ${north},${west} ${south}))`,
        '@type': 'http://www.opengis.net/ont/geosparql#wktLiteral',
      },
    }),
  }
}

function periodNode({ start, end }: Period): Node {
  return {
    '@type': 'dct:PeriodOfTime',
    'dcat:startDate': { '@value': start, '@type': 'xsd:date' },
    ...(end !== null && { 'dcat:endDate': { '@value': end, '@type': 'xsd:date' } }),
  }
}

function languageNode(tag: string): Node {
  const [code = ''] = tag.split('-')
  return {
    '@id': `http://id.loc.gov/vocabulary/iso639-${code.length === 2 ? '1' : '2'}/${code}`,
    '@type': 'dct:LinguisticSystem',
  }
}

function dateTime(moment: string | undefined): Node | null {
  return moment === undefined ? null : { '@value': moment, '@type': 'xsd:dateTime' }
}

/** A text in each language of the catalog; without a language tag if it is the same in all. */
function translationsOf(catalog: Catalog, pick: (texts: CatalogTexts) => string): unknown[] {
  const translations = [...catalog.inLanguage].map(([language, texts]) => [language, pick(texts)] as const)
  const [first = '', ...furtherTexts] = new Set(translations.map(([, text]) => text))
  if (first === '') return []
  if (furtherTexts.length === 0) return [first]
  return translations.map(([language, text]) => ({ '@value': text, '@language': language }))
}
