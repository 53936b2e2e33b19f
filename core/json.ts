// oxlint-disable-next-line no-control-regex
const escapedByNumber = /([\0-\x07\x0b\x0e-\x1f])/

/** A text in quotes, with the escapes of DuckDB: it writes the digits of a character in capitals. */
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

/** What a text of JSON says; undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
