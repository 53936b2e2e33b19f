import type { RequestHandler } from 'express'
import { jsonType, sendBytes } from '../http/send.ts'
import type { Readiness } from '../snapshots/readiness.ts'

/** That the process answers at all: what does not should be started anew. */
export function livez(): RequestHandler {
  return async (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    sendBytes(res, jsonType, [JSON.stringify({ status: 'ok' })])
  }
}

/** Whether readers should be sent here: 503 until every published table is loaded, and from the moment it is told to stop. */
export function readyz(readiness: Readiness): RequestHandler {
  return async (_req, res) => {
    const { state, missing } = readiness.now()
    res.setHeader('Cache-Control', 'no-store')
    if (state !== 'ready') {
      res.statusCode = 503
      res.setHeader('Retry-After', 1)
    }
    sendBytes(res, jsonType, [JSON.stringify({ status: state, missing })])
  }
}
