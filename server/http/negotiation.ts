import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { Problem, unacceptableParameters } from './problems.ts'

/** The representations on offer, the first one preferred. */
const formats = [{ name: 'json', mediaType: 'application/json' }] as const

export const mediaTypes: readonly string[] = formats.map((format) => format.mediaType)

/**
 * Chooses by `format=`, which wins, or by `Accept`. With one representation there is only yes or no.
 *
 * @throws Problem invalid-parameter or not-acceptable with the list of what is offered
 */
export function negotiate(headers: IncomingHttpHeaders, format: string | undefined): void {
  const names = formats.map(({ name }) => name)
  if (format === undefined) {
    const negotiator = new Negotiator({ headers: { accept: withoutParameters(headers.accept) } })
    if (negotiator.mediaTypes(mediaTypes).length > 0) return
    const offered = mediaTypes.join(', ')
    throw new Problem('not-acceptable', `The Accept header excludes what is offered here: ${offered}.`)
  }
  if (names.some((name) => name === format)) return
  const message = `The parameter "format" must be one of: ${names.join(', ')}.`
  throw unacceptableParameters([{ parameter: 'format', message }])
}

// Clients send `application/json; charset=utf-8`, and the ancestor's `; indent=4`: only the weight decides.
function withoutParameters(accept: string | undefined): string {
  return (accept || '*/*').replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, '')
}
