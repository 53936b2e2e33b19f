import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import { pino, type DestinationStream, type Logger } from 'pino'
import type { LogLevel } from '../../core/settings.ts'

export type Log = Logger

/** JSON lines, on standard output where no other stream is given. */
export function openLog(level: LogLevel, stream?: DestinationStream): Log {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  return stream === undefined ? pino(options) : pino(options, stream)
}

const idHeader = 'X-Request-Id'

/** Gives each request an id and logs one line when it ends, without headers and the client's address. */
export function logRequests(log: Log): RequestHandler {
  return (req, res, next) => {
    const started = performance.now()
    res.setHeader(idHeader, randomUUID())
    res.once('close', () => {
      const ms = Math.round(performance.now() - started)
      const { method, originalUrl: url } = req
      const ending = res.writableFinished ? 'answered' : 'client went away'
      log.info({ id: requestId(res), method, url, status: res.statusCode, ms }, ending)
    })
    next()
  }
}

/** The id of a request, in its log line and as the `instance` of its problem. */
export function requestId(res: Response): string {
  return String(res.getHeader(idHeader))
}
