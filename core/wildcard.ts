/**
 * Returns a test of whole texts against a pattern in which each `*` stands for any characters. Finds each literal at its
 * first place after the one before: a regular expression with several `.*` would take polynomial time.
 */
export function wildcard(pattern: string): (text: string) => boolean {
  const literals = pattern.split('*')
  const [first = '', ...others] = literals
  const last = others.pop()
  if (last === undefined) return (text) => text === first
  const inner = others.filter((literal) => literal !== '')
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    let at = first.length
    for (const literal of inner) {
      const found = text.indexOf(literal, at)
      if (found === -1) return false
      at = found + literal.length
    }
    return at <= text.length - last.length
  }
}

/** The same for names of files: hidden ones, which start with a point, match only a pattern that does too. */
export function fileWildcard(pattern: string): (name: string) => boolean {
  const fits = wildcard(pattern)
  return (name) => fits(name) && (pattern.startsWith('.') || !name.startsWith('.'))
}

/** Escapes a text that stands for itself in a regular expression of JavaScript or RE2. */
export function escapedPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
