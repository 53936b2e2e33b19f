import { titleOf } from '../../documents/words/titles.ts'
import type { Dataset, Originator, Table } from '../../../core/catalog/catalog.ts'
import type { QueryParameters } from '../../query/parameters.ts'
import { aspects, type Aspect } from '../../documents/page-addresses.ts'
import type { PageContext, Step } from '../frame.ts'
import { html, partyPart, type Html } from '../html.ts'
import { coverageOf, coverageText } from '../coverage.ts'
import { hasChangedRows } from '../provenance.ts'
import { queryLink } from './view.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import type { TableDescription } from '../../documents/description.ts'

interface PublishedTable extends Pick<TableDescription, 'dataset' | 'table' | 'manifest' | 'report'> {}

/**
 * Title, actions and facts of a table, and links to its pages.
 * @param keptQuery filters that links to other pages with rows keep
 * @param ownQuery parameters of this page, which a link to another version keeps
 */
export function headPart(
  context: PageContext,
  published: PublishedTable,
  tab: 'table' | Aspect,
  keptQuery: QueryParameters = new Map(),
  actions: Html | null = null,
  ownQuery: QueryParameters = keptQuery,
): Html {
  const { table } = published
  return html`<div class="head">
      <h1>${titleOf(table)}</h1>
      ${actions}
    </div>
    ${factsPart(context, published)} ${tabsPart(context, table, tab, keptQuery)}
    ${versionPart(context, published, ownQuery)}`
}

function versionPart(
  { words }: PageContext,
  { manifest }: PublishedTable,
  parameters: QueryParameters,
): Html | null {
  const snapshot = parameters.get('snapshot')
  if (snapshot === undefined || snapshot === 'current' || manifest === null) return null
  const current = new Map([...parameters].filter(([name]) => name !== 'snapshot'))
  return html`<p class="hint">
    ${words.versionShown(writtenIn(words).moment(manifest.import_date))}
    <a href="${queryLink(current)}">${words.latestVersion}</a>
  </p>`
}

function factsPart(
  { words, addresses, language }: PageContext,
  { dataset, table, manifest, report }: PublishedTable,
): Html {
  const { count, day } = writtenIn(words)
  const coverage = coverageOf(table, report)
  const rejectedRows = report?.rejected_rows ?? 0
  const [changedAt, importedAt] = [manifest?.changed_at, manifest?.import_date]
  return html`<p class="facts dotted">
    ${table.rowMeaning !== null && html`<span>${words.eachRow(table.rowMeaning)}</span>`}
    ${manifest !== null && html`<span>${words.rows(count(manifest.rows))}</span>`}
    ${coverage !== null && html`<span>${coverageText(words, coverage)}</span>`}
    ${
      importedAt !== undefined &&
      html`<span
        >${changedAt === undefined ? words.importedAt(day(importedAt)) : words.changedAt(day(changedAt))}</span
      >`
    }
    ${
      manifest !== null &&
      hasChangedRows(manifest) &&
      html`<a href="${addresses.aspect(language, table, 'changes')}">${words.whatChanged}</a>`
    }
    ${
      rejectedRows > 0 &&
      html`<a href="${addresses.dataset(language, dataset)}#truth"
        >${words.leftOutOfTable(count(rejectedRows))}</a
      >`
    }
    ${dataset.license !== null && html`<span>${partyPart(shortLicense(dataset.license))}</span>`}
  </p>`
}

/** Short name of a license at its end: `... (CC BY 4.0)`. */
function shortLicense({ name, url }: Originator): Originator {
  return { name: /\(([^()]{2,20})\)$/.exec(name)?.[1] ?? name, url }
}

/** @param currentTab null on a page that is not a tab */
export function tabsPart(
  { addresses, language, words }: PageContext,
  table: Table,
  currentTab: 'table' | Aspect | null,
  keptQuery: QueryParameters,
): Html {
  const tabs = [
    { name: 'table' as const, address: addresses.table(language, table, keptQuery) },
    ...aspects.map((name) => ({
      name,
      address: addresses.aspect(language, table, name, parametersOfTab(name, keptQuery)),
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

function parametersOfTab(name: Aspect, keptQuery: QueryParameters): QueryParameters {
  if (name === 'fields' || name === 'changes') return new Map()
  const notInCharts = new Set(['fields', 'ordering'])
  return name === 'chart'
    ? new Map([...keptQuery].filter(([parameter]) => !notInCharts.has(parameter)))
    : keptQuery
}

export function trailTo({ addresses, language }: PageContext, dataset: Dataset, table?: Table): Step[] {
  const steps = [{ name: dataset.name, address: addresses.dataset(language, dataset) }]
  return table === undefined
    ? steps
    : [...steps, { name: titleOf(table), address: addresses.table(language, table) }]
}
