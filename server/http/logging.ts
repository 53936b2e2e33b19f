import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../log.ts'

const idHeader = 'X-Request-Id'

/** Gives a request an id and logs one line when it ends, without headers and the client's address. */
export function logRequests(log: Log): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const started = performance.now()
    const id = randomUUID()
    // Express changes the url on the way.
    const { method, url } = req
    res.setHeader(idHeader, id)
    res.once('close', () => {
      const ms = Math.round(performance.now() - started)
      const ending = res.writableFinished ? 'answered' : 'client went away'
      log.info({ id, method, url, status: res.statusCode, ms }, ending)
    })
  }
}

/** The id of a request, in its log line and as the `instance` of its problem. */
export function requestId(res: ServerResponse): string {
  return String(res.getHeader(idHeader))
}
