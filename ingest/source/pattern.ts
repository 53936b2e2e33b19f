import { wildcard } from '../../core/wildcard.ts'

/**
 * Whether a name is meant by a pattern, in which * stands for any part of a name and all else for itself. Hidden files,
 * whose names start with a point, only where the pattern does too.
 */
export function matches(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false
  return wildcard(pattern)(name)
}
