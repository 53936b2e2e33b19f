export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a trusted value as an SQL string. Values of clients must be parameters. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Places nulls explicitly, since DuckDB's default may change. */
export function orderTerm(
  { field, direction }: { readonly field: string; readonly direction: 'asc' | 'desc' },
  column: (field: string) => string = quotedName,
): string {
  return `${column(field)} ${direction} nulls last`
}

/** SQL: formats a text for CSV (RFC 4180); null is empty, an empty text is quoted. */
export function quotedCsv(text: string, delimiter: ',' | ';'): string {
  // Faster than a regular expression.
  const signs = [`'${delimiter}'`, `'"'`, 'chr(10)', 'chr(13)'].map((sign) => `contains(${text}, ${sign})`)
  return `case when ${text} = '' or ${signs.join(' or ')} then '"' || replace(${text}, '"', '""') || '"' else ${text} end`
}
