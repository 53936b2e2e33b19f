import { describeField } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { DatasetDocument } from '../document.ts'
import { publishedFiles, type Published } from '../files-of.ts'
import type { DatasetDescription, Json, TableDescription, Writing } from '../description.ts'

/** Croissant 1.1: Parquet parts, and the record sets of each table. */
export const croissant: DatasetDocument = {
  file: 'croissant.json',
  name: 'Croissant',
  description: 'The dataset for machine learning, as Croissant 1.1.',
  contentType: 'application/ld+json; profile="http://mlcommons.org/croissant/1.1"',
  write: (writing, view) => JSON.stringify(croissantOf(writing, view)),
}

const context: Json = {
  '@language': 'en',
  '@vocab': 'https://schema.org/',
  citeAs: 'cr:citeAs',
  column: 'cr:column',
  conformsTo: 'dct:conformsTo',
  containedIn: 'cr:containedIn',
  cr: 'http://mlcommons.org/croissant/',
  data: { '@id': 'cr:data', '@type': '@json' },
  dataType: { '@id': 'cr:dataType', '@type': '@vocab' },
  dct: 'http://purl.org/dc/terms/',
  equivalentProperty: 'cr:equivalentProperty',
  examples: { '@id': 'cr:examples', '@type': '@json' },
  extract: 'cr:extract',
  field: 'cr:field',
  fileObject: 'cr:fileObject',
  fileProperty: 'cr:fileProperty',
  fileSet: 'cr:fileSet',
  format: 'cr:format',
  includes: 'cr:includes',
  excludes: 'cr:excludes',
  isArray: 'cr:isArray',
  isLiveDataset: 'cr:isLiveDataset',
  arrayShape: 'cr:arrayShape',
  jsonPath: 'cr:jsonPath',
  key: 'cr:key',
  md5: 'cr:md5',
  parentField: 'cr:parentField',
  path: 'cr:path',
  rai: 'http://mlcommons.org/croissant/RAI/',
  readLines: 'cr:readLines',
  recordSet: 'cr:recordSet',
  references: 'cr:references',
  regex: 'cr:regex',
  repeated: 'cr:repeated',
  replace: 'cr:replace',
  samplingRate: 'cr:samplingRate',
  sc: 'https://schema.org/',
  separator: 'cr:separator',
  source: 'cr:source',
  subField: 'cr:subField',
  transform: 'cr:transform',
  unArchive: 'cr:unArchive',
  value: 'cr:value',
}

const parquetTypes = ['application/vnd.apache.parquet', 'application/x-parquet']

function croissantOf(writing: Writing, { dataset, tables }: DatasetDescription): Json {
  const { author, publisher, license, keywords, language, collectedAt } = dataset
  const publishedTables = tables.flatMap((view) => {
    const files = publishedFiles(writing, view)
    return files === null || files.manifest.parts.length === 0 ? [] : [{ view, files }]
  })
  const moments = publishedTables.map(({ files }) => files.manifest.import_date).toSorted()
  const importMoment = moments.at(-1) ?? `${collectedAt}T00:00:00Z`
  return {
    '@context': context,
    '@type': 'sc:Dataset',
    conformsTo: 'http://mlcommons.org/croissant/1.1',
    name: dataset.slug,
    alternateName: dataset.name,
    description: dataset.description,
    url: writing.page('en', dataset),
    ...(license !== null && { license: license.url }),
    ...(author !== null && {
      creator: {
        '@type': 'sc:Organization',
        name: author.name,
        ...(author.url !== null && { url: author.url }),
      },
    }),
    ...(publisher !== null && {
      publisher: { '@type': 'sc:Organization', name: publisher.name, url: publisher.url },
    }),
    ...(keywords.length > 0 && { keywords }),
    ...(language.length > 0 && { inLanguage: language }),
    version: versionOf(importMoment),
    datePublished: importMoment.slice(0, 10),
    dateModified: importMoment.slice(0, 10),
    isLiveDataset: true,
    citeAs: `@misc{${dataset.slug}, title={${dataset.name}}${author === null ? '' : `, author={${author.name}}`}, year={${collectedAt.slice(0, 4)}}, url={${writing.page('en', dataset)}}}`,
    distribution: publishedTables.flatMap(({ view, files }) => filesOf(view, files)),
    recordSet: publishedTables.flatMap(({ view, files }) => recordSetsOf(view, files)),
  }
}

/** Loaders require a semantic version: day and second of the latest import. */
function versionOf(moment: string): string {
  const [day = '', time = ''] = moment.split('T')
  const [hours = 0, minutes = 0, seconds = 0] = time.split(/[:.Z]/).map(Number)
  return `${Number(day.replaceAll('-', ''))}.${hours * 3600 + minutes * 60 + seconds}.0`
}

function filesOf({ table }: TableDescription, { manifest, addressOf }: Published): Json[] {
  return manifest.parts.map((part) => ({
    '@type': 'cr:FileObject',
    '@id': `${table.name}/${part.file}`,
    name: `${table.name}/${part.file}`,
    contentUrl: addressOf(part),
    contentSize: `${part.bytes} B`,
    encodingFormat: parquetTypes,
    sha256: part.sha256,
  }))
}

/** One record set for each part: the reference loader reads a set of files only from an archive. */
function recordSetsOf({ table }: TableDescription, { manifest: { parts } }: Published): Json[] {
  return parts.map(({ file }, index) => {
    const id = parts.length === 1 ? table.name : `${table.name}-${index + 1}`
    const description = table.description ?? table.title ?? table.name
    return {
      '@type': 'cr:RecordSet',
      '@id': id,
      name: id,
      description: parts.length === 1 ? description : `${description} (part ${index + 1} of ${parts.length})`,
      field: table.fields.map(({ name, type, ...texts }) => ({
        '@type': 'cr:Field',
        '@id': `${id}/${name}`,
        name,
        description: describeField(texts) || name,
        dataType: typeRow(type).called.croissant,
        source: { fileObject: { '@id': `${table.name}/${file}` }, extract: { column: name } },
      })),
    }
  })
}
