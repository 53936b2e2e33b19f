import type { DatasetDocument } from '../document.ts'
import { publishedFiles } from '../files-of.ts'
import { signposts, type Described, type TypedLink } from '../links.ts'
import type { DatasetDescription, Writing } from '../description.ts'

/**
 * The page's Link header without its length limit, and links to the Parquet parts (Signposting, level 2; RFC
 * 9264).
 */
export const linkset = (descriptions: readonly Described[]): DatasetDocument => ({
  file: 'linkset.json',
  name: 'Linkset',
  description: 'Links of the dataset page: files, tables and documents.',
  contentType: 'application/linkset+json',
  write: (writing, view) => {
    const { catalog, documents, page } = writing
    const pageLinks = [...catalog.inLanguage.keys()].map((language) => ({
      anchor: page(language, view.dataset),
      ...groupByRelation([...signposts(writing, view, language, descriptions), ...partsOf(writing, view)]),
    }))
    const fileLinks = view.tables.flatMap((table) => {
      const published = publishedFiles(writing, table)
      if (published === null) return []
      const anchor = published.addressOf(published.download)
      const columns = {
        href: documents.ofTable(table.table, 'csv-metadata.json'),
        type: 'application/csvm+json',
      }
      return [
        {
          anchor,
          describedby: [columns],
          collection: [{ href: page('en', view.dataset), type: 'text/html' }],
        },
      ]
    })
    return JSON.stringify({ linkset: [...pageLinks, ...fileLinks] })
  },
})

function partsOf(writing: Writing, { tables }: DatasetDescription): TypedLink[] {
  return tables.flatMap((view) => {
    const published = publishedFiles(writing, view)
    if (published === null) return []
    const { manifest, addressOf } = published
    return manifest.parts.map((part) => ({
      rel: 'item',
      href: addressOf(part),
      type: 'application/vnd.apache.parquet',
    }))
  })
}

function groupByRelation(links: readonly TypedLink[]): Readonly<Record<string, unknown>> {
  const sets = new Map<string, unknown[]>()
  for (const { rel, ...target } of links) sets.set(rel, [...(sets.get(rel) ?? []), target])
  return Object.fromEntries(sets)
}
