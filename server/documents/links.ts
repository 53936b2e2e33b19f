import { fileNames } from '../../core/warehouse/layout.ts'
import type { Language } from '../../core/catalog/names.ts'
import type { DatasetDescription, Writing } from './description.ts'

/** Link for programs that do not read the page (RFC 8288). */
export interface TypedLink {
  readonly rel: string
  readonly href: string
  readonly type?: string
}

export interface Described {
  readonly file: string
  readonly contentType: string
}

/** Proxies accept 4 kB of headers by default. */
const headerMax = 2500

/** Signposting, level 1: author, citation, license, descriptions, and files. */
export function signposts(
  writing: Writing,
  { dataset, tables }: DatasetDescription,
  language: Language,
  descriptions: readonly Described[],
): TypedLink[] {
  const { documents, files, page } = writing
  return [
    { rel: 'type', href: 'https://schema.org/AboutPage' },
    { rel: 'type', href: 'https://schema.org/Dataset' },
    { rel: 'cite-as', href: page(language, dataset) },
    ...(dataset.author?.url == null ? [] : [{ rel: 'author', href: dataset.author.url }]),
    ...(dataset.license === null ? [] : [{ rel: 'license', href: dataset.license.url }]),
    ...descriptions.map(({ file, contentType }) => ({
      rel: 'describedby',
      href: documents.ofDataset(dataset, file),
      type: mediaTypeIn(contentType),
    })),
    ...tables
      .filter(({ manifest }) => manifest !== null)
      .map(({ table }) => ({ rel: 'item', href: files.download(table), type: 'application/gzip' })),
  ]
}

function mediaTypeIn(contentType: string): string {
  return contentType.split(';')[0] ?? contentType
}

/**
 * Formats a Link header, without the last links if it would become too long.
 * @param linksetAddress address of the complete linkset, which is always linked
 */
export function linkHeader(links: readonly TypedLink[], linksetAddress: string): string {
  const texts = links.map(
    ({ rel, href, type }) => `<${uriOf(href)}>; rel="${rel}"${type === undefined ? '' : `; type="${type}"`}`,
  )
  const linksetLink = `<${uriOf(linksetAddress)}>; rel="linkset"; type="application/linkset+json"`
  let length = linksetLink.length
  const fitting = texts.filter((text) => {
    length += text.length + 2
    return length <= headerMax
  })
  return [...fitting, linksetLink].join(', ')
}

function uriOf(address: string): string {
  return new URL(address).href
}

export function fileLinks(
  { documents }: Writing,
  view: DatasetDescription['tables'][number],
  file: string,
): string {
  const { dataset, table } = view
  const home = `<${documents.ofDataset(dataset, 'linkset.json')}>; rel="linkset"; type="application/linkset+json"`
  if (file !== fileNames.download(table)) return home
  return `<${documents.ofTable(table, 'csv-metadata.json')}>; rel="describedby"; type="application/csvm+json", ${home}`
}
