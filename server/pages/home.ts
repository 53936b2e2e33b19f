import { listedDatasets, type Dataset, type Table } from '../../core/catalog/catalog.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

interface HomeView {
  /** The words that a reader looks for; none for all. */
  readonly sought: readonly string[]
  readonly current: (table: Table) => Snapshot | null
  /** What tells what changed. */
  readonly feed: string
}

/** So many of the latest changes are shown. */
const latelyMax = 5
/** So many tables and fields of a dataset that a search finds. */
const placesMax = 8

/** What there is: all datasets, or those that a search finds by their texts, tables and fields. */
export function homePage(setting: Setting, { sought, current, feed }: HomeView): Html {
  const { catalog, addresses, language, words } = setting
  const looked = sought.map(folded)
  const text = sought.join(' ')
  const order = writtenIn(words).inOrder(listedDatasets(catalog).map(({ name }) => name))
  const found = listedDatasets(catalog)
    .filter((dataset) => isFound(dataset, looked))
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
  const main = html`
    <section class="hero">
      <h1>${catalog.title}</h1>
      <p class="lead">${catalog.description}</p>
      <form class="find" role="search" action="${addresses.home(language)}" method="get">
        <label for="q" class="unseen">${words.findHint}</label>
        <input id="q" name="q" type="search" value="${text}" placeholder="${words.findHint}" />
        <button>${words.find}</button>
      </form>
    </section>
    ${sought.length === 0 && latelyPart(setting, current)}
    <section>
      <h2>${sought.length === 0 ? words.datasets : words.found(found.length)}</h2>
      ${
        sought.length > 0 &&
        html`<p>
          ${found.length === 0 && words.nothingFound}
          <a href="${addresses.home(language)}">${words.backHome}</a>
        </p>`
      }
      <ul class="cards">
        ${found.map((dataset) => card(setting, dataset, looked, current))}
      </ul>
    </section>
  `
  return framed(setting, {
    title: catalog.title,
    description: catalog.description,
    main,
    feed,
    inLanguage: (other) =>
      addresses.home(other) + (sought.length === 0 ? '' : `?${new URLSearchParams({ q: text }).toString()}`),
  })
}

function card(
  { addresses, language, words }: Setting,
  dataset: Dataset,
  sought: readonly string[],
  current: HomeView['current'],
): Html {
  const tables = [...dataset.tables.values()]
  const published = tables.filter((table) => current(table) !== null)
  const rows = published.reduce((sum, table) => sum + (current(table)?.manifest.rows ?? 0), 0)
  const { count } = writtenIn(words)
  const places = sought.length === 0 ? [] : placesOf(published, sought)
  return html`<li class="card">
    <h3><a href="${addresses.dataset(language, dataset)}">${dataset.name}</a></h3>
    <p class="folded">${dataset.description}</p>
    <p class="facts">
      ${words.tablesCount(tables.length, published.length)} ·
      ${published.length === 0 ? words.notPublished : words.rows(count(rows))}
    </p>
    ${
      places.length > 0 &&
      html`<ul class="places">
        ${places.map(
          ({ table, field }) =>
            html`<li>
              <a
                href="${field === null ? addresses.table(language, table) : addresses.aspect(language, table, 'fields')}"
                >${table.name}${field !== null && ` › ${field}`}</a
              >
            </li>`,
        )}
      </ul>`
    }
  </li>`
}

function latelyPart(
  { catalog, addresses, language, words }: Setting,
  current: HomeView['current'],
): Html | null {
  const changes = listedDatasets(catalog)
    .flatMap((dataset) =>
      [...dataset.tables.values()].map((table) => ({ dataset, table, snapshot: current(table) })),
    )
    .flatMap(({ snapshot, ...rest }) => (snapshot === null ? [] : [{ ...rest, ...changeOf(snapshot) }]))
    .toSorted((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, latelyMax)
  if (changes.length === 0) return null
  const { day, count } = writtenIn(words)
  return html`<section>
    <h2>${words.lately}</h2>
    <ul class="lately">
      ${changes.map(
        ({ dataset, table, at, rows }) =>
          html`<li>
            <time datetime="${at}">${day(at)}</time>
            <a href="${addresses.table(language, table)}">${dataset.name}: ${table.name}</a>
            <span class="facts">${words.rows(count(rows))}</span>
            <a href="${addresses.files(language, dataset)}#${table.name}">${words.versions}</a>
          </li>`,
      )}
    </ul>
  </section>`
}

function changeOf({ manifest }: Snapshot): { at: string; rows: number } {
  return { at: manifest.changed_at ?? manifest.import_date, rows: manifest.rows }
}

/** Whether each word is in something that the catalog says of a dataset. */
function isFound(dataset: Dataset, words: readonly string[]): boolean {
  const said = [
    dataset.slug,
    dataset.name,
    dataset.description,
    dataset.author?.name ?? '',
    dataset.source?.name ?? '',
    ...[...dataset.tables.values()].flatMap((table) => [
      ...saidOfTable(table),
      ...table.fields.flatMap(saidOfField),
    ]),
  ].map(folded)
  return words.every((word) => said.some((text) => text.includes(word)))
}

interface Place {
  readonly table: Table
  /** Null for the table itself. */
  readonly field: string | null
}

/** Published tables, and fields of them, that have one of the words themselves. */
function placesOf(tables: readonly Table[], words: readonly string[]): Place[] {
  const has = (texts: readonly string[]): boolean => {
    const said = texts.map(folded)
    return words.some((word) => said.some((text) => text.includes(word)))
  }
  const places: Place[] = []
  for (const table of tables) {
    if (has(saidOfTable(table))) places.push({ table, field: null })
    for (const field of table.fields) {
      if (places.length >= placesMax) return places
      if (has(saidOfField(field))) places.push({ table, field: field.name })
    }
  }
  return places
}

function saidOfTable({ name, description }: Table): string[] {
  return [name, description ?? '']
}

function saidOfField({ name, title, description }: Table['fields'][number]): string[] {
  return [name, title ?? '', description ?? '']
}

function folded(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase().trim()
}
