import { type Dataset, type Table, tableId } from '../../core/catalog/catalog.ts'
import type { Language } from '../../core/catalog/names.ts'
import { withQuery } from '../http/addresses.ts'
import { fileNames, timeOf, type SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import type { SnapshotReport } from '../../core/warehouse/report.ts'
import { changedRowTexts, schemaSentences } from './change-sentences.ts'
import { publisherOf, type Writing } from './description.ts'
import { wordsOf } from './words/all.ts'
import type { Words } from './words/en.ts'
import { writtenIn } from './words/number-formats.ts'
import { titleOf } from './words/titles.ts'
import { element, xmlHead, xmlText } from './xml.ts'

/** A snapshot as an entry of a feed. */
export interface Change {
  readonly dataset: Dataset
  readonly table: Table
  readonly manifest: Manifest
  readonly report: SnapshotReport | null
  /** Answer to the query of the feed, if it has one. */
  readonly answer?: Answer
}

/** A rollback as an entry of a feed. */
export interface Withdrawal {
  readonly dataset: Dataset
  readonly table: Table
  readonly snapshot: SnapshotId
  readonly at: string
  readonly current: Manifest
}

interface Answer {
  readonly count: number
  /** Count in the previous snapshot; null if there is none. */
  readonly before: number | null
  readonly parameters: ReadonlyMap<string, string>
  readonly isGrouped: boolean
  /** Address of the rows by which the answers differ; null if there is none. */
  readonly differences: string | null
}

interface Feed {
  readonly language: Language
  readonly title: string
  readonly subtitle: string
  readonly self: string
  readonly page: string
  readonly fallbackDate: string
  readonly changes: readonly Change[]
  readonly withdrawals: readonly Withdrawal[]
  /** WebSub address; empty for none. */
  readonly hub: string
}

export const entriesMax = 100
const sentencesMax = 20

export const atomType = 'application/atom+xml; charset=utf-8'

/** Atom feed (RFC 4287), one entry per snapshot and per rollback. */
export function atom(
  writing: Writing,
  { language, title, subtitle, self, page, fallbackDate, changes, withdrawals, hub }: Feed,
): string {
  const latestChanges = changes.slice(0, entriesMax)
  const dates = [
    ...latestChanges.map(({ manifest }) => manifest.import_date),
    ...withdrawals.map(({ at }) => at),
  ]
  const author = publisherOf(writing)
  const content = [
    element('id', xmlText(self)),
    element('title', xmlText(title)),
    ...(subtitle === '' ? [] : [element('subtitle', xmlText(subtitle))]),
    element('updated', dates.toSorted().at(-1) ?? fallbackDate),
    element('author', element('name', xmlText(author.name)) + element('uri', xmlText(author.url))),
    element('link', '', { rel: 'self', type: 'application/atom+xml', href: self }),
    element('link', '', { rel: 'alternate', type: 'text/html', href: page }),
    ...(hub === '' ? [] : [element('link', '', { rel: 'hub', href: hub })]),
    element('generator', 'Acervo'),
    ...withdrawals.map((withdrawal) => withdrawalEntry(writing, withdrawal, language)),
    ...latestChanges.map((change) => entry(writing, change, language, self)),
  ]
  return (
    xmlHead +
    element('feed', content.join(''), {
      xmlns: 'http://www.w3.org/2005/Atom',
      'xml:lang': wordsOf[language].locale,
    })
  )
}

function entry(writing: Writing, change: Change, language: Language, self: string): string {
  const { dataset, table, manifest, answer } = change
  const { files, rows, page } = writing
  const { snapshot, import_date: imported } = manifest
  const download = manifest.files.find(({ file }) => file === fileNames.download(table))
  const base = answer?.isGrouped === true ? rows.aggregate : rows.data
  const parameters = new Map([...(answer?.parameters ?? []), ['snapshot', snapshot]])
  const pinnedAddress = withQuery(base(dataset, table), parameters, 1)
  const addressOf = (file: string): string => files.file(table, snapshot, file)
  const words = wordsOf[language]
  const sentences = sentencesOf(change, words)
  const list = sentences.map((sentence) => `<li>${xmlText(sentence)}</li>`).join('')
  return element(
    'entry',
    [
      // In the feed of a query, an id includes the query, since answers differ.
      element(
        'id',
        answer === undefined
          ? `urn:acervo:snapshot:${tableId(table)}:${snapshot}`
          : `${xmlText(self)}#${snapshot}`,
      ),
      element('title', xmlText(`${dataset.name}, ${titleOf(table)}: ${sentences[0] ?? ''}`)),
      element('updated', imported),
      element('published', imported),
      element('category', '', { term: dataset.slug }),
      element('link', '', {
        rel: 'alternate',
        type: 'text/html',
        href: withQuery(
          page(language, dataset, table),
          new Map(answer?.isGrouped === true ? [] : answer?.parameters),
          1,
        ),
      }),
      element('link', '', {
        rel: 'related',
        type: 'application/json',
        title: words.rowsHead,
        href: pinnedAddress,
      }),
      ...(answer?.differences == null
        ? []
        : [
            element('link', '', {
              rel: 'related',
              type: 'application/json',
              title: words.aspects.changes,
              href: answer.differences,
            }),
          ]),
      element('link', '', {
        rel: 'related',
        type: 'application/json',
        title: words.reportOf(titleOf(table)),
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

function withdrawalEntry(
  { page }: Writing,
  { dataset, table, snapshot, at, current }: Withdrawal,
  language: Language,
): string {
  const words = wordsOf[language]
  const { moment } = writtenIn(words)
  const sentence = words.versionWithdrawn(moment(timeOf(snapshot).toISOString()), moment(current.import_date))
  return element(
    'entry',
    [
      element('id', `urn:acervo:rollback:${tableId(table)}:${snapshot}`),
      element('title', xmlText(`${dataset.name}, ${titleOf(table)}: ${sentence}`)),
      element('updated', at),
      element('published', at),
      element('category', '', { term: dataset.slug }),
      element('link', '', { rel: 'alternate', type: 'text/html', href: page(language, dataset, table) }),
      element('content', xmlText(sentence), { type: 'text' }),
    ].join(''),
  )
}

function sentencesOf({ table, manifest, report, answer }: Change, words: Words): string[] {
  const { rows, before, changes: [latestChanges] = [] } = manifest
  const { count, day, list } = writtenIn(words)
  const rowsNow = words.rows(count(rows))
  const difference = rows - (before?.rows ?? rows)
  const rowsSentence =
    before === undefined
      ? `${rowsNow}.`
      : difference === 0
        ? words.asManyAsBefore(rowsNow)
        : words.rowsBefore(
            rowsNow,
            count(before.rows),
            `${difference > 0 ? '+' : '−'}${count(Math.abs(difference))}`,
          )
  const rejectedRows = report?.rejected_rows ?? 0
  const warningCount = report?.warnings.length ?? 0
  const changedRows =
    latestChanges === undefined ? [] : changedRowTexts(words, latestChanges).map(({ text }) => text)
  const sentences = [
    ...(answer === undefined ? [] : [answerSentence(answer, words)]),
    rowsSentence,
    ...(changedRows.length > 0
      ? [`${list(changedRows)}.`]
      : latestChanges === undefined
        ? []
        : [words.noRowChanged]),
    ...schemaSentences(table, manifest, words),
    ...(rejectedRows > 0 ? [words.leftOutOfTable(count(rejectedRows))] : []),
    ...(report?.accepted_drift ?? []).map(words.unlikeBefore),
    // Warnings are in English, and advise the operator.
    ...(warningCount > 0 ? [words.warningsInReport(count(warningCount))] : []),
    words.collectedOn(day(manifest.collected_at)),
  ]
  return sentences.slice(0, sentencesMax)
}

function answerSentence({ count: now, before, isGrouped }: Answer, words: Words): string {
  const { count } = writtenIn(words)
  const sizeOf = (size: number): string => (isGrouped ? words.groups : words.rows)(count(size))
  return words.answerChanged(sizeOf(now), before === null ? null : sizeOf(before))
}
