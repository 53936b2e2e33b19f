import { titleOf, withinSentence } from '../documents/words/titles.ts'
import { named, pageAt, rowAddresses, type PageService } from './service.ts'
import { timed, type Body } from '../http/responder.ts'
import { findDataset, findTable, requesterOf, unavailable } from '../routes/find.ts'
import { problemOf } from '../routes/problem-of.ts'
import type { Resource } from '../http/resource.ts'
import { describeTable } from '../routes/documents/service.ts'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { withQuery } from '../http/addresses.ts'
import { rowFormats } from '../formats/registry.ts'
import { exampleQueries } from '../query/examples.ts'
import { operators, type Operator } from '../query/operators.ts'
import { parameterRows, parseRowQuery, type ParameterName, type RowQuery } from '../query/query.ts'
import { tableDocuments } from '../documents/registry.ts'
import { pythonText, typescriptText } from '../documents/table/types.ts'
import type { TableDescription } from '../documents/description.ts'
import { framed, type PageContext } from './frame.ts'
import { html, textOf, type Html, codePart } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import { codesPart } from './table/codes.ts'
import { describeFilter } from '../documents/words/filter-text.ts'
import { headPart, trailTo } from './table/tabs.ts'
import { rowLinks } from './table/view.ts'

export function apiPage(service: PageService): Resource {
  const { snapshots, engine, pageBytesMax, files, publicUrl, context } = service
  const { addresses, language } = context
  return {
    ...pageAt(service, '/dataset/:dataset/:table/api', 'API'),
    countsAs: 'rows',
    find: (request) => {
      const dataset = findDataset(service.catalog, request.params)
      const table = findTable(dataset, request.params)
      const query = parseRowQuery(table, request.target, ['format', 'page', 'page_size'])
      const key = ['api', tableId(table), snapshots.current(table)?.manifest.snapshot, [...query.parameters]]
      const pinnedId = query.snapshot === 'current' ? null : query.snapshot
      const body = async (signal: () => AbortSignal): Promise<Body> => {
        const requester = requesterOf(request, signal, pageBytesMax)
        const count = await snapshots
          .use(table, pinnedId, async (snapshot) => {
            if (snapshot !== null)
              return (await engine.selections.find({ snapshot, filter: query, requester })).count
            if (pinnedId === null) return null
            throw unavailable(
              table,
              pinnedId,
              snapshots,
              `${publicUrl.origin}${addresses.aspect(language, table, 'api')}`,
            )
          })
          .catch((error: unknown) => {
            throw problemOf(error, files.download(table))
          })
        const description = await describeTable(snapshots, dataset, table)
        return timed(() => textOf(apiHtml(service, description, query, count)))
      }
      return { ...named(service, key), body }
    },
  }
}

function apiHtml(
  service: PageService,
  description: TableDescription,
  query: RowQuery,
  count: number | null,
): Html {
  const { context, files, writing } = service
  const { addresses, words, language, catalog } = context
  const { dataset, table } = description
  const api = rowAddresses(service)
  const title = `API: ${dataset.name}, ${titleOf(table)}`
  const data = api.data(dataset, table)
  const main = html`
    ${headPart(context, description, 'api', query.parameters)}
    <p class="lead">${words.apiLead}</p>
    ${codePart(`curl '${withQuery(data, query.parameters, 1)}'`, words)}
    <p>
      <a href="${data}">${words.apiRows}</a> ·
      <a href="${api.aggregate(dataset, table)}">${words.apiTotals}</a> ·
      <a href="${api.table(dataset, table)}">${words.apiTable}</a> ·
      <a href="${api.dataset(dataset)}">${words.apiDataset}</a> ·
      <a href="${files.listing(table)}">${words.apiFiles}</a>
    </p>
    <p class="facts">${catalog.notice} <a href="${addresses.limits(language)}">${words.limits}</a></p>
    ${count !== null && codesPart(context, { ...rowLinks(service, dataset, table), table, query, count })}
    ${examplesPart(service, description)} ${parametersPart(context)} ${operatorsPart(context, table)}
    <section>
      <h2>${words.formats}</h2>
      <ul>
        ${rowFormats.map(({ name, mediaTypes }) => html`<li><code>format=${name}</code>, <code>${mediaTypes[0]}</code></li>`)}
      </ul>
      <p>${words.apiWalk}</p>
    </section>
    <section>
      <h2>${words.apiTypes}</h2>
      <details>
        <summary>TypeScript</summary>
        ${codePart(typescriptText(description), words)}
      </details>
      <details>
        <summary>Python</summary>
        ${codePart(pythonText(description), words)}
      </details>
    </section>
    <section>
      <h2>${words.documents}</h2>
      <ul>
        <li><a href="${addresses.reference(language, table)}">${words.reference}</a></li>
        <li><a href="${data.replace(/data\/?$/, 'openapi.json')}">OpenAPI 3.1</a></li>
        ${tableDocuments.map(
          ({ file, name }) => html`<li><a href="${writing.documents.ofTable(table, file)}">${name}</a></li>`,
        )}
      </ul>
    </section>
  `
  return framed(context, {
    title,
    main,
    inLanguage: (target) => addresses.aspect(target, table, 'api', query.parameters),
    trail: trailTo(context, dataset),
  })
}

function examplesPart(service: PageService, { dataset, table, report }: TableDescription): Html {
  const { words } = service.context
  const api = rowAddresses(service)
  const examples = exampleQueries(table, report)
  return html`<section>
    <h2>${words.examples}</h2>
    <dl>
      ${examples.map(({ isExport, parameters }) => {
        const address = withQuery(
          isExport ? api.export(dataset, table) : api.data(dataset, table),
          parameters,
          1,
        )
        return html`<dt>${meaningOf(words, table, parameters, isExport)}</dt>
          <dd><a href="${address}" class="address">${address}</a></dd>`
      })}
    </dl>
  </section>`
}

function meaningOf(
  words: PageContext['words'],
  table: Table,
  parameters: ReadonlyMap<string, string>,
  isExport: boolean,
): string {
  const query = parseRowQuery(table, withQuery('', parameters, 1))
  const { list, count } = writtenIn(words)
  const [key] = query.ordering
  const field = table.fields.find(({ name }) => name === key?.field)
  const sortedBy = field === undefined ? '' : withinSentence(titleOf(field))
  const clauses = [
    ...describeFilter(query, words),
    ...(key === undefined
      ? []
      : [key.direction === 'asc' ? words.sortedUp(sortedBy) : words.sortedDown(sortedBy)]),
    ...(parameters.has('page_size') ? [words.rows(count(query.pageSize))] : []),
    ...(query.fields.length < table.fields.length
      ? [`${words.columns}: ${list(query.fields.map(titleOf))}`]
      : []),
    ...(isExport ? [words.allInOne] : []),
    ...(query.format === undefined ? [] : [query.format.toUpperCase()]),
  ]
  return clauses.join('; ')
}

function parametersPart({ words }: PageContext): Html {
  const names = Object.keys(parameterRows) as ParameterName[]
  return html`<section>
    <h2>${words.parameters}</h2>
    <dl class="facts-list">
      ${names.map(
        (name) =>
          html`<dt><code>${name}</code></dt>
            <dd>${words.parametersMean[name]}</dd>`,
      )}
    </dl>
  </section>`
}

function operatorsPart({ words }: PageContext, table: Table): Html {
  const names = Object.keys(operators) as Operator[]
  return html`<section>
    <h2>${words.filters}</h2>
    ${table.filters.length > 0 && html`<p>${words.apiFilters(writtenIn(words).list(table.filters))}</p>`}
    <dl class="facts-list">
      ${names.map(
        (name) =>
          html`<dt><code>${'…'}__${name}=</code></dt>
            <dd>${words.conditions[name]('…', '…')}</dd>`,
      )}
    </dl>
  </section>`
}
