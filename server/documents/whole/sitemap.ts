import { languages } from '../../../core/catalog/names.ts'
import type { DatasetDescription, Writing } from '../description.ts'
import { element, xmlHead, xmlText } from '../xml.ts'

const schema = 'http://www.sitemaps.org/schemas/sitemap/0.9'
const addressesMax = 50_000

interface Entry {
  readonly address: string
  readonly changed: string | undefined
}

/** Lists all pages (https://www.sitemaps.org/protocol.html), or the files of an index. */
export function sitemapOf(writing: Writing, views: readonly DatasetDescription[]): string {
  const entries = entriesOf(writing, views)
  const files = Math.ceil(entries.length / addressesMax)
  if (files <= 1) return urlSet(entries)
  const numbers = Array.from({ length: files }, (_, index) => index + 1)
  const sitemaps = numbers.map((number) =>
    element('sitemap', element('loc', xmlText(writing.documents.ofService(`sitemap-${number}.xml`)))),
  )
  return `${xmlHead}${element('sitemapindex', sitemaps.join(''), { xmlns: schema })}`
}

export function sitemapFiles(writing: Writing, views: readonly DatasetDescription[]): number {
  return Math.max(1, Math.ceil(entriesOf(writing, views).length / addressesMax))
}

/** Null for an unknown number. */
export function sitemapPart(
  writing: Writing,
  views: readonly DatasetDescription[],
  number: number,
): string | null {
  const entries = entriesOf(writing, views).slice((number - 1) * addressesMax, number * addressesMax)
  return entries.length === 0 ? null : urlSet(entries)
}

function urlSet(entries: readonly Entry[]): string {
  const urls = entries.map(({ address, changed }) =>
    element(
      'url',
      element('loc', xmlText(address)) + (changed === undefined ? '' : element('lastmod', changed)),
    ),
  )
  return `${xmlHead}${element('urlset', urls.join(''), { xmlns: schema })}`
}

function entriesOf({ pagesOf }: Writing, views: readonly DatasetDescription[]): Entry[] {
  const listedViews = views.filter(({ dataset }) => dataset.listedIn.size > 0)
  const entries = languages.flatMap((language) => [
    ...entriesAt(pagesOf(language), newest(listedViews)),
    ...listedViews.flatMap((view) => [
      ...entriesAt(pagesOf(language, view.dataset), newest([view])),
      ...view.tables
        .filter(({ manifest }) => manifest !== null)
        .flatMap(({ table, manifest }) =>
          entriesAt(pagesOf(language, view.dataset, table), manifest?.import_date),
        ),
    ]),
  ])
  return entries
}

const entriesAt = (addresses: readonly string[], changed: string | undefined): Entry[] =>
  addresses.map((address) => ({ address, changed }))

function newest(views: readonly DatasetDescription[]): string | undefined {
  const moments = views.flatMap(({ tables }) => tables.flatMap(({ manifest }) => manifest?.import_date ?? []))
  return moments.toSorted().at(-1)
}
