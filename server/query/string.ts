import { didYouMean } from '../../core/nearest.ts'
import { InvalidQuery, MalformedQuery, type ParameterError } from './errors.ts'
import { shorten } from '../../core/shorten.ts'

/** Query parameters by name, decoded; an empty value (left by web forms) is not there. */
export type QueryParameters = ReadonlyMap<string, string>

/**
 * Reads the query of a request target strictly.
 *
 * @param target path and query as they came
 * @param known names that may have a value here
 * @throws MalformedQuery, or InvalidQuery naming each unknown or repeated parameter
 */
export function parseQuery(target: string, known: readonly string[]): QueryParameters {
  const query = new Map<string, string>()
  const errors: ParameterError[] = []
  for (const [name, value] of parametersOf(target)) {
    if (value === '' && known.includes(name)) continue
    if (!known.includes(name)) errors.push({ parameter: name, message: unknownParameter(name, known) })
    else if (query.has(name)) errors.push({ parameter: name, message: repeatedParameter(name) })
    query.set(name, value)
  }
  if (errors.length > 0) throw new InvalidQuery(errors)
  return query
}

/**
 * The parameters of a request target, decoded, in their order.
 *
 * @throws MalformedQuery
 */
export function parametersOf(target: string): [name: string, value: string][] {
  const start = target.indexOf('?')
  const pairs = start === -1 ? [] : target.slice(start + 1).split('&')
  return pairs.filter((pair) => pair !== '').map(splitPair)
}

export function repeatedParameter(name: string): string {
  return `The parameter "${name}" is there twice.`
}

function splitPair(pair: string): [string, string] {
  const equals = pair.indexOf('=')
  const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
  return [decoded(name), decoded(value)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw new MalformedQuery(cause)
  }
}

function unknownParameter(name: string, known: readonly string[]): string {
  return `There is no parameter "${shorten(name)}" here${didYouMean(name, known)}; known: ${known.join(', ')}.`
}
