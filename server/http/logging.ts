import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import { cutShort, type ClientOf } from './client.ts'
import { accountFor } from './limits.ts'
import { idHeader } from './request-id.ts'

/**
 * Gives a request an id and logs one line when it ends: without headers, and with no more of the client's address than
 * tells one network from another.
 */
export function logRequests(
  log: Log,
  clientOf: ClientOf,
  meter: Meter,
): (req: IncomingMessage, res: ServerResponse) => void {
  return (req, res) => {
    const started = performance.now()
    const id = randomUUID()
    // Express changes the url on the way.
    const { method, url } = req
    res.setHeader(idHeader, id)
    // It is known no more when the connection is gone.
    const client = log.isLevelEnabled('info') ? cutShort(clientOf(req)) : ''
    res.once('close', () => {
      const ms = Math.round(performance.now() - started)
      const { route, countsAs } = accountFor(res)
      meter.answered({ route, countsAs, status: res.statusCode }, performance.now() - started)
      const ending = res.writableFinished ? 'answered' : 'client went away'
      log.info({ id, client, method, url, status: res.statusCode, ms }, ending)
    })
  }
}
