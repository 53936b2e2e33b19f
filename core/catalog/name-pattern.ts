import { escapedPattern } from '../text.ts'

interface NamePattern {
  readonly fields: readonly string[]
  /** @returns values of the fields; null if the path does not match, `ambiguous` if it matches in two ways */
  readonly read: (place: string) => ReadonlyMap<string, string> | 'ambiguous' | null
}

/** Longest address, in characters: matching several fields takes polynomial time. */
const placeMax = 1024

/** @returns null if the pattern has no field, repeats one, or has no text between two */
export function parseNamePattern(text: string): NamePattern | null {
  const pieces = text.split(/(\{[^{}]*\})/)
  const fields: string[] = []
  let pattern = ''
  let isAfterField = false
  for (const piece of pieces) {
    if (piece === '') continue
    const name = /^\{(.+)\}$/s.exec(piece)?.[1]
    if (name === undefined) {
      if (/[{}]/.test(piece)) return null
      pattern += piece.split('*').map(escapedPattern).join('[^/]*')
      isAfterField = false
      continue
    }
    if (isAfterField || fields.includes(name)) return null
    fields.push(name)
    pattern += '([^/]+)'
    isAfterField = true
  }
  if (fields.length === 0 || text.startsWith('/') || text.split('/').includes('..')) return null
  const greedy = new RegExp(`(?:^|/)${pattern}$`, 's')
  const lazy = new RegExp(
    `(?:^|/)${pattern.replaceAll('([^/]+)', '([^/]+?)').replaceAll('[^/]*', '[^/]*?')}$`,
    's',
  )
  return {
    fields,
    read: (place) => {
      if (place.length > placeMax) return null
      const [longest, shortest] = [greedy.exec(place), lazy.exec(place)]
      if (longest === null || shortest === null) return null
      const values = longest.slice(1)
      if (values.some((value, index) => value !== shortest[index + 1])) return 'ambiguous'
      return new Map(fields.map((name, index) => [name, values[index] ?? '']))
    },
  }
}
