import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { malformedAddress, Problem } from './problems.ts'

/** RFC 9110 asks for at least 8,000; ours fit with room to spare. */
export const addressLengthMax = 8000

/** @throws Problem malformed-request for what HTTP forbids, address-too-long */
export function requireSound({ rawHeaders, httpVersion, url = '' }: IncomingMessage): void {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 'host'.length && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    throw new Problem('malformed-request', 'An HTTP/1.1 request has one Host header.')
  }
  if (url.length > addressLengthMax) {
    throw new Problem('address-too-long', `The address is longer than ${addressLengthMax} characters.`)
  }
}

/** Refuses addresses that cannot be decoded, whatever they lead to. */
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
