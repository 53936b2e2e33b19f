import { wordsIn } from './search-words.ts'
import { findValuesLike, type Sources, type ValueMatch } from './value-search.ts'

interface Misspelling {
  readonly part: string
  /** Values that it may mean, the most frequent first. */
  readonly values: readonly [ValueMatch, ...ValueMatch[]]
}

interface FoundWords {
  readonly inTexts: ReadonlySet<string>
  readonly inValues: ReadonlySet<string>
}

const misspeltMin = 5

/** Finds a part of unknown words, and values that differ from it by a typo. */
export async function findMisspelling(
  sources: Sources,
  foldedText: string,
  words: readonly string[],
  { inTexts, inValues }: FoundWords,
): Promise<Misspelling | null> {
  // "rio" may be a value of its own, and also belong to "rio de janero".
  for (const foundWords of [inTexts, new Set([...inTexts, ...inValues])]) {
    const unknownWords = words.filter((word) => !foundWords.has(word))
    const part = fromFirstToLast(unknownWords, foldedText)
    if (part.length < misspeltMin) continue
    const [first, ...furtherValues] = await findValuesLike(sources, part)
    if (first !== undefined) return { part, values: [first, ...furtherValues] }
  }
  return null
}

function fromFirstToLast(words: readonly string[], foldedText: string): string {
  const textWords = foldedText.split(' ')
  const isIncluded = (textWord: string): boolean => wordsIn(textWord).some((word) => words.includes(word))
  return textWords.slice(textWords.findIndex(isIncluded), textWords.findLastIndex(isIncluded) + 1).join(' ')
}
