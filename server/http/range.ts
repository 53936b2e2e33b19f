import type { IncomingMessage, ServerResponse } from 'node:http'
import parseRange from 'range-parser'
import { Problem } from './problems.ts'

export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Sets headers and status for a body or the requested range, and returns the range to send.
 * @throws Problem unsatisfiable-range
 */
export function beginRange(
  { headers, method }: IncomingMessage,
  res: ServerResponse,
  strongTag: string,
  bodyLength: number,
): ByteRange {
  res.setHeader('Accept-Ranges', 'bytes')
  const isRangeAllowed = method === 'GET' && (headers['if-range'] ?? strongTag) === strongTag
  const range = isRangeAllowed ? requestedRange(headers.range, bodyLength) : null
  const { start, end } = range ?? { start: 0, end: bodyLength - 1 }
  if (range !== null) {
    res.statusCode = 206
    res.setHeader('Content-Range', `bytes ${start}-${end}/${bodyLength}`)
  }
  res.setHeader('Content-Length', end - start + 1)
  return { start, end }
}

/**
 * Null means the complete body: without a header, for units besides bytes, or for ranges with gaps.
 * @throws Problem unsatisfiable-range
 */
export function requestedRange(header: string | undefined, bodyLength: number): ByteRange | null {
  // A suffix longer than the body selects all of it (RFC 9110, section 14.1.2), but the library finds no
  // range.
  const clamped = header?.replaceAll(
    /([=,]\s*)-(\d+)/g,
    (_, before: string, length: string) => `${before}-${Math.min(Number(length), bodyLength)}`,
  )
  const [unsatisfiable, noRange] = [-1, -2] as const
  const ranges = clamped === undefined ? noRange : parseRange(bodyLength, clamped, { combine: true })
  if (ranges === unsatisfiable) {
    throw new Problem(
      'unsatisfiable-range',
      `It has ${bodyLength} bytes, none of them in the requested range.`,
      {
        headers: { 'Content-Range': `bytes */${bodyLength}` },
      },
    )
  }
  const [range = null, second] = ranges === noRange || ranges.type !== 'bytes' ? [] : ranges
  return second === undefined ? range : null
}
