import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler } from 'express'
import { malformedAddress, Problem, idHeader } from './problems.ts'
import { randomUUID } from 'node:crypto'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import { anonymize, type ClientOf } from './client.ts'
import { accountFor } from './limits.ts'

/** RFC 9110 recommends at least 8,000 characters. */
export const addressLengthMax = 8000

/** @throws Problem malformed-request or address-too-long */
export function requireWellFormed({ rawHeaders, httpVersion, url = '' }: IncomingMessage): void {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 'host'.length && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw new Problem('malformed-request', 'An HTTP/1.1 request must have exactly one Host header.')
  }
  if (url.length > addressLengthMax) {
    throw new Problem('address-too-long', `The address is longer than ${addressLengthMax} characters.`)
  }
}

export const requireDecodable: RequestHandler = (req, _res, next) => {
  next(isDecodable(req.originalUrl) ? undefined : new Problem('malformed-address', malformedAddress))
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Logs one line per request: without headers, and with an anonymized address. */
export function logRequests(
  log: Log,
  clientOf: ClientOf,
  meter: Meter | null,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const started = performance.now()
    const id = randomUUID()
    // Copies the address before Express changes `req.url`.
    const { method, url } = req
    res.setHeader(idHeader, id)
    // Reads the client's address now: it is unknown after the connection closes.
    const client = log.isLevelEnabled('info') ? anonymize(clientOf(req)) : ''
    res.once('close', () => {
      const ms = Math.round(performance.now() - started)
      const { route, countsAs } = accountFor(res)
      meter?.answered({ route, countsAs, status: res.statusCode }, performance.now() - started)
      const ending = res.writableFinished ? 'answered' : 'client went away'
      log.info({ id, client, method, url, status: res.statusCode, ms }, ending)
    })
  }
}
