import type { ServerResponse } from 'node:http'

export const jsonType = 'application/json'

/**
 * Sends 200 with exactly this Content-Type (spec: What the service does 3; Express would add a charset). The pieces are
 * sent one after the other, uncopied; to HEAD only the headers go.
 *
 * @returns the length of the body in bytes
 */
export function sendBytes(
  res: ServerResponse,
  mediaType: string,
  pieces: readonly (string | Uint8Array)[],
): number {
  const body = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  const length = body.reduce((sum, piece) => sum + piece.length, 0)
  res.setHeader('Content-Type', mediaType)
  res.setHeader('Content-Length', length)
  if (res.req.method === 'HEAD') {
    res.end()
    return 0
  }
  const last = body.pop()
  for (const piece of body) res.write(piece)
  res.end(last)
  return length
}

export function sendText(res: ServerResponse, text: string): void {
  const body = Buffer.from(text)
  res.setHeader('Content-Type', 'text/plain; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}
