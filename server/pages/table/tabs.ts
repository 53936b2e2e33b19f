import { titleOf } from '../../documents/words/titles.ts'
import type { Dataset, Table } from '../../../core/catalog/catalog.ts'
import type { QueryParameters } from '../../query/parameters.ts'
import { aspects, type Aspect } from '../../documents/page-addresses.ts'
import type { PageContext, Step } from '../frame.ts'
import { html, type Html } from '../html.ts'

/** Links between the pages of a table; pages with rows keep the query. */
export function tabsPart(
  { addresses, language, words }: PageContext,
  table: Table,
  currentTab: 'table' | Aspect,
  ask: QueryParameters = new Map(),
): Html {
  const tabs = [
    { name: 'table' as const, address: addresses.table(language, table, ask) },
    ...aspects.map((name) => ({
      name,
      address: addresses.aspect(language, table, name, parametersOfTab(name, ask)),
    })),
  ]
  return html`<nav class="tabs" aria-label="${words.table}">
    ${tabs.map(({ name, address }) =>
      name === currentTab
        ? html`<a href="${address}" aria-current="page">${words.aspects[name]}</a>`
        : html`<a href="${address}">${words.aspects[name]}</a>`,
    )}
    <a href="${addresses.files(language, { slug: table.dataset })}#${table.name}">${words.files}</a>
  </nav>`
}

/** Returns the parameters of a query that a page of the table accepts. */
function parametersOfTab(name: Aspect, ask: QueryParameters): QueryParameters {
  if (name === 'fields') return new Map()
  const notInCharts = new Set(['fields', 'ordering'])
  return name === 'chart' ? new Map([...ask].filter(([parameter]) => !notInCharts.has(parameter))) : ask
}

/** Returns the breadcrumbs to a dataset, or to one of its tables. */
export function trailTo({ addresses, language }: PageContext, dataset: Dataset, table?: Table): Step[] {
  const steps = [{ name: dataset.name, address: addresses.dataset(language, dataset) }]
  return table === undefined
    ? steps
    : [...steps, { name: titleOf(table), address: addresses.table(language, table) }]
}
