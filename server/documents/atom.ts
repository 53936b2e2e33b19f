import { counted } from '../../core/text.ts'
import { type Dataset, type Table, tableId } from '../../core/catalog/catalog.ts'
import { withQuery } from '../http/addresses.ts'
import { fileNames } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { publisherOf, type Writing } from './description.ts'
import { element, xmlHead, xmlText } from './xml.ts'

/** A snapshot as an entry of a feed. */
export interface Change {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest
  readonly report: SnapshotReport | null
}

interface Feed {
  readonly title: string
  readonly subtitle: string
  /** Address of the feed. */
  readonly self: string
  /** Page about the same dataset or table. */
  readonly page: string
  /** Date of a feed without entries, `YYYY-MM-DDTHH:MM:SSZ`. */
  readonly fallbackDate: string
  /** Newest first. */
  readonly changes: readonly Change[]
}

/** Maximum number of entries of a feed. */
export const entriesMax = 100
/** Maximum number of sentences of an entry. */
const sentencesMax = 20

export const atomType = 'application/atom+xml; charset=utf-8'

/** Writes changes as an Atom feed (RFC 4287), one entry per snapshot. */
export function atom(writing: Writing, { title, subtitle, self, page, fallbackDate, changes }: Feed): string {
  const latestChanges = changes.slice(0, entriesMax)
  const author = publisherOf(writing)
  const content = [
    element('id', xmlText(self)),
    element('title', xmlText(title)),
    ...(subtitle === '' ? [] : [element('subtitle', xmlText(subtitle))]),
    element('updated', latestChanges[0]?.manifest.import_date ?? fallbackDate),
    element('author', element('name', xmlText(author.name)) + element('uri', xmlText(author.url))),
    element('link', '', { rel: 'self', type: 'application/atom+xml', href: self }),
    element('link', '', { rel: 'alternate', type: 'text/html', href: page }),
    element('generator', 'Acervo'),
    ...latestChanges.map((change) => entry(writing, change)),
  ]
  return (
    xmlHead + element('feed', content.join(''), { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': 'en' })
  )
}

function entry(writing: Writing, change: Change): string {
  const { dataset, table, manifest } = change
  const { files, rows, page } = writing
  const { snapshot, import_date: imported } = manifest
  const download = manifest.files.find(({ file }) => file === fileNames.download(table))
  const pinned = withQuery(rows.data(dataset, table), new Map([['snapshot', snapshot]]), 1)
  const addressOf = (file: string): string => files.file(table, snapshot, file)
  const sentences = sentencesOf(change)
  const list = sentences.map((sentence) => `<li>${xmlText(sentence)}</li>`).join('')
  return element(
    'entry',
    [
      element('id', `urn:acervo:snapshot:${tableId(table)}:${snapshot}`),
      element('title', xmlText(`${tableId(table)}: ${sentences[0] ?? ''}`)),
      element('updated', imported),
      element('published', imported),
      element('category', '', { term: dataset.slug }),
      element('link', '', { rel: 'alternate', type: 'text/html', href: page('en', dataset, table) }),
      element('link', '', { rel: 'related', type: 'application/json', title: 'Rows', href: pinned }),
      element('link', '', {
        rel: 'related',
        type: 'application/json',
        title: 'Report',
        href: addressOf(fileNames.report),
      }),
      ...(download === undefined
        ? []
        : [
            element('link', '', {
              rel: 'enclosure',
              type: 'application/gzip',
              length: String(download.bytes),
              title: download.file,
              href: addressOf(download.file),
            }),
          ]),
      ...manifest.parts.map(({ file, bytes }) =>
        element('link', '', {
          rel: 'enclosure',
          type: 'application/vnd.apache.parquet',
          length: String(bytes),
          title: file,
          href: addressOf(file),
        }),
      ),
      element('content', xmlText(`<ul>${list}</ul>`), { type: 'html' }),
    ].join(''),
  )
}

/** Describes the changes of an ingest in sentences, rows first. */
function sentencesOf({ manifest, report }: Change): string[] {
  const { rows, before } = manifest
  const now = counted(rows, 'row')
  const first =
    before === undefined
      ? `${now}.`
      : rows === before.rows
        ? `${now}, as many as before.`
        : `${now}, ${inWords(before.rows)} before (${rows > before.rows ? '+' : '−'}${inWords(Math.abs(rows - before.rows))}).`
  const rejected = report?.rejected_rows ?? 0
  const drift = report?.accepted_drift ?? []
  const all = [
    first,
    ...fieldSentences(manifest.fields, before?.fields ?? null),
    ...(rejected > 0
      ? [`${counted(rejected, 'row')} of the source ${rejected === 1 ? 'was' : 'were'} rejected.`]
      : []),
    ...drift.map((sentence) => `Unlike before: ${sentence}.`),
    ...(report?.warnings ?? []),
    `Collected ${manifest.collected_at}.`,
  ]
  return all.slice(0, sentencesMax)
}

type Fields = readonly Pick<Manifest['fields'][number], 'name' | 'type'>[]

function fieldSentences(now: Fields, before: Fields | null): string[] {
  if (before === null) return []
  const types = new Map(before.map(({ name, type }) => [name, type]))
  const names = new Set(now.map(({ name }) => name))
  const added = now.filter(({ name }) => !types.has(name)).map(({ name, type }) => `${name} (${type})`)
  const removed = before.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  const changed = now.filter(({ name, type }) => types.has(name) && types.get(name) !== type)
  return [
    ...(added.length > 0 ? [`New fields: ${added.join(', ')}.`] : []),
    ...(removed.length > 0 ? [`Removed fields: ${removed.join(', ')}.`] : []),
    ...changed.map(
      ({ name, type }) => `The field ${name} is of type ${type}; it was ${types.get(name) ?? ''}.`,
    ),
  ]
}

function inWords(count: number): string {
  return count.toLocaleString('en')
}
