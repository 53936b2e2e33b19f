import { foldText } from '../../../core/folding.ts'
import { searchTerms } from '../../query/search-terms.ts'

/** Words of a search, in the form in which they are compared. */

const stopWords: ReadonlySet<string> = new Set(
  `a ao aos as com da das de do dos e em entre na nas no nos o os ou para pela pelas pelo pelos por qual quais
  quanto quantos que quem se sem sobre um uma uns umas dado dados tabela lista
  about all and at by data dataset each for from how in is list many much of on or per table the to was were
  what where which who with`.split(/\s+/),
)

const plurals: readonly (readonly [plural: string, singular: string])[] = [
  ['oes', 'ao'],
  ['aes', 'ao'],
  ['ais', 'al'],
  ['eis', 'el'],
  ['ies', 'y'],
  ['ns', 'm'],
  ['res', 'r'],
  ['zes', 'z'],
  ['s', ''],
]

const stemmedMin = 4

function singular(word: string): string {
  if (word.length < stemmedMin) return word
  const [plural, ending] = plurals.find(([end]) => word.endsWith(end)) ?? ['', '']
  return word.slice(0, word.length - plural.length) + ending
}

export function wordsIn(text: string): string[] {
  return foldText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(singular)
}

export interface SearchWords {
  /** Folded singulars, without stop words unless there are no others. */
  readonly words: readonly string[]
  /** Words after the last "by", which name groups; all words if there is no "by". */
  readonly groupWords: readonly string[]
  /** Folded sequences of up to `phraseWordsMax` words: possible values such as `sao paulo`. */
  readonly phrases: readonly string[]
}

const phraseWordsMax = 5

const byWords: ReadonlySet<string> = new Set(['por', 'by', 'per'])

/**
 * "deaths in Belém by state" has the words death, belem and state, and phrases such as `deaths in belem`. The
 * word after "by" is a possible group.
 */
export function searchWordsOf(text: string): SearchWords {
  const searchWords = searchTerms(text)
    .map((term) => foldText(term.replace(/\*$/, '')))
    .flatMap((term) => term.split(' '))
  const meaningfulWords = searchWords.filter((word) => !stopWords.has(word))
  const phrases = searchWords.flatMap((_, start) => {
    const lengthMax = Math.min(phraseWordsMax, searchWords.length - start)
    return Array.from({ length: lengthMax }, (_one, index) =>
      searchWords.slice(start, start + index + 1).join(' '),
    )
  })
  const words = (meaningfulWords.length === 0 ? searchWords : meaningfulWords).flatMap(wordsIn)
  // Without a "by", any word may name a group.
  const groupStart = searchWords.findLastIndex((word) => byWords.has(word)) + 1
  const wordsAfterBy = new Set(searchWords.slice(groupStart).flatMap(wordsIn))
  return {
    words: [...new Set(words)],
    groupWords: [...new Set(words)].filter((word) => wordsAfterBy.has(word)),
    phrases: [...new Set(phrases)].filter((phrase) => !stopWords.has(phrase)),
  }
}
