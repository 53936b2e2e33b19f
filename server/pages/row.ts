import { isNumber, isTime, valueText } from '../documents/words/value-text.ts'
import { titleOf } from '../documents/words/titles.ts'
import { type Field, type Table, tableId } from '../../core/catalog/catalog.ts'
import { describeFilter } from '../documents/words/filter-text.ts'
import { framed, type PageContext } from './frame.ts'
import { tabsPart, trailTo } from './table/tabs.ts'
import { html, safeAddress, type Html, textOf } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { unitOf } from './table/grid.ts'
import { rowsPage, viewOf, withParameters, type QueryView } from './table/view.ts'
import { withQuery } from '../http/addresses.ts'
import type { Resource } from '../http/resource.ts'
import { InvalidPage } from '../query/errors.ts'
import { parseRowQuery, type RowQuery } from '../query/query.ts'
import { answerQuery } from './table/answer-query.ts'
import { named, pageAt, rowAddresses, type PageService } from './service.ts'

interface RowView extends QueryView {
  /** From 1, in the order of the table. */
  readonly number: number
  /** From 1, among the `count` rows of the query and in its order. */
  readonly place: number
  readonly count: number
  readonly values: readonly (string | null)[]
  /** Changes of the row; null for a table without a key. */
  readonly historyAddress: string | null
}

function rowHtml(context: PageContext, view: RowView): Html {
  const { addresses, language, words } = context
  const { dataset, table, query, number, place, count: rows, values, historyAddress } = view
  const parameters = withParameters(view, { snapshot: view.snapshot.manifest.snapshot })
  const keptQuery = withParameters(view, { snapshot: null })
  const filters = describeFilter(query, words)
  const { count } = writtenIn(words)
  const title = words.row(count(number))
  const keyTexts = table.fields.flatMap((field, index) =>
    table.key?.includes(field.name) === true ? [valueText(words, field, values[index] ?? null)] : [],
  )
  const link = (to: number, name: string): Html =>
    to < 1 || to > rows
      ? html`<span class="off">${name}</span>`
      : html`<a href="${addresses.row(language, table, to, parameters)}">${name}</a>`
  const main = html`
    <h1>${titleOf(table)}: ${title}</h1>
    ${keyTexts.length > 0 && html`<p class="lead">${keyTexts.join(' · ')}</p>`}
    ${tabsPart(context, table, null, keptQuery)}
    <nav class="pager" aria-label="${words.page}">
      ${link(place - 1, words.previous)} ${count(place)} ${words.of} ${count(rows)}
      ${link(place + 1, words.next)}
      ${
        filters.length > 0 &&
        html`<a href="${addresses.table(language, table, keptQuery)}">${filters.join(' · ')}</a>`
      }
    </nav>
    <dl class="facts-list row">
      ${table.fields.map(
        (field, index) =>
          html`<dt>
              ${titleOf(field)} ${field.description !== null && html`<small>${field.description}</small>`}
            </dt>
            <dd>${valuePart(context, field, values[index] ?? null)}</dd>`,
      )}
    </dl>
    ${historyAddress !== null && html`<p><a href="${historyAddress}">${words.rowHistory}</a></p>`}
  `
  return framed(context, {
    title: `${titleOf(table)}, ${title}`,
    main,
    inLanguage: (target) => addresses.row(target, table, place, parameters),
    trail: trailTo(context, dataset, table),
  })
}

function valuePart({ words }: PageContext, field: Field, value: string | null): Html {
  if (value === null) return html`<span class="null">${words.null}</span>`
  const text = value === '' ? '' : valueText(words, field, value)
  if (isNumber(field)) return html`<span class="number">${withUnit(text, unitOf(field))}</span>`
  if (isTime(field) && text !== value) return html`<time datetime="${value}">${text}</time>`
  const address = safeAddress(value)
  if (address !== null) return html`<a href="${address}" rel="nofollow noopener">${value}</a>`
  return html`<span class="whole" dir="auto">${text}</span>`
}

function withUnit(text: string, unit: string | null): string {
  if (unit === null) return text
  return /[$€£]$/.test(unit) ? `${unit}\u00A0${text}` : `${text} ${unit}`
}

function historyAddressOf(
  service: PageService,
  { dataset, table }: QueryView,
  values: readonly (string | null)[],
): string | null {
  if (table.key === null) return null
  const parameters = table.fields.flatMap(({ name }, index): [string, string][] =>
    table.key?.includes(name) === true ? [[name, values[index] === '' ? '""' : (values[index] ?? '')]] : [],
  )
  return withQuery(rowAddresses(service).history(dataset, table), new Map(parameters), 1)
}

/** One row, by its number among those of a query: a field per line, with its meaning. */
export function rowPage(service: PageService): Resource {
  const { context } = service
  return {
    ...pageAt(service, '/dataset/:dataset/:table/row/:number', 'Row'),
    countsAs: 'rows',
    hasEndlessAddresses: true,
    find: (request) => {
      const place = Number(/^[1-9]\d{0,14}$/.exec(String(request.params['number']))?.[0] ?? 0)
      const parse = (table: Table, target: string): RowQuery => {
        const query = parseRowQuery(table, target, ['page', 'page_size', 'format', 'fields'], 1)
        if (place === 0) throw new InvalidPage()
        return { ...query, page: place }
      }
      return answerQuery(service, request, parse, (queryView) => {
        const { table, snapshot, query } = queryView
        const page = rowsPage(snapshot, query)
        return {
          ...named(service, ['row', tableId(table), page.key]),
          work: { rowBytes: query.pageSize * snapshot.rowBytes },
          body: async (signal) => {
            const { view, serverTiming } = await viewOf(queryView, page, service, request, signal)
            const { range, rows, positions } = view
            const [values] = rows
            // An empty table has a first page, but no row.
            if (values === undefined) throw new InvalidPage()
            const historyAddress = historyAddressOf(service, queryView, values)
            const markup = rowHtml(context, {
              ...queryView,
              number: (positions[0] ?? 0) + 1,
              place,
              count: range.count,
              values,
              historyAddress,
            })
            return { pieces: [textOf(markup)], serverTiming }
          },
        }
      })
    },
  }
}
