/** A name from the catalog as an SQL identifier. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** A constant of ours (a path, a name from the catalog) as an SQL text; values of readers are parameters. */
export function quotedText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** A key of an order; nulls are placed explicitly, since DuckDB's default could change under us. */
export function orderTerm(
  { field, direction }: { readonly field: string; readonly direction: 'asc' | 'desc' },
  column: (field: string) => string = quotedName,
): string {
  return `${column(field)} ${direction} nulls last`
}

/**
 * SQL: a text without regard to case and accents: decomposed, its combining marks taken away, in lower case. What is
 * looked for is folded by the same expression, so that both agree on every character.
 */
export function foldedSql(text: string): string {
  return `lower(strip_accents(${text}))`
}

/** SQL: a text as a value of CSV (RFC 4180); null is nothing, and an empty text is quoted. */
export function quotedCsv(text: string, delimiter: ',' | ';'): string {
  // One by one, which is faster than a pattern.
  const signs = [`'${delimiter}'`, `'"'`, 'chr(10)', 'chr(13)'].map((sign) => `contains(${text}, ${sign})`)
  return `case when ${text} = '' or ${signs.join(' or ')} then '"' || replace(${text}, '"', '""') || '"' else ${text} end`
}
