import type { IncomingMessage, ServerResponse } from 'node:http'
import send from 'send'
import { whenOver } from './over.ts'
import { Problem } from './problems.ts'
import type { Unsent } from './unsent.ts'

/** A file that never changes under its name. */
export interface ServedFile {
  /** Absolute folder of the file; no part of it is a reader's word. */
  readonly folder: string
  readonly file: string
  readonly mediaType: string
  /** SHA-256 of its bytes. */
  readonly sha256: string
  readonly cacheControl: string
  /** HTTP date. */
  readonly lastModified: string
  /** What it is called when it is saved. */
  readonly saveAs: string
}

/** What one transfer holds in memory, about: what was read ahead, and what the connection has not taken. */
const bufferBytes = 200_000

/**
 * Sends a file as it lies on disk: whole, a range of it, or 304. Resolves when the reader has it or has gone.
 *
 * @param unsent counts what the reader has not taken, and cuts off one who takes too little
 * @throws Problem unsatisfiable-range or overloaded
 */
export async function sendFile(
  req: IncomingMessage,
  res: ServerResponse,
  served: ServedFile,
  unsent: Unsent,
): Promise<void> {
  unsent.requireRoom()
  res.setHeader('ETag', `"${served.sha256.slice(0, 32)}"`)
  res.setHeader('Content-Type', served.mediaType)
  res.setHeader('Cache-Control', served.cacheControl)
  res.setHeader('Last-Modified', served.lastModified)
  res.setHeader('Content-Disposition', `attachment; filename="${served.saveAs}"`)
  await new Promise<void>((resolve, reject) => {
    whenOver(res, resolve)
    if (req.method === 'GET') unsent.follow(res, bufferBytes)
    send(req, `/${encodeURIComponent(served.file)}`, {
      root: served.folder,
      cacheControl: false,
      lastModified: false,
      dotfiles: 'deny',
      index: false,
    })
      .on('error', (error: Error & { statusCode?: number; headers?: Record<string, string> }) => {
        for (const name of ['ETag', 'Content-Type', 'Last-Modified', 'Content-Disposition'])
          res.removeHeader(name)
        if (error.statusCode !== 416) reject(error)
        else {
          const range = error.headers?.['Content-Range'] ?? ''
          const size = range.slice(range.indexOf('/') + 1)
          reject(
            new Problem(
              'unsatisfiable-range',
              `The file has ${size} bytes, and none in the range asked for.`,
              {
                headers: { 'Content-Range': range },
              },
            ),
          )
        }
      })
      .pipe(res)
  })
}
