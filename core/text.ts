import { closest, distance } from 'fastest-levenshtein'

/** Shortens a text to `max` characters and `…`, without splitting a character. */
export function shorten(text: string, max = 100): string {
  const start = firstCharacters(text, max)
  return start.length < text.length ? `${start}…` : text
}

const markupEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeMarkup(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => markupEntities[sign] ?? sign)
}

export function alignedRows(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const invisiblePattern = /[\p{Cf}\u00a0\u2000-\u200a\u202f\u205f\u3000\u2028\u2029]/gu

/** Quotes a text as JSON, with invisible characters by their numbers, such as `<U+200B>`. */
export function visibleJson(text: string): string {
  return JSON.stringify(text).replaceAll(invisiblePattern, (character) => `<${codePointName(character)}>`)
}

/** Returns the names of the invisible characters in a text, such as `U+200B`. */
export function invisibleIn(text: string): string[] {
  return [...new Set(text.match(invisiblePattern) ?? [])].map(codePointName)
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

export function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('')
}

/** Formats `1 row` and `1,234 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

export function nearestName(name: string, names: readonly string[]): string | null {
  if (names.length === 0 || name.length > 100) return null
  const nearest = closest(name.toLowerCase(), [...names])
  return distance(name.toLowerCase(), nearest.toLowerCase()) <=
    (name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3)))
    ? nearest
    : null
}

/** Returns ` (did you mean "x"?)`; empty if no known name is similar. */
export function didYouMean(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names)
  return nearest === null ? '' : ` (did you mean "${nearest}"?)`
}

/**
 * Tests texts against a pattern in which `*` matches any characters, in linear time, unlike a regular
 * expression.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const literals = pattern.split('*')
  const [first = '', ...rest] = literals
  const last = rest.pop()
  if (last === undefined) return (text) => text === first
  const inner = rest.filter((literal) => literal !== '')
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    let offset = first.length
    for (const literal of inner) {
      const index = text.indexOf(literal, offset)
      if (index === -1) return false
      offset = index + literal.length
    }
    return offset <= text.length - last.length
  }
}

/** Tests file names like `wildcard`; only a pattern that starts with a dot matches hidden files. */
export function fileWildcard(pattern: string): (name: string) => boolean {
  const fits = wildcard(pattern)
  return (name) => fits(name) && (pattern.startsWith('.') || !name.startsWith('.'))
}

export function escapedPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

// oxlint-disable-next-line no-control-regex
const escapedByNumber = /([\0-\x07\x0b\x0e-\x1f])/

/** Quotes a text as JSON with DuckDB's escapes, whose hexadecimal digits are capitals. */
export function quotedJson(text: string): string {
  if (!escapedByNumber.test(text)) return JSON.stringify(text)
  const pieces = text
    .split(escapedByNumber)
    .map((piece, index) =>
      index % 2 === 0
        ? JSON.stringify(piece).slice(1, -1)
        : `\\u${piece.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`,
    )
  return `"${pieces.join('')}"`
}

/** Parses JSON; undefined if it is invalid. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Compares texts by their bytes in UTF-8, as DuckDB does; `<` compares UTF-16. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index += 1) {
    const [codeA, codeB] = [a.charCodeAt(index), b.charCodeAt(index)]
    if (codeA !== codeB) return rankOf(codeA) - rankOf(codeB)
  }
  return a.length - b.length
}

/** Ranks surrogates last, since they stand for the highest code points. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}

/** True if one letter is wrong, missing or added, or two neighbours are exchanged. */
export function differByOneTypo(a: string, b: string): boolean {
  return Math.abs(a.length - b.length) <= 1 && (distance(a, b) === 1 || differByExchange(a, b))
}

function differByExchange(a: string, b: string): boolean {
  let index = 0
  while (index < a.length && a[index] === b[index]) index += 1
  return (
    index < a.length &&
    a === `${b.slice(0, index)}${b[index + 1] ?? ''}${b[index] ?? ''}${b.slice(index + 2)}`
  )
}

/** Removes zeros at the end of the fraction of a decimal text, and a point without a fraction. */
export function withoutFinalZeros(text: string): string {
  if (!text.includes('.')) return text
  let end = text.length
  while (text.charAt(end - 1) === '0') end -= 1
  return text.slice(0, text.charAt(end - 1) === '.' ? end - 1 : end)
}
