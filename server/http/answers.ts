import type { Response } from 'express'

/**
 * Sends 200 with exactly `Content-Type: application/json` (spec: What the service does 3; `res.json` would
 * add a charset). The pieces are sent one after the other, uncopied; to HEAD only the headers go.
 */
export function sendJson(res: Response, pieces: readonly (string | Uint8Array)[]): void {
  const body = pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))
  res.setHeader('Content-Type', 'application/json')
  res.setHeader(
    'Content-Length',
    body.reduce((length, piece) => length + piece.length, 0),
  )
  if (res.req.method !== 'HEAD') {
    res.cork()
    for (const piece of body) res.write(piece)
    res.uncork()
  }
  res.end()
}
