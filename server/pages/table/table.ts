import { withoutReservedNames } from '../../query/changes-query.ts'
import { titleOf } from '../../documents/words/titles.ts'
import { valueText } from '../../documents/words/value-text.ts'
import { type Table, tableId } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { shorten } from '../../../core/text.ts'
import { framed, type PageContext } from '../frame.ts'
import { html, type Html, textOf } from '../html.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { citedVersion, type Cited } from '../../documents/citation.ts'
import { describeFilter } from '../../documents/words/filter-text.ts'
import { citationsPart, dayOfAccess, subscribePart } from '../cite.ts'
import { columnsForm } from './columns.ts'
import { chipsPart, emptyPart, filterMenu, hiddenInputs } from './conditions.ts'
import { downloadsPart } from './downloads.ts'
import { gridPart } from './grid.ts'
import { headPart, trailTo } from './tabs.ts'
import {
  rowParameters,
  type TableView,
  queryLink,
  withoutField,
  rowsPage,
  viewOf,
  withDefaultColumns,
  withNamedFields,
  withParameters,
} from './view.ts'
import { parameterFor, type Condition } from '../../query/conditions.ts'
import type { Operator } from '../../query/operators.ts'
import { isParameterName, parseRowQuery, type RowQuery } from '../../query/query.ts'
import type { Resource } from '../../http/resource.ts'
import { unacceptableParameters } from '../../http/problems.ts'
import { totalsChoice } from '../chart/totals.ts'
import { unseparatedTotal, type Total } from '../../query/totals.ts'
import { requesterOf } from '../../routes/find.ts'
import { totalIn } from '../../table/representations/total-in.ts'
import { answerQuery } from './answer-query.ts'
import { embedPart, oEmbedLink } from '../iframe.ts'
import { named, pageAt, type PageService } from '../service.ts'

function tableHtml(service: PageService, view: TableView, total: Total | null): Html {
  const { context } = service
  const { addresses, language, words } = context
  const { dataset, table, query, range, snapshot } = view
  const { count } = writtenIn(words)
  const title = titleOf(table)
  // Feeds take only parameters that select rows.
  const feedParameters = withParameters(view, {
    ordering: null,
    fields: null,
    page_size: null,
    snapshot: null,
    format: null,
  })
  // Feeds have a parameter `lang`, so a field needs `lang__eq`.
  const feed = service.writing.documents.tableFeed(
    table,
    language,
    withoutReservedNames(feedParameters, ['lang']),
  )
  const embedParameters = withParameters(view, {
    page_size: null,
    format: null,
    snapshot: snapshot.manifest.snapshot,
  })
  const actions = html`<div class="actions">
    ${downloadsPart(context, view)}
    <details class="menu end">
      <summary>${words.citeIt}</summary>
      <div>${citationsPart(context, citedRows(service, view))}</div>
    </details>
    ${subscribePart(context, feed)}
  </div>`
  const main = html`
    ${headPart(context, { dataset, table, manifest: snapshot.manifest, report: snapshot.report }, 'table', rowParameters(view), actions)}
    <div class="bar">
      ${filterMenu(service, view, addresses.table(language, table))} ${chipsPart(context, view)}
      <p class="count" role="status">${words.rows(count(range.count))}</p>
      ${columnsForm(context, view)}
    </div>
    ${total !== null && totalsHint(context, view, total)} ${hintsPart(context, view)}
    ${reversedHints(context, view)} ${range.count === 0 ? emptyPart(context, view) : gridPart(context, view)}
    ${pagerPart(context, view)}
    <p class="lead">${table.description ?? dataset.description}</p>
    <p class="facts">
      ${words.allRows}
      <a href="${addresses.files(language, dataset)}#${table.name}">${words.filesOf}</a>
    </p>
    ${embedPart(context, service, addresses.embed(language, table, null, embedParameters), `${dataset.name}: ${title}`)}
  `
  return framed(context, {
    title: `${dataset.name}: ${title}`,
    description: table.description ?? dataset.description,
    main,
    inLanguage: (target) => addresses.table(target, table, query.parameters, range.page),
    trail: trailTo(context, dataset),
    feed,
    links: oEmbedLink(service, addresses.table(language, table, query.parameters)),
  })
}

function totalsHint(context: PageContext, view: TableView, total: Total): Html {
  const { text, links } = totalsChoice(context, view, total, [])
  return html`<p class="hint" role="status">
    ${text}
    ${links.map(([name, address], index) => html`${index > 0 && ' · '}<a href="${address}">${name}</a>`)}
  </p>`
}

function citedRows({ context, publicUrl }: PageService, view: TableView): Cited {
  const { addresses, language, words } = context
  const { dataset, table, query, snapshot } = view
  const pinnedParameters = new Map([...rowParameters(view), ['snapshot', snapshot.manifest.snapshot]])
  return {
    dataset,
    title: [
      `${titleOf(table)} (${dataset.name})`,
      ...describeFilter(query, words),
      citedVersion(snapshot.manifest, words),
    ].join(', '),
    address: `${publicUrl.origin}${addresses.table(language, table, pinnedParameters)}`,
    today: dayOfAccess(),
  }
}

const pageSize = { default: 50, max: 200 }

function parseTableQuery(table: Table, target: string): RowQuery {
  const query = withNamedFields(table, target, parseRowQuery(table, target, ['format'], pageSize.default))
  if (query.pageSize <= pageSize.max) return query
  const message = `The parameter "page_size" must be a whole number from 1 to ${pageSize.max} on an HTML page.`
  throw unacceptableParameters([{ parameter: 'page_size', message }])
}

export function tablePage(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/:table', 'Table'),
    countsAs: 'rows',
    find: (request) =>
      answerQuery(service, request, parseTableQuery, (queryView) => {
        const { snapshot, query } = queryView
        const page = rowsPage(snapshot, query)
        return {
          ...named(service, [
            'table',
            tableId(queryView.table),
            page.key,
            [...query.parameters],
            dayOfAccess(),
          ]),
          // The cost of a filtered query is charged once its rows are found.
          work: { rowBytes: (page.range?.rows ?? 0) * snapshot.rowBytes },
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(queryView, page, service, request, signal)
            const search = {
              snapshot,
              filter: query,
              requester: requesterOf(request, signal, service.pageBytesMax),
            }
            const totalAmongParts = await totalIn(unseparatedTotal(view.table, query), search, service.engine)
            return {
              pieces: [textOf(tableHtml(service, withDefaultColumns(view), totalAmongParts))],
              serverTiming,
            }
          },
        }
      }),
  }
}

function hintsPart({ words }: PageContext, view: TableView): Html[] {
  return view.hints.map(({ condition, missing, nearest }) => {
    const sentence = words.noSuchValue(titleOf(condition.field), shorten(missing))
    if (nearest === null) return html`<p class="hint">${sentence}</p>`
    const address = queryLink(
      new Map([...withoutField(view, condition.field), replaced(condition, missing, nearest)]),
    )
    return html`<p class="hint">${sentence} ${words.nearestValue} <a href="${address}">${nearest}</a></p>`
  })
}

function reversedHints({ words }: PageContext, view: TableView): Html[] {
  const { conditions, parameters } = view.query
  return view.table.fields.flatMap((field) => {
    const boundOf = (...operators: readonly Operator[]): Condition | undefined =>
      conditions.find((item) => item.field.name === field.name && operators.includes(item.operator))
    const [lower, upper] = [boundOf('gte', 'gt'), boundOf('lte', 'lt')]
    const [from, to] = [lower?.values[0], upper?.values[0]]
    if (lower === undefined || upper === undefined || from === undefined || to === undefined) return []
    if (typeRow(field.type).compare(from, to) <= 0) return []
    const exchanged = [
      parameterFor({ ...lower, values: [to] }, isParameterName),
      parameterFor({ ...upper, values: [from] }, isParameterName),
    ]
    const [start, end] = [valueText(words, field, from), valueText(words, field, to)]
    return [
      html`<p class="hint">
        ${words.reversedRange(titleOf(field), start, end)}
        <a href="${queryLink(new Map([...parameters, ...exchanged]))}">${words.exchangeEnds}</a>
      </p>`,
    ]
  })
}

function replaced(condition: Condition, missingValue: string, nearest: string): [name: string, text: string] {
  const values = condition.values.map((value) => (value === missingValue ? nearest : value))
  const { field, operator } = condition
  return parameterFor({ field, operator, values: [...new Set(values)] }, isParameterName)
}

function pagerPart({ words, addresses, language }: PageContext, view: TableView): Html | null {
  const { range, query, table } = view
  if (range.lastPage === 1) return null
  const { count } = writtenIn(words)
  const link = (name: string, page: number): Html =>
    page < 1 || page > range.lastPage || page === range.page
      ? html`<span class="off">${name}</span>`
      : html`<a href="${queryLink(query.parameters, page)}">${name}</a>`
  return html`<nav class="pager" aria-label="${words.page}">
    ${link(words.first, 1)} ${link(words.previous, range.page - 1)}
    <form action="${addresses.table(language, table)}" method="get" autocomplete="off">
      ${hiddenInputs(view, new Set())}
      <label>${words.page} <input name="page" inputmode="numeric" size="6" value="${range.page}" /></label>
      ${words.of} ${count(range.lastPage)}
      <button>${words.go}</button>
    </form>
    ${link(words.next, range.page + 1)} ${link(words.last, range.lastPage)}
  </nav>`
}
