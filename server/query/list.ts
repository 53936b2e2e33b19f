/**
 * Values between commas, as in a record of a CSV: one that holds a comma or a quote stands in quotes, with quotes in it
 * doubled; `""` is the empty text.
 *
 * @returns null where a quote is out of place, or a value is empty without quotes
 */
export function parseList(text: string): string[] | null {
  const values: string[] = []
  const item = /(?:"((?:[^"]|"")*)"|([^",]+))(,|$)/y
  for (let end = ','; end === ',';) {
    const found = item.exec(text)
    if (found === null) return null
    const [, quoted, plain = '', after = ''] = found
    values.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    end = after
  }
  return values
}

/** The text that `parseList` reads as these values. */
export function formatList(values: readonly string[]): string {
  return values.map((value) => (/[",]|^$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(',')
}
