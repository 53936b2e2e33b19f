export const [LF, CR] = [0x0a, 0x0d] as const

/** Bytes that structure a record; a quote of -1 means none. */
export interface Marks {
  readonly delimiter: number
  readonly quote: number
}

/** Returns the values of a checked record without its line end. */
export function recordValues(record: Buffer, { delimiter, quote }: Marks): string[] {
  const values: string[] = []
  for (let at = 0; at <= record.length; at += 1) {
    const from = at
    if (record[at] === quote) {
      for (at += 1; at < record.length; at += 1) {
        if (record[at] !== quote) continue
        if (record[at + 1] !== quote) break
        at += 1
      }
      const mark = String.fromCharCode(quote)
      values.push(record.toString('utf8', from + 1, at).replaceAll(mark + mark, mark))
      at += 1
    } else {
      while (at < record.length && record[at] !== delimiter) at += 1
      values.push(record.toString('utf8', from, at))
    }
  }
  return values
}

/**
 * Joins the lines of a header: `2023,` above `Men,Women` gives `2023 Men` and `2023 Women`, since an empty cell
 * above a filled one continues the cell on its left, as merged cells of spreadsheets do.
 */
export function joinedHeader(lines: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lines
  if (others.length === 0) return first
  const lower = joinedHeader(others)
  let continued = ''
  return first.map((cell, column) => {
    const [upper, below] = [cell.trim(), (lower[column] ?? '').trim()]
    if (upper !== '') continued = upper
    return [below === '' ? upper : continued, below].filter((text) => text !== '').join(' ')
  })
}

/**
 * Encodes values as a record with its line ending. Without a quote character, no value may contain delimiters
 * or line breaks.
 */
export function encodeRecord(values: readonly string[], { delimiter, quote }: Marks): Buffer {
  const [comma, mark] = [String.fromCharCode(delimiter), quote === -1 ? null : String.fromCharCode(quote)]
  const texts = values.map((text) => {
    const needsQuotes =
      mark !== null && [comma, mark, '\n', '\r'].some((character) => text.includes(character))
    return needsQuotes ? mark + text.replaceAll(mark, mark + mark) + mark : text
  })
  return Buffer.from(`${texts.join(comma)}\n`)
}
