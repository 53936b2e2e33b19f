/** Returns a text, or its first `max` characters and `…`. Never cuts a character in two, as slices of UTF-16 do. */
export function shorten(text: string, max = 100): string {
  const start = firstCharacters(text, max)
  return start.length < text.length ? `${start}…` : text
}

/** Returns the first characters of a text. */
export function firstCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('')
}
