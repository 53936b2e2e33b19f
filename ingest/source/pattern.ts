/**
 * Whether a name is meant by a pattern, in which * stands for any part of a name and all else for itself. Hidden files,
 * whose names start with a point, only where the pattern does too.
 */
export function matches(pattern: string, name: string): boolean {
  if (name.startsWith('.') && !pattern.startsWith('.')) return false
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(name)
}
