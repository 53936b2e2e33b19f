import type { Encoding } from '../../core/catalog/catalog.ts'
import { decodedText } from '../source/decode.ts'

/**
 * Scores an encoding by its text: letters should belong to one language, without such oddities as a capital
 * inside a word.
 */

const western = [
  'áàâãçéêíóôõúü',
  'áéíñóúü',
  'àâæçéèêëîïôœùûüÿ',
  'äöüß',
  'àèéìíîòóù',
  'àçèéíïòóúü',
  'åäöæøé',
  'áâäàçéèêëíïîóôöúûü',
  'áðéíóúýþæö',
]
const eastern = ['ąćęłńóśźż', 'áčďéěíňóřšťúůýž', 'áäčďéíĺľňóôŕšťúýž', 'áéíóöőúüű', 'ăâîșțşţ', 'čćđšž']
const turkish = ['âçğıi̇îöşü']
const cyrillic = [
  'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  'абвгґдеєжзиіїйклмнопрстуфхцчшщьюяў',
  'абвгдђежзијклљмнњопрстћуфхцчџш',
]

/** Returns whether a letter beyond ASCII is odd between two others. */
type OddBetween = (before: string, after: string) => boolean

const besideAscii: OddBetween = (before, after) => /[a-z]/i.test(before + after)
/** Languages of the west have no three letters beyond ASCII in sequence. */
const amidOthers: OddBetween = (before, after) => before > '\x7f' && after > '\x7f'
const nowhere: OddBetween = () => false

const ideographs = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}々ー・、。（）]/u

const alphabets = new Map<Encoding, readonly [letters: readonly RegExp[], isUnlikelyBetween: OddBetween]>([
  ...(['latin-1', 'windows-1252', 'iso-8859-15', 'macintosh', 'cp850'] as const).map(
    (encoding) => [encoding, [western.map(anyOf), amidOthers]] as const,
  ),
  ['windows-1250', [eastern.map(anyOf), nowhere]],
  ['iso-8859-2', [eastern.map(anyOf), nowhere]],
  ['windows-1254', [turkish.map(anyOf), nowhere]],
  ['windows-1251', [cyrillic.map(anyOf), besideAscii]],
])

function anyOf(letters: string): RegExp {
  return new RegExp(`[${letters}]`, 'u')
}

/** Signs that belong to no language; the apostrophe is also within words. */
const neutral = /[\u00A0°ºª§€£“”‘’–—…«»·×½¼¾²³¹±µ®©™¡¿]/
/** Fractions are odd beside a letter (`B½uf`), and marks are odd before one (`®ďár`). */
const fractions = /[½¼¾]/
const marksAfterNumbers = /[®©™±]/

const furtherEncodings = [
  'iso-8859-15',
  'macintosh',
  'cp850',
  'windows-1250',
  'iso-8859-2',
  'windows-1254',
  'windows-1251',
  'shift-jis',
  'gb18030',
] as const

const fitMin = 0.9
/** Share of fitting letters below which the usual encoding is doubted. */
const doubtfulFit = 0.5
const leadMin = 0.1
const examplesMax = 3

interface Judgment {
  readonly encoding: Encoding
  /** Shows words under each possible encoding; null if there is no question. */
  readonly question: string | null
}

/**
 * Chooses the encoding under which words have letters of a language.
 * @param words bytes of words with bytes beyond ASCII
 */
export function judgeLetters(usualEncoding: 'latin-1' | 'windows-1252', words: readonly Buffer[]): Judgment {
  const usualFit = fitOf(usualEncoding, words)
  if (usualFit >= fitMin) return { encoding: usualEncoding, question: null }
  const fits = furtherEncodings
    .map((encoding) => ({ encoding, fit: fitOf(encoding, words) }))
    .filter(({ fit }) => fit >= usualFit + leadMin)
    .toSorted((a, b) => b.fit - a.fit)
  const likelyFits = fits.filter(({ fit }) => fit >= fitMin)
  if (likelyFits.length === 0 && usualFit >= doubtfulFit) return { encoding: usualEncoding, question: null }
  const [best] = likelyFits
  const possibleEncodings = [
    ...(best === undefined ? fits : likelyFits).map(({ encoding }) => encoding),
    usualEncoding,
  ]
  const choices = possibleEncodings.map((encoding) => `${encoding} (${examplesIn(encoding, words)})`)
  return {
    encoding: best?.encoding ?? usualEncoding,
    question: `say how the file reads right, and declare it as source.encoding: ${choices.join(', or ')}; it is read as ${best?.encoding ?? usualEncoding} until then; if none is right, save the file as UTF-8`,
  }
}

function examplesIn(encoding: Encoding, words: readonly Buffer[]): string {
  return words
    .slice(0, examplesMax)
    .map((word) => JSON.stringify(decodedText(word, encoding)))
    .join(', ')
}

function fitOf(encoding: Encoding, words: readonly Buffer[]): number {
  const texts = words.map((word) => decodedText(word, encoding))
  const [letters, isUnlikelyBetween] = alphabets.get(encoding) ?? [[ideographs], besideAscii]
  return Math.max(...letters.map((alphabet) => shareOfFittingLetters(texts, alphabet, isUnlikelyBetween)))
}

function shareOfFittingLetters(
  texts: readonly string[],
  letters: RegExp,
  isUnlikelyBetween: OddBetween,
): number {
  let [good, bad] = [0, 0]
  for (const text of texts) {
    const characters = Array.from(text)
    for (const [index, character] of characters.entries()) {
      const [before = '', after = ''] = [characters[index - 1], characters[index + 1]]
      // A fraction beside a letter, or a mark such as ° before one, is probably a misread letter.
      const isMisreadLetter =
        (fractions.test(character) && /\p{L}/u.test(before + after)) ||
        (marksAfterNumbers.test(character) && /\p{L}/u.test(after))
      if (character <= '\x7f' || (neutral.test(character) && !isMisreadLetter)) continue
      const isCapitalWithin = /\p{Lu}/u.test(character) && /\p{Ll}/u.test(before)
      if (letters.test(character.toLowerCase()) && !isCapitalWithin && !isUnlikelyBetween(before, after))
        good += 1
      else bad += 1
    }
  }
  return good + bad === 0 ? 1 : good / (good + bad)
}
