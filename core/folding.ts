import { quotedText } from './sql.ts'

/** Folds texts for searches: case, accents, typographic quotes, dashes and blanks, and full-width letters. */

const fullWidth = Array.from({ length: 0xff5e - 0xff01 + 1 }, (_, index) => 0xff01 + index)

const alike: readonly (readonly [signs: string, sign: string])[] = [
  ['‘’‚‛′ʼ´', "'"],
  ['“”„‟″«»', '"'],
  ['‐‑‒–—―−', '-'],
  ['\u00A0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000', ' '],
  ...fullWidth.map(
    (code) => [String.fromCodePoint(code), String.fromCodePoint(code - 0xfee0).toLowerCase()] as const,
  ),
]
const plainLetters = new Map(
  alike.flatMap(([signs, sign]) => Array.from(signs, (letter) => [letter, sign] as const)),
)
const [from, to] = [[...plainLetters.keys()].join(''), [...plainLetters.values()].join('')]

/**
 * SQL: folds a text. ASCII texts without accents, which are most, skip the translation, which takes ten times
 * as long.
 */
export function foldedSql(text: string): string {
  return `list_transform([lower(strip_accents(${text}))], lambda t:
    case when strlen(t) = length(t) then t else translate(t, ${quotedText(from)}, ${quotedText(to)}) end)[1]`
}

/** Folds a text for comparisons that need not be exact. */
export function foldText(text: string): string {
  const base = text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return Array.from(base, (sign) => plainLetters.get(sign) ?? sign).join('')
}
