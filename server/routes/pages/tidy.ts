import type { ServerResponse } from 'node:http'
import { parametersOf } from '../../query/parameters.ts'

/**
 * Leads to the one way in which addresses are written from what forms send, where that is another.
 *
 * @returns whether it did
 */
export function leadToTidy(target: string, res: ServerResponse): boolean {
  const tidy = tidied(target)
  if (tidy === null) return false
  res.statusCode = 303
  // Relative, so it holds behind any proxy.
  res.setHeader('Location', `./${tidy}`)
  res.end()
  return true
}

/** Without what is empty, and with one list of fields; null where it is so already. */
function tidied(target: string): string | null {
  const pairs = parametersOf(target)
  const filled = pairs.filter(([, value]) => value !== '')
  const fields = filled.filter(([name]) => name === 'fields').map(([, value]) => value)
  if (filled.length === pairs.length && fields.length < 2) return null
  const tidy = new URLSearchParams(filled.filter(([name]) => name !== 'fields'))
  if (fields.length > 0) tidy.set('fields', fields.join(','))
  return tidy.size === 0 ? '' : `?${tidy.toString()}`
}
