import { listedDatasets, type CatalogTexts, type Dataset, type Table } from '../../../core/catalog/catalog.ts'
import { differByOneTypo } from '../../../core/text.ts'
import { wordsIn } from './search-words.ts'

/** Finds tables by the words of the catalog in all languages. */

interface Entry {
  readonly dataset: string
  readonly table: string | null
  readonly weights: ReadonlyMap<string, number>
}

export interface CatalogMatch {
  readonly dataset: string
  /** Null for a dataset without tables. */
  readonly table: string | null
  /** Words of the search in the texts of the table. */
  readonly words: ReadonlySet<string>
  readonly score: number
}

const weights = { title: 8, synonyms: 8, dataset: 6, field: 4, meaning: 4, name: 2, description: 2 }

const fuzzyMin = 4
const endingMax = 3
const beginningMin = 4

export class CatalogSearch {
  readonly #entries: readonly Entry[]
  readonly #counts = new Map<string, number>()

  constructor(translations: readonly CatalogTexts[]) {
    const [first] = translations
    this.#entries =
      first === undefined ? [] : listedDatasets(first).flatMap((dataset) => entriesOf(dataset, translations))
    for (const { weights: entryWeights } of this.#entries)
      for (const word of entryWeights.keys()) this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1)
  }

  find(words: readonly string[]): CatalogMatch[] {
    const likeWords = new Map(words.map((word) => [word, this.#wordsLike(word)]))
    return this.#entries
      .map(({ dataset, table, weights: entryWeights }): CatalogMatch => {
        const scores = words.map((word) => this.#score(entryWeights, likeWords.get(word) ?? []))
        return {
          dataset,
          table,
          words: new Set(words.filter((_, index) => (scores[index] ?? 0) > 0)),
          score: scores.reduce((sum, score) => sum + score, 0),
        }
      })
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.words.size - a.words.size || b.score - a.score)
  }

  #score(
    entryWeights: Entry['weights'],
    like: readonly (readonly [word: string, likeness: number])[],
  ): number {
    const scores = like.map(([word, likeness]) => {
      // A rare word tells more than one that most tables have.
      const rarity = Math.log(1 + this.#entries.length / (this.#counts.get(word) ?? 1))
      return (entryWeights.get(word) ?? 0) * likeness * rarity
    })
    return Math.max(0, ...scores)
  }

  /** Known words that a word may mean, with their likeness: 1 for the word itself. */
  #wordsLike(word: string): [word: string, likeness: number][] {
    const words = [...this.#counts.keys()]
    const near = words.flatMap((candidate): [string, number][] =>
      candidate === word ? [[candidate, 1]] : beginAlike(word, candidate) ? [[candidate, 0.6]] : [],
    )
    if (near.length > 0 || word.length < fuzzyMin) return near
    return words
      .filter((candidate) => candidate.length >= fuzzyMin && differByOneTypo(word, candidate))
      .map((candidate) => [candidate, 0.4])
  }
}

function beginAlike(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= beginningMin && long.length - short.length <= endingMax && long.startsWith(short)
}

export function alikeWords(search: readonly string[], text: readonly string[]): string[] {
  return search.filter((word) => text.some((candidate) => candidate === word || beginAlike(word, candidate)))
}

function entriesOf({ slug, tables }: Dataset, translations: readonly CatalogTexts[]): Entry[] {
  const datasets = translations.flatMap(({ datasets: bySlug }) => bySlug.get(slug) ?? [])
  const ofDataset = datasets.flatMap(textsOfDataset)
  if (tables.size === 0) return [{ dataset: slug, table: null, weights: weighed(ofDataset) }]
  return [...tables.keys()].map((table) => {
    const texts = datasets.flatMap((dataset) => dataset.tables.get(table) ?? []).flatMap(textsOfTable)
    return { dataset: slug, table, weights: weighed([...ofDataset, ...texts]) }
  })
}

type Weighed = readonly [text: string | null, weight: number]

function weighed(texts: readonly Weighed[]): Map<string, number> {
  const weightOfWord = new Map<string, number>()
  for (const [text, weight] of texts)
    for (const word of wordsIn(text ?? ''))
      weightOfWord.set(word, Math.max(weight, weightOfWord.get(word) ?? 0))
  return weightOfWord
}

function textsOfDataset({ slug, name, description, keywords, author, source }: Dataset): Weighed[] {
  return [
    [name, weights.dataset],
    [slug, weights.dataset],
    ...keywords.map((text): Weighed => [text, weights.dataset]),
    [description, weights.description],
    [author?.name ?? null, weights.description],
    [source?.name ?? null, weights.description],
  ]
}

function textsOfTable({ name, title, description, rowMeaning, synonyms, fields }: Table): Weighed[] {
  return [
    [title, weights.title],
    ...synonyms.map((text): Weighed => [text, weights.synonyms]),
    [rowMeaning, weights.meaning],
    [name, weights.name],
    [description, weights.description],
    ...fields.flatMap((field): Weighed[] => [
      [field.title, weights.field],
      ...field.synonyms.map((text): Weighed => [text, weights.field]),
      [field.name, weights.name],
      [field.description, weights.description],
    ]),
  ]
}
