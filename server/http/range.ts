import type { IncomingMessage, ServerResponse } from 'node:http'
import parseRange from 'range-parser'
import { Problem } from './problems.ts'

/** Range of bytes; `end` is included, as in HTTP. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Sets the headers and status of a body or its requested range, and returns the range.
 * @param tag strong tag of the complete body
 * @throws Problem unsatisfiable-range
 */
export function rangeOf(
  { headers, method }: IncomingMessage,
  res: ServerResponse,
  tag: string,
  bytes: number,
): ByteRange {
  res.setHeader('Accept-Ranges', 'bytes')
  const isAsked = method === 'GET' && headers.range !== undefined && (headers['if-range'] ?? tag) === tag
  const ranges = isAsked ? parseRange(bytes, headers.range ?? '') : -2
  if (ranges === -1) {
    throw new Problem('unsatisfiable-range', `It has ${bytes} bytes, none of them in the requested range.`, {
      headers: { 'Content-Range': `bytes */${bytes}` },
    })
  }
  // Several ranges are answered by the complete body.
  const [range, other] = ranges === -2 || ranges.type !== 'bytes' ? [] : ranges
  const sentRange = range === undefined || other !== undefined ? { start: 0, end: bytes - 1 } : range
  if (range !== undefined && other === undefined) {
    res.statusCode = 206
    res.setHeader('Content-Range', `bytes ${sentRange.start}-${sentRange.end}/${bytes}`)
  }
  res.setHeader('Content-Length', sentRange.end - sentRange.start + 1)
  return sentRange
}
