/** A strong validator: the same tag, the same bytes (RFC 9110, section 8.8.3). */
export type EntityTag = `"${string}"`

/**
 * The first of `tags` that an `If-None-Match` names, or null: lists, `*` and weak forms count, as the weak
 * comparison of RFC 9110 (section 13.1.2) wants. A header that is no list of tags names none.
 */
export function matchingTag(ifNoneMatch: string | undefined, tags: readonly EntityTag[]): EntityTag | null {
  if (ifNoneMatch === undefined) return null
  if (ifNoneMatch.trim() === '*') return tags[0] ?? null
  const named: readonly string[] = ifNoneMatch.match(/"[^"]*"/g) ?? []
  return tags.find((tag) => named.includes(tag)) ?? null
}
