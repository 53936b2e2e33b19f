import type { RequestHandler } from 'express'
import { malformedAddress, Problem } from './problems.ts'

/** RFC 9110 asks for at least 8,000; ours fit with room to spare. */
export const addressLengthMax = 8000

/** Refuses what HTTP forbids, and addresses that are too long or cannot be decoded, whatever they lead to. */
export const checkRequest: RequestHandler = (req, _res, next) => {
  const hosts = req.rawHeaders.filter(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'host',
  ).length
  if (hosts > 1 || (hosts === 0 && req.httpVersion === '1.1')) {
    next(new Problem('malformed-request', 'An HTTP/1.1 request has one Host header.'))
  } else if (req.originalUrl.length > addressLengthMax) {
    next(new Problem('address-too-long', `The address is longer than ${addressLengthMax} characters.`))
  } else if (!isDecodable(req.originalUrl)) {
    next(new Problem('malformed-address', malformedAddress))
  } else next()
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
