import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { didYouMean } from '../../core/nearest.ts'
import { Problem, unacceptableParameters } from './problems.ts'

/** A representation on offer. */
export interface Offer {
  /** As in `format=`. */
  readonly name: string
  /** As in `Accept`, without parameters; the first is its own, others lead to it. */
  readonly mediaTypes: readonly [string, ...string[]]
}

export const jsonOffer: Offer = { name: 'json', mediaTypes: ['application/json'] }

/**
 * Chooses by `format=`, which wins, or by `Accept`.
 *
 * @param offers the first one preferred
 * @throws Problem invalid-parameter or not-acceptable with the list of what is offered
 */
export function negotiate<T extends Offer>(
  headers: IncomingHttpHeaders,
  format: string | undefined,
  offers: readonly [T, ...T[]],
): T {
  if (format !== undefined) {
    const named = offers.find(({ name }) => name === format)
    if (named !== undefined) return named
    const names = offers.map(({ name }) => name)
    const message = `The parameter "format" must be one of: ${names.join(', ')}${didYouMean(format, names)}.`
    throw unacceptableParameters([{ parameter: 'format', message }])
  }
  const accepted = acceptable(headers, offers)
  if (accepted !== undefined) return accepted
  const offered = offers.map(({ name, mediaTypes: [own] }) => `${own} (format=${name})`).join(', ')
  throw new Problem('not-acceptable', `The Accept header excludes what is offered here: ${offered}.`)
}

/** What `Accept` alone would choose; undefined where it excludes all. */
export function acceptable<T extends Offer>(
  { accept }: IncomingHttpHeaders,
  offers: readonly [T, ...T[]],
): T | undefined {
  if (accept === undefined || accept === '' || accept === '*/*') return offers[0]
  const negotiator = new Negotiator({ headers: { accept: withoutParameters(accept) } })
  const best = bestOf(negotiator, offers)
  if (best === undefined) return undefined
  // A wildcard alone selects the default: `application/json;q=0.9, */*` means JSON, not CSV.
  const named = negotiator.mediaTypes()
  const isNamed = best.mediaTypes.some((type) => named.includes(type))
  return isNamed ? best : (bestOf(negotiator, [offers[0]]) ?? best)
}

function bestOf<T extends Offer>(negotiator: Negotiator, offers: readonly T[]): T | undefined {
  const [best] = negotiator.mediaTypes(offers.flatMap(({ mediaTypes }) => mediaTypes))
  return offers.find(({ mediaTypes }) => mediaTypes.some((type) => type === best))
}

/** Media types that `Accept` names, the preferred one first, without those it refuses. */
export function acceptedTypes({ accept = '' }: IncomingHttpHeaders): string[] {
  return accept === ''
    ? []
    : new Negotiator({ headers: { accept: withoutParameters(accept) } })
        .mediaTypes()
        .map((type) => type.toLowerCase())
}

// Clients send `application/json; charset=utf-8`, and the ancestor's `; indent=4`: only the weight decides.
function withoutParameters(accept: string): string {
  return accept.replaceAll(/;(?!\s*q\s*=)[^;,]*/gi, '')
}
