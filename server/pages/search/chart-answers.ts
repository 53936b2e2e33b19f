import { languages } from '../../../core/catalog/names.ts'
import type { CatalogTexts, Field, Table } from '../../../core/catalog/catalog.ts'
import { openChart, type RequestedChart } from '../chart/chart-query.ts'
import { dimensionsOf } from '../chart/dimensions.ts'
import { wordsOf } from '../../documents/words/all.ts'
import { baseOf, partsOf, partTerm, type Term } from '../../query/date-parts.ts'
import { rowsName } from '../../query/measures.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { alikeWords } from './catalog-search.ts'
import { equalTo } from '../table/view.ts'
import { wordsIn, type SearchWords } from './search-words.ts'
import { wordsOfValue, type ValueMatch } from './value-search.ts'

interface ChartAnswer {
  readonly chart: RequestedChart
  /** Null for the whole table. */
  readonly value: ValueMatch | null
  /** The search names the measure, and not its table alone. */
  readonly isMeasureNamed: boolean
}

/**
 * Finds the chart that a search such as `deaths in Salvador by week` names: of a declared measure, else of
 * rows, by groups, for a value. Null if there is none.
 * @param table in the language of the page
 * @param tableWords words of the search that the texts of the table have
 * @param values matches of the search in the table, best first
 */
export function chartAnswer(
  table: Table,
  report: SnapshotReport | null,
  translations: readonly CatalogTexts[],
  search: SearchWords,
  tableWords: ReadonlySet<string>,
  values: readonly ValueMatch[],
): ChartAnswer | null {
  const translated = translations.flatMap(
    (catalog) => catalog.datasets.get(table.dataset)?.tables.get(table.name) ?? [],
  )
  const wordsNaming = ({ name, part }: Term, among: readonly string[]): readonly string[] => {
    const texts =
      part === undefined
        ? translated
            .flatMap(({ fields }) => fields.find((field) => field.name === name) ?? [])
            .flatMap(textsOf)
        : languages.map((language) => wordsOf[language].partNames[part.name])
    return alikeWords(among, texts.flatMap(wordsIn))
  }
  const terms = dimensionsOf(table, report).flatMap(({ field }): Term[] => [
    field,
    ...partsOf(table, field).flatMap((part) => partTerm(field, part) ?? []),
  ])
  const measures = measuresOf(table)
  const [best] = terms
    .flatMap((term) => {
      const groupWords = wordsNaming(term, search.groupWords)
      const otherWords = search.words.filter((word) => !groupWords.includes(word))
      const unknown = otherWords.filter((word) => !tableWords.has(word))
      // Null if no value is needed, undefined if none has all unknown words.
      const value =
        unknown.length === 0
          ? null
          : values.find(
              (match) =>
                match.field.name !== baseOf(term).name &&
                unknown.every((word) => wordsOfValue(match, search).has(word)),
            )
      if (groupWords.length === 0 || otherWords.length === 0 || value === undefined) return []
      return measures
        .filter(({ groups }) => groups?.includes(term.name) ?? true)
        .map(({ measure, field }) => ({
          term,
          measure,
          value,
          groupWords: groupWords.length,
          measureWords: field === null ? 0 : wordsNaming(field, otherWords).length,
        }))
    })
    .toSorted(
      (a, b) =>
        b.groupWords + b.measureWords - a.groupWords - a.measureWords || b.measureWords - a.measureWords,
    )
  if (best === undefined) return null
  const { value, term, measure, measureWords } = best
  const condition = value === null ? null : equalTo(value.field, value.value)
  const [conditions, fieldNames] = condition === null ? [[], []] : [[condition], [value?.field.name ?? '']]
  const chart = openChart(table, conditions, fieldNames, [term.name], measure)
  return { chart, value, isMeasureNamed: measureWords > 0 }
}

interface NamedMeasure {
  readonly measure: string
  readonly field: Field | null
  /** Terms by which the measure may be grouped; null for any. */
  readonly groups: readonly string[] | null
}

function measuresOf({ chart, measures, fields }: Table): NamedMeasure[] {
  const rows = rowsName({ fields })
  const sums = measures.map((name) => `${name}__sum`)
  const names = new Set([...(chart === null ? [] : [chart.measure]), ...sums])
  return [...(names.size === 0 ? [rows] : names)].map((measure) => ({
    measure,
    field: fields.find(({ name }) => measure.startsWith(`${name}__`)) ?? null,
    // The chart's filter may not suit groups other than its own.
    groups: measure === rows || sums.includes(measure) ? null : (chart?.group ?? null),
  }))
}

function textsOf({ title, synonyms, name }: Field): string[] {
  return [title ?? name, ...synonyms]
}
