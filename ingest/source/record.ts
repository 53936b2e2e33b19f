export const [LF, CR] = [0x0a, 0x0d] as const
const [space, tab, equals] = [0x20, 0x09, 0x3d] as const

/** Bytes that structure a record; -1 for no quote. */
export interface Marks {
  readonly delimiter: number
  readonly quote: number
}

/**
 * Position of the quote that encloses the value at `start`; -1 if there is none. Blanks and the `=` of
 * spreadsheets may come before it, as in `="00123"`, and are no part of the value.
 */
export function openingQuote(data: Uint8Array, start: number, marks: Marks): number {
  const { delimiter, quote } = marks
  let offset = skipBlanks(data, start, marks)
  if (data[offset] === equals && equals !== delimiter) offset += 1
  return data[offset] === quote ? offset : -1
}

/** Index of the first byte that is no blank. */
export function skipBlanks(data: Uint8Array, start: number, { delimiter }: Marks): number {
  let offset = start
  while ((data[offset] === space || data[offset] === tab) && data[offset] !== delimiter) offset += 1
  return offset
}

/** @param record a checked record without its line end */
export function recordValues(record: Buffer, marks: Marks): string[] {
  const { delimiter, quote } = marks
  const values: string[] = []
  for (let offset = 0; offset <= record.length; offset += 1) {
    const opening = openingQuote(record, offset, marks)
    const from = opening === -1 ? offset : opening
    if (opening !== -1) {
      for (offset = opening + 1; offset < record.length; offset += 1) {
        if (record[offset] !== quote) continue
        if (record[offset + 1] !== quote) break
        offset += 1
      }
      const quoteText = String.fromCharCode(quote)
      values.push(record.toString('utf8', from + 1, offset).replaceAll(quoteText + quoteText, quoteText))
      offset = skipBlanks(record, offset + 1, marks)
    } else {
      while (offset < record.length && record[offset] !== delimiter) offset += 1
      values.push(record.toString('utf8', from, offset))
    }
  }
  return values
}

/**
 * Joins the lines of a header. Merged cells of a spreadsheet leave empty cells: `2023,` above `Men,Women`
 * gives `2023 Men` and `2023 Women`.
 */
export function joinedHeader(lines: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...furtherLines] = lines
  if (furtherLines.length === 0) return first
  const lower = joinedHeader(furtherLines)
  let continued = ''
  return first.map((cell, column) => {
    const [upper, below] = [cell.trim(), (lower[column] ?? '').trim()]
    if (upper !== '') continued = upper
    return [below === '' ? upper : continued, below].filter((text) => text !== '').join(' ')
  })
}

/** Without a quote character, no value may contain delimiters or line breaks. */
export function encodeRecord(values: readonly string[], { delimiter, quote }: Marks): Buffer {
  const [comma, mark] = [String.fromCharCode(delimiter), quote === -1 ? null : String.fromCharCode(quote)]
  const texts = values.map((text) => {
    const needsQuotes =
      mark !== null && [comma, mark, '\n', '\r'].some((character) => text.includes(character))
    return needsQuotes ? mark + text.replaceAll(mark, mark + mark) + mark : text
  })
  return Buffer.from(`${texts.join(comma)}\n`)
}
