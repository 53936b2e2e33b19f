/**
 * SQL: a text without regard to case and accents: decomposed, its combining marks taken away, in lower case. What is
 * looked for is folded by the same expression, so that both agree on every character.
 */
export function foldedSql(text: string): string {
  return `lower(strip_accents(${text}))`
}
