import { languages } from '../../../core/catalog/names.ts'
import type { CatalogTexts, Field, Table } from '../../../core/catalog/catalog.ts'
import { labelOf } from '../chart/drawing.ts'
import { openedParameters } from '../chart/chart-query.ts'
import { dimensionsOf } from '../chart/dimensions.ts'
import { wordsOf } from '../../documents/words/all.ts'
import type { Words } from '../../documents/words/en.ts'
import { partsOf, partTerm, type Term } from '../../query/date-parts.ts'
import { parseAggregateQuery } from '../../query/aggregate-query.ts'
import { rowsName } from '../../query/measures.ts'
import { formatList } from '../../query/list.ts'
import type { SnapshotReport } from '../../../core/warehouse/report.ts'
import { alikeWords } from './catalog-search.ts'
import { wordsIn, type SearchWords } from './search-words.ts'

/** A chart that answers a search. */
interface ChartAnswer {
  /** The title of the chart, such as `New deaths by state`. */
  readonly label: string
  readonly parameters: ReadonlyMap<string, string>
  /** True if the search names the measure, and not its table alone. */
  readonly isNamed: boolean
}

/**
 * Returns the chart of a table that a search such as `deaths by state` names: some words name what to group by, and others
 * a declared measure or the table. Null if there is none.
 * @param table in the language of the page
 * @param tableWords words of the search that the texts of the table have
 */
export function chartAnswer(
  words: Words,
  table: Table,
  report: SnapshotReport | null,
  translations: readonly CatalogTexts[],
  search: SearchWords,
  tableWords: ReadonlySet<string>,
): ChartAnswer | null {
  const translated = translations.flatMap(
    (one) => one.datasets.get(table.dataset)?.tables.get(table.name) ?? [],
  )
  const namedBy = ({ name, part }: Term, among: readonly string[]): readonly string[] => {
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
      const groupWords = namedBy(term, search.groupWords)
      const others = search.words.filter((word) => !groupWords.includes(word))
      if (groupWords.length === 0 || others.length === 0 || others.some((word) => !tableWords.has(word)))
        return []
      return measures
        .filter(({ groups }) => groups?.includes(term.name) ?? true)
        .map(({ measure, field }) => ({
          term,
          measure,
          groupWords: groupWords.length,
          measureWords: field === null ? 0 : namedBy(field, others).length,
        }))
    })
    .toSorted(
      (one, other) =>
        other.groupWords + other.measureWords - one.groupWords - one.measureWords ||
        other.measureWords - one.measureWords,
    )
  if (best === undefined) return null
  const parameters = new Map([
    ...openedParameters(table, best.measure, []),
    ['group', formatList([best.term.name])],
    ['measure', formatList([best.measure])],
  ])
  const aggregation = parseAggregateQuery(table, `?${new URLSearchParams([...parameters]).toString()}`, [])
  return { label: labelOf(words, { table, aggregation }), parameters, isNamed: best.measureWords > 0 }
}

interface NamedMeasure {
  readonly measure: string
  readonly field: Field | null
  /** Terms that it is declared for; null for all. */
  readonly groups: readonly string[] | null
}

/** Returns the measure of the declared chart, then the declared ones; the number of rows if there are none. */
function measuresOf({ chart, measures, fields }: Table): NamedMeasure[] {
  const rows = rowsName({ fields })
  const sums = measures.map((name) => `${name}__sum`)
  const names = new Set([...(chart === null ? [] : [chart.measure]), ...sums])
  return [...(names.size === 0 ? [rows] : names)].map((measure) => ({
    measure,
    field: fields.find(({ name }) => measure.startsWith(`${name}__`)) ?? null,
    // Other groups may need another filter than that of the chart.
    groups: measure === rows || sums.includes(measure) ? null : (chart?.group ?? null),
  }))
}

function textsOf({ title, synonyms, name }: Field): string[] {
  return [title ?? name, ...synonyms]
}
