import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener } from 'node:http'
import { Server as NetServer, type Socket, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { helmetHeaders } from './headers.ts'
import { OpenConnections } from './open-connections.ts'
import { Problem, problemBody, problemRows, type ProblemCode, idHeader } from './problems.ts'
import { addressLengthMax } from './requests.ts'
import { StartError } from '../../core/errors.ts'

/** This server, not Node's parser, has to answer 414 for long addresses. */
const headersBytesMax = 32 * 1024
/** Proxies usually have 60 s: if this server closed first, a request could get lost. */
const keepAliveTimeoutMs = 65_000
/** Time for downloads when the service stops; systemd and containers wait a little longer. */
export const stopWithinMs = 25_000
/** Lets a client read an error before its connection is destroyed. */
const lingerMs = 1000
const checkEveryMs = 1000
const silenceLeastMs = 60_000

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly log: Log
  readonly connectionsMax: number
  readonly headersTimeoutMs: number
  /** A connection has no traffic until a response begins, so its timeout must exceed this time. */
  readonly longestAnswerMs: number
  /** Takes connections that the primary process accepts; absent if this process listens itself. */
  readonly receive?: (onConnection: (socket: Socket) => void) => void
}

export interface Listening {
  readonly connections: () => number
  readonly stopListening: () => Promise<void>
  /**
   * Finishes running requests, accepts no new ones, and returns when all connections are closed.
   * @param withinMs time until they are cut off; a later call can shorten it
   */
  readonly stop: (withinMs?: number) => Promise<void>
}

/** @throws StartError if the port is in use, or the host is no address of this machine */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const { host, port, log, longestAnswerMs, headersTimeoutMs } = options
  const connections = new OpenConnections()
  const answer: RequestListener = (req, res) => {
    connections.inTurn(req.socket, res, () => app(req, res))
  }
  const server = createServer(
    {
      maxHeaderSize: headersBytesMax,
      headersTimeout: headersTimeoutMs,
      // Small bodies need no more time than headers.
      requestTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkEveryMs,
      // Node would answer a missing Host with a bare 400; requests.ts answers with a problem document.
      requireHostHeader: false,
    },
    answer,
  )
  server.maxConnections = options.connectionsMax
  server.keepAliveTimeout = keepAliveTimeoutMs
  server.timeout = Math.max(silenceLeastMs, 2 * longestAnswerMs)
  server.on('connection', (socket: Socket) => connections.opened(socket))
  // The server ignores values of `Expect` other than 100-continue.
  server.on('checkExpectation', answer)
  // After a parser error, the body never arrives: a request that waits for it is refused.
  const refuseWithoutBody = async (error: ParserError, socket: Duplex): Promise<void> => {
    await setImmediate()
    if (connections.isAwaitingBody(socket)) answerUnreadable(error, socket, log)
  }
  server.on('clientError', (error: ParserError, socket) => {
    // While earlier requests run, invalid bytes close the connection only after the responses.
    if (connections.isAnswering(socket)) {
      connections.endAfterAnswers(socket)
      void refuseWithoutBody(error, socket)
    }
    // The request of a broken body is already answered.
    else if (connections.isInBody(socket)) socket.destroy()
    else answerUnreadable(error, socket, log)
  })
  const acceptConnection = (socket: Socket): void => {
    if (connections.size >= options.connectionsMax) socket.destroy()
    else server.emit('connection', socket)
  }
  if (options.receive === undefined) await bind(server, port, host)
  else options.receive(acceptConnection)
  const stopListening = async (): Promise<void> => {
    // Accept pending connections first.
    await setImmediate()
    // `close` of http drops responses that are written but not sent yet.
    if (server.listening) NetServer.prototype.close.call(server)
  }
  return {
    connections: () => connections.size,
    stopListening,
    stop: async (withinMs = stopWithinMs) => {
      await stopListening()
      const deadline = setTimeout(() => connections.destroyAll(), withinMs)
      await connections.endAll()
      clearTimeout(deadline)
      server.closeAllConnections()
    },
  }
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

const parserProblems: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: [
    'headers-too-large',
    `The headers of a request may have at most ${headersBytesMax} bytes.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive in time.'],
}

const protectiveHeaders = helmetHeaders()

/** Node's parser gives no request object, so the client is not counted. */
function answerUnreadable(error: ParserError, socket: Duplex, log: Log): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [code, detail] = isLongAddress(error)
    ? (['address-too-long', `The address is longer than ${addressLengthMax} characters.`] as const)
    : (parserProblems[error.code ?? ''] ?? (['malformed-request', 'The request is not HTTP/1.1.'] as const))
  const id = randomUUID()
  const body = problemBody(new Problem(code, detail), `urn:uuid:${id}`)
  const { status, title } = problemRows[code]
  log.info({ id, status, code: error.code }, 'unreadable request')
  setTimeout(() => socket.destroy(), lingerMs).unref()
  const headers = [
    ...protectiveHeaders,
    ['Connection', 'close'],
    ['Content-Type', 'application/problem+json'],
    ['Cache-Control', 'no-store'],
    [idHeader, id],
    ['Content-Length', Buffer.byteLength(body)],
  ]
  const lines = headers.map(([name, value]) => `${String(name)}: ${String(value)}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${body}`)
}

function isLongAddress({ code, rawPacket }: ParserError): boolean {
  return (
    code === 'HPE_HEADER_OVERFLOW' &&
    rawPacket !== undefined &&
    !rawPacket.subarray(0, addressLengthMax).includes('\n')
  )
}

/**
 * @param setting name of the setting of the port
 * @throws StartError if the port is in use, or the host is no address of this machine
 */
export async function bind(server: Server, port: number, host: string, setting = 'PORT'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason =
        cause.code === 'EADDRINUSE' ? `the port is in use; set ${setting} to another` : cause.message
      reject(new StartError(`cannot listen on ${host}:${port}: ${reason}`, { cause }))
    })
    server.listen(port, host, resolve)
  })
}

/** Holds requests until an app is set. */
export class StartupGate {
  #app: RequestListener | null = null
  readonly #waiting: Parameters<RequestListener>[] = []

  readonly answer: RequestListener = (req, res) => {
    if (this.#app === null) this.#waiting.push([req, res])
    else this.#app(req, res)
  }

  /** Passes waiting requests on, except those of disconnected clients. */
  open(app: RequestListener): void {
    this.#app = app
    for (const [req, res] of this.#waiting.splice(0)) if (!res.destroyed) app(req, res)
  }
}
