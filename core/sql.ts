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
