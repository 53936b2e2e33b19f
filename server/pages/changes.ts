import type { Field, Table } from '../../core/catalog/catalog.ts'
import { changeColumns } from '../../core/warehouse/changes.ts'
import { timeOf, type SnapshotId } from '../../core/warehouse/layout.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { changedRowTexts, schemaSentences } from '../documents/change-sentences.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { titleOf } from '../documents/words/titles.ts'
import { isNumber, isTime, valueText } from '../documents/words/value-text.ts'
import type { Resource } from '../http/resource.ts'
import { parseChangedRows, parseChangesTarget, type ChangesTarget } from '../query/changes-query.ts'
import { parametersOf } from '../query/parameters.ts'
import { parseRowQuery } from '../query/query.ts'
import { findDataset, findTable } from '../routes/find.ts'
import { unknownChanges } from '../routes/table-changes.ts'
import {
  changesOf,
  comparableVersions,
  type ChangesSnapshot,
  type KnownChanges,
} from '../snapshots/changes.ts'
import { subscribePart } from './cite.ts'
import { framed, type PageContext } from './frame.ts'
import { html, textOf, type Html } from './html.ts'
import { named, pageAt, rowAddresses, type PageService } from './service.ts'
import { answerQuery, type AnswerableQuery } from './table/answer-query.ts'
import { contentOf } from './table/grid.ts'
import { downloadLine, pageLines } from './table/downloads.ts'
import { headPart, trailTo } from './table/tabs.ts'
import { queryLink, rowsPage, viewOf, type TableView } from './table/view.ts'

const rowsPerPage = 20
const columnsMax = 50

interface ChangesQuery extends ChangesTarget {
  readonly snapshot: SnapshotId | null
}

function parse(_table: Table, target: string): ChangesQuery {
  const requestedRange = parseChangesTarget(target)
  return { ...requestedRange, snapshot: requestedRange.to }
}

export function changesPage(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table/changes', 'Changes'),
    countsAs: 'rows',
    find: async (request) => {
      const dataset = findDataset(service.catalog, request.params)
      const requestedTable = findTable(dataset, request.params)
      const earlierManifests = await service.snapshots.earlier(requestedTable)
      return answerQuery(service, request, parse, (answerable) => {
        const { table, snapshot, query } = answerable
        const api = rowAddresses(service).changes(dataset, table)
        const changes = changesOf(snapshot, query.since)
        if (changes === null && query.since !== null) throw unknownChanges(table, snapshot, query, api)
        const current = service.snapshots.current(table)?.manifest ?? snapshot.manifest
        const manifests = [current, ...earlierManifests]
        const ids = manifests.map((manifest) => manifest.snapshot)
        const key = [
          'changes',
          table.dataset,
          table.name,
          snapshot.manifest.snapshot,
          query.since,
          query.to,
          ids,
        ]
        const excludedNames = ['snapshot', 'format', 'fields'] as const
        const rowQuery =
          changes === null
            ? parseRowQuery(table, query.target, excludedNames, rowsPerPage)
            : parseChangedRows(changes, query.target, excludedNames, rowsPerPage)
        const view = { ...answerable, versions: manifests, changes, api }
        if (changes === null || changes.manifest.rows === 0)
          return {
            ...named(service, key),
            body: () => ({ pieces: [textOf(changesHtml(service, view, null))] }),
          }
        const page = rowsPage(changes, rowQuery)
        return {
          ...named(service, [...key, page.key]),
          body: async (signal) => {
            const changedRows = { dataset, table: changes.table, snapshot: changes, query: rowQuery }
            const { view: rows, serverTiming } = await viewOf(changedRows, page, service, request, signal)
            return { pieces: [textOf(changesHtml(service, view, rows))], serverTiming }
          },
        }
      })
    },
  }
}

interface ChangesView extends AnswerableQuery<ChangesQuery> {
  /** Null if no earlier version is known. */
  readonly changes: ChangesSnapshot | null
  readonly versions: readonly Manifest[]
  readonly api: string
}

function changesHtml(
  service: PageService,
  { dataset, table, snapshot, query, changes: changesSnapshot, versions, api }: ChangesView,
  rows: TableView | null,
): Html {
  const { context, writing, files } = service
  const { addresses, language, words } = context
  const { manifest, report } = snapshot
  const feed = writing.documents.tableFeed(table, language)
  const isComparedWithItself = changesSnapshot?.changes.since === manifest.snapshot
  const since = changesSnapshot === null || isComparedWithItself ? null : changesSnapshot.changes.since
  const fileName = changesSnapshot?.changes.file ?? null
  const file = fileName === null ? null : files.file(table, manifest.snapshot, fileName)
  const actions = html`<div class="actions">
    ${file !== null && changesSnapshot !== null && rows !== null && downloadsPart(context, api, query, file, changesSnapshot.manifest.rows)}
    ${subscribePart(context, feed)}
  </div>`
  const comparableIds = comparableVersions(manifest)
  const momentOf = momentNames(context, [
    ...versions.map((version) => version.snapshot),
    ...comparableIds,
    manifest.snapshot,
  ])
  // A manifest compares fields only with the previous version.
  const sentences = since === manifest.previous ? schemaSentences(table, manifest, words) : []
  const main = html`
    ${headPart(context, { dataset, table, manifest, report }, 'changes', new Map(), actions)}
    ${
      since === null || changesSnapshot === null
        ? html`<p class="lead">${words.noEarlier}</p>`
        : html`<h2>${words.changedBetween(momentOf(since), momentOf(manifest.snapshot))}</h2>
            ${countsPart(context, table, changesSnapshot.changes, query, manifest.rows)}
            ${sentences.length > 0 && html`<p>${sentences.join(' ')}</p>`}
            ${startsPart(
              context,
              comparableIds.filter((start) => start !== since),
              momentOf,
            )}
            ${rows !== null && rowsPart(context, table, changesSnapshot.changes, query, rows)}`
    }
    ${versionsPart(context, table, versions, momentOf)}
  `
  return framed(context, {
    title: `${words.aspects.changes}: ${dataset.name}, ${titleOf(table)}`,
    main,
    inLanguage: (target) => addresses.aspect(target, table, 'changes'),
    trail: trailTo(context, dataset),
    feed,
  })
}

function momentNames({ words }: PageContext, ids: Iterable<SnapshotId>): (id: SnapshotId) => string {
  const versions = [...new Set(ids)]
  const { moment, exactMoment } = writtenIn(words)
  const minutes = new Set(versions.map((id) => moment(timeOf(id).toISOString())))
  const format = minutes.size === versions.length ? moment : exactMoment
  return (id) => format(timeOf(id).toISOString())
}

function startsPart(
  context: PageContext,
  starts: readonly SnapshotId[],
  momentOf: (id: SnapshotId) => string,
): Html | null {
  return starts.length === 0
    ? null
    : html`<p class="facts">
        ${context.words.sinceOthers}
        ${starts.map(
          (since) => html`<a href="${queryLink(new Map([['since', since]]))}">${momentOf(since)}</a> `,
        )}
      </p>`
}

function versionsPart(
  context: PageContext,
  table: Table,
  versions: readonly Manifest[],
  momentOf: (id: SnapshotId) => string,
): Html {
  const { words, addresses, language } = context
  const { list } = writtenIn(words)
  const lines = versions.map((manifest) => {
    // The first changes are since the previous version.
    const { snapshot, rows, changes: [changes] = [] } = manifest
    const facts = [
      words.rows(writtenIn(words).count(rows)),
      ...(changes === undefined
        ? []
        : [list(changedRowTexts(words, changes).map(({ text }) => text)) || words.noRowChanged]),
      ...schemaSentences(table, manifest, words),
    ].join(' · ')
    const address = addresses.aspect(language, table, 'changes', new Map([['to', snapshot]]))
    const name = momentOf(snapshot)
    return html`<li>
      ${changes === undefined ? name : html`<a href="${address}">${name}</a>`}
      <span class="facts"
        >${facts} ·
        <a href="${addresses.table(language, table, new Map([['snapshot', snapshot]]))}"
          >${words.aspects.table}</a
        ></span
      >
    </li>`
  })
  return html`<section>
    <h2>${words.versions}</h2>
    <ul class="results">
      ${lines}
    </ul>
  </section>`
}

function endsOf({ since }: KnownChanges, { to }: ChangesQuery): [name: string, id: string][] {
  return [['since', since], ...(to === null ? [] : [['to', to] as [string, string]])]
}

function countsPart(
  { words }: PageContext,
  table: Table,
  changes: KnownChanges,
  query: ChangesQuery,
  tableRowCount: number,
): Html {
  const { count, list } = writtenIn(words)
  const changedKinds = changedRowTexts(words, changes)
  const { kindColumn } = changeColumns(changes.fields)
  const chosenKind = parametersOf(query.target).find(([name]) => name === kindColumn)?.[1] ?? null
  const endParameters = endsOf(changes, query)
  const kindLink = ({ kind, text }: (typeof changedKinds)[number]): Html =>
    kind === chosenKind
      ? html`<strong>${text}</strong>`
      : html`<a href="${queryLink(new Map([...endParameters, [kindColumn, kind]]))}">${text}</a>`
  const isReloaded = changes.added + changes.removed + changes.changed > tableRowCount / 2
  const fields = changes.changed_fields.map(({ name, rows: changed }) => {
    const field = table.fields.find((item) => item.name === name)
    return `${field === undefined ? name : titleOf(field)} (${count(changed)})`
  })
  return html`<p class="lead dotted" role="status">
      ${isReloaded && html`<span>${words.reloaded}</span>`}
      ${changedKinds.length === 0 && html`<span>${words.noRowChanged}</span>`}
      ${changedKinds.map((kind) => html`${kindLink(kind)} `)}
      ${chosenKind !== null && html`<a href="${queryLink(new Map(endParameters))}">${words.allChanges}</a>`}
    </p>
    ${fields.length > 0 && html`<p>${words.fieldsChanged} ${list(fields)}.</p>`}
    ${changes.key === null && changedKinds.length > 0 && html`<p class="facts">${words.withoutKey}</p>`}`
}

function downloadsPart(
  context: PageContext,
  api: string,
  { since, to }: ChangesQuery,
  file: string,
  changeCount: number,
): Html {
  const ends = Object.entries({ since, to }).flatMap(([name, id]) =>
    id === null ? [] : [[name, id] as const],
  )
  const formats = { Excel: 'xlsx', CSV: 'csv', JSON: 'json' }
  return html`<details class="menu end main" id="downloads">
    <summary>${context.words.download}</summary>
    <ul class="downloads">
      ${pageLines(context, formats, api, new Map(ends), changeCount)} ${downloadLine('Parquet', file, null)}
    </ul>
  </details>`
}

function rowsPart(
  context: PageContext,
  table: Table,
  changes: KnownChanges,
  query: ChangesQuery,
  view: TableView,
): Html {
  const { words } = context
  const { kindColumn, changedColumn, old: oldColumnName } = changeColumns(changes.fields)
  const inFields = new Set(changes.changed_fields.map(({ name }) => name))
  const first = table.defaultColumns ?? changes.fields
  const places = new Map(view.fields.map(({ name }, index) => [name, index]))
  const valueIn = (row: Row, name: string): string | null => row[places.get(name) ?? -1] ?? null
  const counterparts = changes.key === null ? counterpartsIn(view, kindColumn) : new Map<Row, Row>()
  const differing = changes.fields.filter((name) =>
    [...counterparts].some(([row, counterpart]) => valueIn(row, name) !== valueIn(counterpart, name)),
  )
  const names = [...new Set([...(changes.key ?? []), ...inFields, ...first, ...differing])]
  // The catalog's fields, unlike those in the file, have titles in the language of the page.
  const columns = names
    .slice(0, columnsMax)
    .flatMap((name) => table.fields.find((field) => field.name === name) ?? [])
  const kindOf = (row: Row): keyof typeof words.changeKinds =>
    valueIn(row, kindColumn) as keyof typeof words.changeKinds
  // Without a key, the fields of the order identify a row best.
  const keyNames = new Set(changes.key ?? table.order.map(({ field }) => field))
  // With a key, a row has both values; without one, each of two counterparts has one.
  const cell = (row: Row, field: Field, changedNames: readonly string[]): Html => {
    const counterpart = counterparts.get(row)
    const value = valueIn(row, field.name)
    const otherValue =
      counterpart === undefined ? valueIn(row, oldColumnName(field.name)) : valueIn(counterpart, field.name)
    const isChanged = counterpart === undefined ? changedNames.includes(field.name) : otherValue !== value
    // Unchanged values beside changed ones are pale.
    const isSame =
      !isChanged && !keyNames.has(field.name) && (counterpart !== undefined || changedNames.length > 0)
    const cssClass = isNumber(field) ? 'n' : isTime(field) ? 'd' : 't'
    return html`<td class="${isSame ? `${cssClass} same` : cssClass}" data-label="${titleOf(field)}">
      ${
        isChanged
          ? differencePart(context, field, { before: otherValue, value, kind: counterpart && kindOf(row) })
          : contentOf(context, field, value)
      }
    </td>`
  }
  return html`<div
      class="scroll grid changes"
      tabindex="0"
      role="region"
      aria-label="${words.aspects.changes}"
    >
      <table class="stacked">
        <thead>
          <tr>
            <th scope="col">${words.change}</th>
            ${columns.map(
              (field) =>
                html`<th scope="col" class="${isNumber(field) ? 'number' : ''}">${titleOf(field)}</th>`,
            )}
          </tr>
        </thead>
        <tbody>
          ${view.rows.map((row) => {
            const changedNames = JSON.parse(valueIn(row, changedColumn) ?? '[]') as string[]
            return html`<tr class="${kindOf(row)}">
              <th scope="row">${words.changeKinds[kindOf(row)]}</th>
              ${columns.map((field) => cell(row, field, changedNames))}
            </tr>`
          })}
        </tbody>
      </table>
    </div>
    ${pagerPart(context, endsOf(changes, query), view)}`
}

type Row = TableView['rows'][number]

/** Pairs neighbouring added and removed rows that share half of their values; for tables without a key. */
function counterpartsIn({ rows, fields }: TableView, change: string): Map<Row, Row> {
  const pairs = new Map<Row, Row>()
  const kindAt = fields.findIndex(({ name }) => name === change)
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1]
    if (before === undefined || pairs.has(before) || before[kindAt] === row[kindAt]) continue
    const equalCount = row.filter((value, place) => value === before[place]).length
    // The kind of change always differs.
    if (equalCount >= (row.length - 1) / 2) pairs.set(before, row).set(row, before)
  }
  return pairs
}

interface Difference {
  readonly before: string | null
  readonly value: string | null
  /** Kind of change if the other value is in a counterpart row: then the cell shows one value. */
  readonly kind: string | undefined
}

function differencePart(context: PageContext, field: Field, { before, value, kind }: Difference): Html {
  const [text, textBefore] = [cellText(context, field, value), cellText(context, field, before)]
  const isOfSpace = before !== null && value !== null && withoutSpace(before) === withoutSpace(value)
  const markedText = (shownText: string, counterpart: string): string =>
    isOfSpace ? excerpt(visibleSpace(shownText), visibleSpace(counterpart)) : excerpt(shownText, counterpart)
  const note = isOfSpace && html` <small>${context.words.onlySpaceDiffers}</small>`
  if (kind !== undefined)
    return kind === 'removed'
      ? html`<del>${markedText(text, textBefore)}</del>${note}`
      : html`<ins>${markedText(text, textBefore)}</ins>${note}`
  return html`<del>${markedText(textBefore, text)}</del> <ins>${markedText(text, textBefore)}</ins>${note}`
}

function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

const spaceSigns: Readonly<Record<string, string>> = { '\r': '\\r', '\n': '\\n', '\t': '\\t', ' ': '·' }

/** Signs for line breaks and doubled spaces, so that texts that differ in nothing else look different. */
function visibleSpace(text: string): string {
  return text.replaceAll(/[^\S ]|^ | $| (?= )/g, (space) => spaceSigns[space] ?? '⍽')
}

const [excerptMin, excerptLead, excerptLength] = [80, 20, 60]

function excerpt(text: string, counterpart: string): string {
  const [characters, counterpartCharacters] = [Array.from(text), Array.from(counterpart)]
  if (characters.length < excerptMin) return text
  const firstDifference = characters.findIndex(
    (character, index) => character !== counterpartCharacters[index],
  )
  const start = Math.max(
    0,
    (firstDifference === -1 ? counterpartCharacters.length : firstDifference) - excerptLead,
  )
  const end = start + excerptLength
  const middle = characters.slice(start, end).join('')
  return `${start > 0 ? '…' : ''}${middle}${end < characters.length ? '…' : ''}`
}

function cellText({ words }: PageContext, field: Field, value: string | null): string {
  return value === null ? '–' : value === '' ? '' : valueText(words, field, value)
}

function pagerPart(
  { words }: PageContext,
  endParameters: readonly (readonly [string, string])[],
  { range, query }: TableView,
): Html | null {
  if (range.lastPage === 1) return null
  const { count } = writtenIn(words)
  const link = (name: string, page: number): Html =>
    page < 1 || page > range.lastPage
      ? html`<span class="off">${name}</span>`
      : html`<a href="${queryLink(new Map([...endParameters, ...query.parameters]), page)}">${name}</a>`
  return html`<nav class="pager" aria-label="${words.page}">
    ${link(words.previous, range.page - 1)} ${words.page} ${count(range.page)} ${words.of}
    ${count(range.lastPage)} ${link(words.next, range.page + 1)}
  </nav>`
}
