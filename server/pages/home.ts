import type { Dataset, Table } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

export interface HomeView {
  /** What a reader looks for; '' for all. */
  readonly sought: string
  readonly current: (table: Table) => Snapshot | null
}

/** So many of the latest imports are shown. */
const latelyMax = 5

/** What there is: all datasets, or those that a search finds by their texts, tables and fields. */
export function homePage(setting: Setting, { sought, current }: HomeView): Html {
  const { catalog, addresses, language, words } = setting
  const found = [...catalog.datasets.values()].filter((dataset) => isFound(dataset, sought))
  const main = html`
    <section class="hero">
      <h1>${catalog.title}</h1>
      <p class="lead">${catalog.description}</p>
      <form class="find" role="search" action="${addresses.home(language)}" method="get">
        <label for="q">${words.find}</label>
        <input id="q" name="q" type="search" value="${sought}" placeholder="${words.findHint}" />
        <button>${words.find}</button>
      </form>
    </section>
    ${sought === '' && latelyPart(setting, current)}
    <section>
      <h2>${sought === '' ? words.datasets : words.found(found.length)}</h2>
      ${found.length === 0 && html`<p>${words.nothingFound}</p>`}
      <ul class="cards">
        ${found.map((dataset) => card(setting, dataset, current))}
      </ul>
    </section>
  `
  return framed(setting, {
    title: catalog.title,
    main,
    inLanguage: (other) =>
      addresses.home(other) + (sought === '' ? '' : `?${new URLSearchParams({ q: sought }).toString()}`),
  })
}

function card({ addresses, language, words }: Setting, dataset: Dataset, current: HomeView['current']): Html {
  const tables = [...dataset.tables.values()]
  const rows = tables.reduce((sum, table) => sum + (current(table)?.manifest.rows ?? 0), 0)
  const { count } = writtenIn(words)
  return html`<li class="card">
    <h3><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></h3>
    <p>${dataset.description}</p>
    <p class="facts">${words.tables}: ${tables.length} · ${words.rows(count(rows))}</p>
  </li>`
}

function latelyPart(
  { catalog, addresses, language, words }: Setting,
  current: HomeView['current'],
): Html | null {
  const imports = [...catalog.datasets.values()]
    .flatMap((dataset) =>
      [...dataset.tables.values()].map((table) => ({ dataset, table, snapshot: current(table) })),
    )
    .flatMap(({ snapshot, ...rest }) => (snapshot === null ? [] : [{ ...rest, snapshot }]))
    .toSorted((a, b) => (a.snapshot.manifest.import_date < b.snapshot.manifest.import_date ? 1 : -1))
    .slice(0, latelyMax)
  if (imports.length === 0) return null
  const { day, count } = writtenIn(words)
  return html`<section>
    <h2>${words.lately}</h2>
    <ul class="lately">
      ${imports.map(
        ({ dataset, table, snapshot: { manifest } }) =>
          html`<li>
            <time datetime="${manifest.import_date}">${day(manifest.import_date)}</time>
            <a href="${addresses.table(language, table)}">${dataset.name}: ${table.name}</a>
            <span class="facts">${words.rows(count(manifest.rows))}</span>
          </li>`,
      )}
    </ul>
  </section>`
}

/** Whether each word is in something that the catalog says of a dataset. */
function isFound(dataset: Dataset, sought: string): boolean {
  const tables = [...dataset.tables.values()]
  const said = [
    dataset.slug,
    dataset.name,
    dataset.description,
    dataset.author.name,
    dataset.source.name,
    ...tables.flatMap(({ name, description, fields }) => [
      name,
      description ?? '',
      ...fields.flatMap((field) => [field.name, field.title ?? '', field.description ?? '']),
    ]),
  ].map(folded)
  return folded(sought)
    .split(/\s+/)
    .every((word) => said.some((text) => text.includes(word)))
}

function folded(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim()
}
