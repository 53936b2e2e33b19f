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

const alphabets = new Map<Encoding, readonly [letters: readonly RegExp[], isOddBetween: OddBetween]>([
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

/** Signs of no language; the apostrophe is also within words. */
const neutral = /[\u00A0°ºª§€£“”‘’–—…«»·×½¼¾²³¹±µ®©™¡¿]/
/** Odd beside a letter, as in `B½uf`, or before one, as in `®ďár`. */
const fractions = /[½¼¾]/
const marksBehind = /[®©™±]/

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
export function judgeLetters(usual: 'latin-1' | 'windows-1252', words: readonly Buffer[]): Judgment {
  const usualFit = fitOf(usual, words)
  if (usualFit >= fitMin) return { encoding: usual, question: null }
  const fits = furtherEncodings
    .map((encoding) => ({ encoding, fit: fitOf(encoding, words) }))
    .filter(({ fit }) => fit >= usualFit + leadMin)
    .toSorted((a, b) => b.fit - a.fit)
  const likely = fits.filter(({ fit }) => fit >= fitMin)
  if (likely.length === 0 && usualFit >= doubtfulFit) return { encoding: usual, question: null }
  const [best] = likely
  const possible = [...(best === undefined ? fits : likely).map(({ encoding }) => encoding), usual]
  const choices = possible.map((encoding) => `${encoding} (${examplesIn(encoding, words)})`)
  return {
    encoding: best?.encoding ?? usual,
    question: `say how the file reads right, and declare it as source.encoding: ${choices.join(', or ')}; it is read as ${best?.encoding ?? usual} until then; if none is right, save the file as UTF-8`,
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
  const [letters, isOddBetween] = alphabets.get(encoding) ?? [[ideographs], besideAscii]
  return Math.max(...letters.map((alphabet) => shareOf(texts, alphabet, isOddBetween)))
}

/** Share of letters that fit, with nothing odd around them. */
function shareOf(texts: readonly string[], letters: RegExp, isOddBetween: OddBetween): number {
  let [good, bad] = [0, 0]
  for (const text of texts) {
    const signs = Array.from(text)
    for (const [index, sign] of signs.entries()) {
      const [before = '', after = ''] = [signs[index - 1], signs[index + 1]]
      const isOddSign =
        (fractions.test(sign) && /\p{L}/u.test(before + after)) ||
        (marksBehind.test(sign) && /\p{L}/u.test(after))
      if (sign <= '\x7f' || (neutral.test(sign) && !isOddSign)) continue
      const isCapitalWithin = /\p{Lu}/u.test(sign) && /\p{Ll}/u.test(before)
      if (letters.test(sign.toLowerCase()) && !isCapitalWithin && !isOddBetween(before, after)) good += 1
      else bad += 1
    }
  }
  return good + bad === 0 ? 1 : good / (good + bad)
}
