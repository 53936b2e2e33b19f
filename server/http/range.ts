import type { IncomingMessage, ServerResponse } from 'node:http'
import parseRange from 'range-parser'
import { Problem } from './problems.ts'

/** Bytes that are wanted, `end` included, as in HTTP. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Says how much comes of so many bytes, and which part of them where one is asked for.
 *
 * @param tag strong, of all the bytes
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
    throw new Problem('unsatisfiable-range', `It has ${bytes} bytes, and none in the range asked for.`, {
      headers: { 'Content-Range': `bytes */${bytes}` },
    })
  }
  // Of several ranges the whole is as good an answer.
  const [range, other] = ranges === -2 || ranges.type !== 'bytes' ? [] : ranges
  const wanted = range === undefined || other !== undefined ? { start: 0, end: bytes - 1 } : range
  if (range !== undefined && other === undefined) {
    res.statusCode = 206
    res.setHeader('Content-Range', `bytes ${wanted.start}-${wanted.end}/${bytes}`)
  }
  res.setHeader('Content-Length', wanted.end - wanted.start + 1)
  return wanted
}
