import { closest, distance } from 'fastest-levenshtein'

/** The known name that a misspelt one most likely meant, or null where none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (known.length === 0 || name.length > 100) return null
  const found = closest(name.toLowerCase(), [...known])
  return distance(name.toLowerCase(), found.toLowerCase()) <=
    (name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 3)))
    ? found
    : null
}

/** ` (did you mean "x"?)`, or nothing where no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const found = nearestName(name, known)
  return found === null ? '' : ` (did you mean "${found}"?)`
}
