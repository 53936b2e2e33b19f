import { titleOf } from '../../documents/words/titles.ts'
import { listedDatasets, type CatalogTexts, type Dataset, type Table } from '../../../core/catalog/catalog.ts'
import { shorten } from '../../../core/text.ts'
import { foldText } from '../../../core/folding.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { NamedResponse } from '../../http/responder.ts'
import { framed, type PageContext } from '../frame.ts'
import { html, textOf, type Html } from '../html.ts'
import { writtenIn } from '../../documents/words/number-formats.ts'
import { named, type PageService } from '../service.ts'
import { coverageOf, coverageText, timeText } from '../coverage.ts'
import { equalTo, queryLink } from '../table/view.ts'
import { chartAnswer } from './chart-answers.ts'
import { chartParameters, chartQuery, type ChartQuery } from '../chart/chart-query.ts'
import { chartView } from '../chart/chart-view.ts'
import { labelOf } from '../chart/drawing.ts'
import type { Requester } from '../../table/engine/requester.ts'
import { alikeWords, CatalogSearch, type CatalogMatch } from './catalog-search.ts'
import { findMisspelling } from './misspellings.ts'
import { findOrderedValues } from './ordered-values.ts'
import { searchWordsOf, wordsIn, type SearchWords } from './search-words.ts'
import { valuesByState, type PlacedValue } from './values-by-state.ts'
import {
  findPartsOfValues,
  distinctValues,
  findValues,
  wordsOfValue,
  type ValueMatch,
} from './value-search.ts'

const indexes = new WeakMap<CatalogTexts, CatalogSearch>()

function indexOf({ catalog, translations }: PageContext): CatalogSearch {
  const [key = catalog] = translations
  const index = indexes.get(key) ?? new CatalogSearch(translations)
  indexes.set(key, index)
  return index
}

interface SearchResults {
  /** Text that was searched instead of one with a misspelt value; null if nothing was corrected. */
  readonly correctedText: string | null
  readonly datasets: readonly Dataset[]
  readonly charts: readonly ChartMatch[]
  readonly tables: readonly CatalogMatch[]
  readonly values: readonly PlacedValue[]
}

interface ChartMatch {
  readonly view: ChartQuery
  /** Null for the whole table. */
  readonly value: ValueMatch | null
}

const [chartsMax, valuesMax, datasetsMax, tablesMax] = [3, 8, 3, 20]
/** A value counts like two words of a title. */
const valueScore = 16

const partMin = 3
const wholeValuesEnough = 4

async function findResults(
  service: PageService,
  text: string,
  signal: () => AbortSignal,
  correctedText: string | null = null,
): Promise<SearchResults> {
  const { context, snapshots, dictionaries, pageBytesMax } = service
  const search = searchWordsOf(text)
  const { words, phrases } = search
  // All searches together are one client for DuckDB: its queue serves other requests between them.
  const requester = { client: 'search', pageBytesMax, signal, pay: async () => {} }
  const sources = { catalog: context.catalog, snapshots, dictionaries, requester }
  const textMatches = indexOf(context).find(words)
  const searchedText = text.trim()
  const valueMatches = distinctValues([
    ...(await findOrderedValues(service, searchedText, requester)),
    ...(await findValues(sources, phrases)),
  ])
  // Towns Porto and Barra are no full match of "Porto da Barra".
  const fullValues = valueMatches.filter((match) => {
    const valueWords = wordsOfValue(match, search)
    return words.every((word) => valueWords.has(word))
  })
  const hasFullText = textMatches.some((match) => match.words.size === words.length)
  const foldedText = foldText(searchedText)
  const isPartSought = !hasFullText && fullValues.length < wholeValuesEnough && foldedText.length >= partMin
  const foundParts = isPartSought ? await findPartsOfValues(sources, foldedText) : []
  const partMatches = distinctValues([...valueMatches, ...foundParts]).slice(valueMatches.length)
  const { chartValues, tables, bestValues } = rank(
    context.catalog,
    textMatches,
    { whole: valueMatches, parts: partMatches },
    search,
  )
  const isMisspelt = !hasFullText && fullValues.length + partMatches.length === 0
  const foundWords = {
    inTexts: new Set(textMatches.flatMap((match) => [...match.words])),
    inValues: new Set(valueMatches.flatMap((match) => [...wordsOfValue(match, search)])),
  }
  const misspelling = isMisspelt ? await findMisspelling(sources, foldedText, words, foundWords) : null
  const isPartMisspelt = misspelling !== null && misspelling.part !== foldedText
  if (isPartMisspelt && correctedText === null) {
    const correction = foldedText.replace(misspelling.part, () => misspelling.values[0].name.toLowerCase())
    return findResults(service, correction, signal, correction)
  }
  const misspeltValues = isPartMisspelt ? undefined : misspelling?.values.slice(0, valuesMax)
  const wordsInTexts = new Map(textMatches.map((match) => [keyOf(match), match.words]))
  // Towns in several states may share a name: each town gets one result.
  const placedValues: PlacedValue[] = []
  for (const match of misspeltValues ?? bestValues)
    placedValues.push(...(await valuesByState(service, match, requester)))
  const charts = await findCharts(service, tables, chartValues, search, wordsInTexts, requester)
  const datasets = listedDatasets(context.catalog).filter(
    ({ name }) => words.length > 0 && alikeWords(words, wordsIn(name)).length === words.length,
  )
  return {
    correctedText,
    datasets: datasets.slice(0, datasetsMax),
    tables,
    values: placedValues.slice(0, valuesMax),
    charts,
  }
}

/**
 * Orders tables by how many searched words their texts and values have. A value counts only if it adds a word
 * or has all.
 * @returns the tables, best first; the values that count in the best tables; and whole values, to which
 * charts may be limited
 */
function rank(
  { datasets }: CatalogTexts,
  textMatches: readonly CatalogMatch[],
  { whole, parts }: Readonly<Record<'whole' | 'parts', readonly ValueMatch[]>>,
  search: SearchWords,
): Pick<SearchResults, 'tables'> & Readonly<Record<'bestValues' | 'chartValues', readonly ValueMatch[]>> {
  const { words } = search
  const matchByTable = new Map(textMatches.map((match) => [keyOf(match), match]))
  const countingValues = [...whole, ...parts].flatMap((match) => {
    const { dataset, name: table } = match.table
    const textMatch = matchByTable.get(keyOf({ dataset, table }))
    const valueWords = wordsOfValue(match, search)
    const newWords = words.filter((word) => valueWords.has(word) && textMatch?.words.has(word) !== true)
    return newWords.length > 0 || valueWords.size === words.length
      ? [
          {
            match,
            dataset,
            table,
            textMatch,
            newWords,
            covered: words.filter((word) => valueWords.has(word)),
          },
        ]
      : []
  })
  for (const { match, dataset, table, textMatch, newWords } of countingValues) {
    const key = keyOf({ dataset, table })
    const wordsOfBoth = new Set([...(matchByTable.get(key)?.words ?? []), ...newWords])
    // Start from the score of texts, so that several values count once.
    const tieBreaker = Math.log10(1 + (match.rows ?? 0)) / 100
    const score = (textMatch?.score ?? 0) + valueScore + tieBreaker
    matchByTable.set(key, { dataset, table, words: wordsOfBoth, score })
  }
  const tables = [...matchByTable.values()]
    .filter(({ dataset }) => datasets.has(dataset))
    .toSorted((a, b) => b.words.size - a.words.size || b.score - a.score)
  const mostWords = tables[0]?.words.size ?? 0
  const rankByKey = new Map(tables.map((match, index) => [keyOf(match), index]))
  const rankOf = (key: CatalogKey): number => rankByKey.get(keyOf(key)) ?? tables.length
  return {
    chartValues: countingValues.map(({ match }) => match).filter(({ isPartOfValue }) => !isPartOfValue),
    // Tables that match at most half as many words as the best are about something else.
    tables: tables.filter((match) => 2 * match.words.size > mostWords).slice(0, tablesMax),
    bestValues: countingValues
      .filter((item) => matchByTable.get(keyOf(item))?.words.size === mostWords)
      .toSorted(
        (a, b) =>
          b.covered.length - a.covered.length ||
          Number(parts.includes(a.match)) - Number(parts.includes(b.match)) ||
          rankOf(a) - rankOf(b) ||
          (b.match.rows ?? 0) - (a.match.rows ?? 0),
      )
      .slice(0, valuesMax)
      .map(({ match }) => match),
  }
}

type CatalogKey = Pick<CatalogMatch, 'dataset' | 'table'>

function keyOf({ dataset, table }: CatalogKey): string {
  return `${dataset}/${table ?? ''}`
}

export function searchForm({ addresses, language, words }: PageContext, text: string): Html {
  return html`<form class="find" role="search" action="${addresses.home(language)}" method="get">
    <label for="q" class="unseen">${words.findHint}</label>
    <input id="q" name="q" type="search" value="${text}" placeholder="${words.findHint}" />
    <button>${words.find}</button>
  </form>`
}

/** @param key identifies the search, and the snapshots that it reads */
export function searchPage(service: PageService, key: readonly unknown[], text: string): NamedResponse {
  return {
    ...named(service, key),
    body: async (signal) => {
      const begin = performance.now()
      const page = textOf(resultsHtml(service, text, await findResults(service, text, signal)))
      return { pieces: [page], ms: performance.now() - begin }
    },
  }
}

function resultsHtml(service: PageService, text: string, results: SearchResults): Html {
  const { charts, correctedText, datasets, tables, values } = results
  const { context } = service
  const { addresses, language, words } = context
  const none = tables.length === 0 && values.length === 0
  const main = html`
    <h1>${words.resultsFor(text)}</h1>
    ${none && html`<p class="lead">${words.nothingFound}</p>`}
    ${correctedText !== null && html`<p class="lead">${words.correctedSearch(correctedText)}</p>`}
    ${searchForm(context, text)}
    ${
      charts.length > 0 &&
      html`<h2>${words.chartsFound}</h2>
        <ul class="results">
          ${charts.map((match) => chartLine(service, match))}
        </ul>`
    }
    ${
      values.length > 0 &&
      html`<h2>${words.valuesFound}</h2>
        <ul class="results">
          ${values.map((match) => valueLine(service, match))}
        </ul>`
    }
    ${
      datasets.length > 0 &&
      html`<h2>${words.datasets}</h2>
        <ul class="results">
          ${datasets.map((dataset) => datasetLine(context, dataset))}
        </ul>`
    }
    ${
      tables.length > 0 &&
      html`<h2>${words.tables}</h2>
        <ul class="results">
          ${tables.map((match) => tableLine(service, match))}
        </ul>`
    }
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
  `
  return framed(context, {
    title: words.resultsFor(text),
    main,
    hasSearchForm: true,
    inLanguage: (target) => `${addresses.home(target)}?${new URLSearchParams({ q: text }).toString()}`,
    trail: [],
  })
}

async function findCharts(
  service: PageService,
  tables: readonly CatalogMatch[],
  values: readonly ValueMatch[],
  search: SearchWords,
  wordsInTexts: ReadonlyMap<string, CatalogMatch['words']>,
  requester: Requester,
): Promise<ChartMatch[]> {
  const { context, snapshots } = service
  const { catalog, translations } = context
  const candidates = tables.flatMap((match) => {
    const dataset = catalog.datasets.get(match.dataset)
    const table = dataset?.tables.get(match.table ?? '')
    const snapshot = table && snapshots.current(table)
    if (dataset === undefined || table === undefined || !snapshot) return []
    const words = wordsInTexts.get(keyOf(match)) ?? new Set()
    const valuesOfTable = values.filter(
      ({ table: { dataset: slug, name } }) => keyOf({ dataset: slug, table: name }) === keyOf(match),
    )
    const answer = chartAnswer(table, snapshot.report, translations, search, words, valuesOfTable)
    if (answer === null) return []
    const period = coverageOf(table, snapshot.report)
    return { ...answer, period, view: chartQuery({ dataset, table, snapshot, query: answer.chart }) }
  })
  const isAnyMeasureNamed = candidates.some(({ isMeasureNamed }) => isMeasureNamed)
  const bestCandidates = candidates
    .filter(({ isMeasureNamed }) => isMeasureNamed || !isAnyMeasureNamed)
    .toSorted((a, b) => (b.period?.to ?? '').localeCompare(a.period?.to ?? '', 'en'))
    .slice(0, chartsMax)
  const charts: ChartMatch[] = []
  for (const { view, value } of bestCandidates) {
    if (value === null) {
      charts.push({ view, value })
      continue
    }
    // A chart of several towns of one name would answer nothing.
    if ((await valuesByState(service, value, requester)).length > 1) continue
    const drawnView = await chartView(view, service.engine, requester)
    const hasGroups = drawnView.answer !== null && drawnView.answer.selected.length > 0
    if (hasGroups) charts.push({ view: drawnView, value })
  }
  return charts
}

function chartLine({ context, snapshots }: PageService, { view, value }: ChartMatch): Html {
  const { addresses, language, words } = context
  const { table } = view
  const period = coverageOf(table, snapshots.current(table)?.report ?? null)
  const suffix = value === null ? '' : ` · ${titleOf(value.field)}: ${value.name}`
  return html`<li>
    <a href="${addresses.aspect(language, table, 'chart', chartParameters(view))}"
      >${labelOf(words, view)}${suffix}</a
    >
    <span class="facts"
      >${[titleOf(table), ...(period === null ? [] : [coverageText(words, period)])].join(' · ')}</span
    >
  </li>`
}

function valueLine(
  { context, snapshots }: PageService,
  { table, field, value, name, rows, isPartOfValue, state }: PlacedValue,
): Html | null {
  const { addresses, language, words } = context
  const parameter = isPartOfValue ? ([`${field.name}__contains`, value] as const) : equalTo(field, value)
  if (parameter === null) return null
  const { count } = writtenIn(words)
  const period = coverageOf(table, snapshots.current(table)?.report ?? null)
  const facts = [
    context.catalog.datasets.get(table.dataset)?.name ?? table.dataset,
    ...(rows === null ? [] : [words.rows(count(rows))]),
    ...(period === null ? [] : [words.until(timeText(words, period.to))]),
  ]
  return html`<li>
    <a
      href="${addresses.table(language, table)}${queryLink(new Map([parameter, ...(state === null ? [] : [state.parameter])]))}"
      >${titleOf(field)}${isPartOfValue ? ` ${words.contains}` : ':'}
      ${name}${state !== null && ` (${state.name})`} · ${titleOf(table)}</a
    >
    <span class="facts">${facts.join(' · ')}</span>
  </li>`
}

function datasetLine({ addresses, language }: PageContext, dataset: Dataset): Html {
  return html`<li>
    <a href="${addresses.dataset(language, dataset)}">${dataset.name}</a>
    <span class="facts">${shorten(dataset.description)}</span>
  </li>`
}

function tableLine(
  { context, snapshots }: PageService,
  { dataset: slug, table: name }: CatalogMatch,
): Html | null {
  const { catalog, addresses, language, words } = context
  const dataset = catalog.datasets.get(slug)
  if (dataset === undefined) return null
  const table = dataset.tables.get(name ?? '')
  if (table === undefined)
    return html`<li>
      <a href="${addresses.dataset(language, dataset)}">${dataset.name}</a>
      <span class="facts">${words.notPublished}</span>
    </li>`
  return html`<li>
    <a href="${addresses.table(language, table)}">${titleOf(table)}</a>
    <span class="facts">${factsOf(context, dataset, table, snapshots.current(table)).join(' · ')}</span>
  </li>`
}

function factsOf(
  { words }: PageContext,
  dataset: Dataset,
  table: Table,
  snapshot: Snapshot | null,
): string[] {
  const covered = coverageOf(table, snapshot?.report ?? null)
  return [
    dataset.name,
    ...(table.rowMeaning === null ? [] : [words.eachRow(table.rowMeaning)]),
    snapshot === null ? words.notPublished : words.rows(writtenIn(words).count(snapshot.manifest.rows)),
    ...(covered === null ? [] : [coverageText(words, covered)]),
  ]
}
