import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { foldsToNothing } from './conditions.ts'
import { Invalid } from './errors.ts'
import { isTextValue, valueLengthMax } from './operators.ts'

/**
 * Words and phrases, each without the signs around it. A text that ends with `*` must be at the start of a
 * word.
 */

export const wordsMax = 10

/** Separators besides blanks. Points and apostrophes do not separate words. */
const separatorSigns = ',;/\\|_+&=‐‑‒–—-'
const punctuationSigns = ".:!?()[]{}…*'`’‘#@"
const quoteSigns = '"“”„«»'
/** Signs that alone form no word, escaped for a character class of a regular expression. */
export const ignoredSigns = inClass(separatorSigns + punctuationSigns + quoteSigns)

const separators = new RegExp(String.raw`[\s${inClass(separatorSigns)}]+`)
const punctuation = new Set(punctuationSigns)
const aroundPhrases = new Set('* ')

function inClass(signs: string): string {
  return signs.replaceAll(/[\\\]^[-]/g, String.raw`\$&`)
}

export function parseWords(table: Table, text: string): string[] | Invalid {
  if (table.search.length === 0) return new Invalid(`The table ${tableId(table)} has no fields to search.`)
  const words = [...new Set(searchTerms(text))]
  if (words.length > wordsMax) return new Invalid(`The parameter "search" holds more than ${wordsMax} words.`)
  const isReadable = isTextValue(text) && !words.some((word) => foldsToNothing(searchTerm(word).text))
  if (words.length > 0 && isReadable) return words
  return new Invalid(
    `The parameter "search" must be words or "phrases" that contain letters or digits, at most ${valueLengthMax} characters in all.`,
  )
}

/**
 * Words and phrases of a search. Double quotes enclose a phrase; blanks, commas, semicolons, slashes, bars,
 * dashes and underscores separate words. A `*` at the end stays, unless
 * there is another at the start.
 */
export function searchTerms(text: string): string[] {
  const pieces = text.replaceAll(/[“”„«»]/g, '"').split('"')
  // An unclosed quote encloses nothing.
  const isClosed = pieces.length % 2 === 1
  return pieces
    .flatMap((piece, index) =>
      index % 2 === 1 && (isClosed || index < pieces.length - 1)
        ? bare(piece.trim().split(/\s+/).join(' '), aroundPhrases)
        : piece.split(separators).map((word) => bare(word, punctuation)),
    )
    .filter((term) => term !== '')
}

function bare(text: string, marks: ReadonlySet<string>): string {
  const signs = Array.from(text)
  const first = signs.findIndex((sign) => !marks.has(sign))
  const last = signs.findLastIndex((sign) => !marks.has(sign))
  if (first === -1) return ''
  const isStart = signs.includes('*', last + 1) && !signs.slice(0, first).includes('*')
  return `${signs.slice(first, last + 1).join('')}${isStart ? '*' : ''}`
}

/** Inverse of `parseWords`. */
export function formatWords(words: readonly string[]): string {
  return words
    .map((word) => {
      const [only, ...furtherTerms] = searchTerms(word)
      return only === word && furtherTerms.length === 0 ? word : `"${word}"`
    })
    .join(' ')
}

interface SearchTerm {
  readonly text: string
  /** True at the start of a word; otherwise anywhere. */
  readonly isStart: boolean
}

export function searchTerm(word: string): SearchTerm {
  const isStart = word.endsWith('*')
  return { text: isStart ? word.slice(0, -1) : word, isStart }
}

export function matcher({ isStart }: SearchTerm, foldedTerm: string): (text: string) => boolean {
  if (!isStart) return (text) => text.includes(foldedTerm)
  const escaped = foldedTerm.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`)
  const pattern = new RegExp(String.raw`(?<![\p{L}\p{N}])${escaped}`, 'u')
  return (text) => pattern.test(text)
}

/** RE2 pattern of the place before a word. */
export const wordStart = String.raw`(^|[^\pL\pN])`
