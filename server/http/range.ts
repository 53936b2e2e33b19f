import type { IncomingMessage, ServerResponse } from 'node:http'
import parseRange from 'range-parser'
import { Problem } from './problems.ts'

/** `end` is included, as in HTTP. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Sets headers and status for a body or the requested range, and returns the range to send.
 * @param tag strong tag of the complete body
 * @throws Problem unsatisfiable-range
 */
export function beginRange(
  { headers, method }: IncomingMessage,
  res: ServerResponse,
  tag: string,
  bytes: number,
): ByteRange {
  res.setHeader('Accept-Ranges', 'bytes')
  const isMeant = method === 'GET' && (headers['if-range'] ?? tag) === tag
  const range = isMeant ? requestedRange(headers.range, bytes) : null
  const { start, end } = range ?? { start: 0, end: bytes - 1 }
  if (range !== null) {
    res.statusCode = 206
    res.setHeader('Content-Range', `bytes ${start}-${end}/${bytes}`)
  }
  res.setHeader('Content-Length', end - start + 1)
  return { start, end }
}

/**
 * Null means the complete body: without a header, for another unit, or several ranges with gaps.
 * @throws Problem unsatisfiable-range
 */
export function requestedRange(header: string | undefined, bytes: number): ByteRange | null {
  // A suffix longer than the body selects all of it (RFC 9110, section 14.1.2), but the library finds no
  // range.
  const clamped = header?.replaceAll(
    /([=,]\s*)-(\d+)/g,
    (_, before: string, length: string) => `${before}-${Math.min(Number(length), bytes)}`,
  )
  const ranges = clamped === undefined ? -2 : parseRange(bytes, clamped, { combine: true })
  if (ranges === -1) {
    throw new Problem('unsatisfiable-range', `It has ${bytes} bytes, none of them in the requested range.`, {
      headers: { 'Content-Range': `bytes */${bytes}` },
    })
  }
  const [range = null, second] = ranges === -2 || ranges.type !== 'bytes' ? [] : ranges
  return second === undefined ? range : null
}
