import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { StartError } from '../../core/errors.ts'
import type { Log } from './logging.ts'
import { Problem, problemBody, problemRows, type ProblemCode } from './problems.ts'
import { addressLengthMax } from './requests.ts'

/** Above the longest address we answer about, so that 414 comes from us with a sentence. */
const headersBytesMax = 32 * 1024
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
/** Longer than the usual 60 s of a proxy in front, which must be the one to close. */
const keepAliveTimeoutMs = 65_000
const stopDeadlineMs = 10_000
const idleSweepMs = 50

export interface Listening {
  /** Answers what has begun, takes nothing new, and returns when all connections are closed. */
  readonly stop: () => Promise<void>
}

/** @throws StartError where the port is taken or the host is not ours, with a sentence */
export async function listen(app: RequestListener, host: string, port: number, log: Log): Promise<Listening> {
  let stopping = false
  const answer: RequestListener = (req, res) => {
    if (stopping) res.setHeader('Connection', 'close')
    app(req, res)
  }
  const server = createServer(
    {
      maxHeaderSize: headersBytesMax,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Node would refuse a request without Host by a bare 400; requests.ts answers it with a problem.
      requireHostHeader: false,
    },
    answer,
  )
  server.keepAliveTimeout = keepAliveTimeoutMs
  // An expectation that we do not know changes nothing about the answer.
  server.on('checkExpectation', answer)
  server.on('clientError', (error, socket) => answerUnreadable(error, socket, log))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const why = cause.code === 'EADDRINUSE' ? 'the port is taken: set PORT to another' : cause.message
      reject(new StartError(`cannot listen on ${host}:${port}, ${why}`, { cause }))
    })
    server.listen(port, host, resolve)
  })
  return {
    stop: () => {
      stopping = true
      return drain(server)
    },
  }
}

/** `close` alone waits for idle connections as long as clients keep them. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs)
  const deadline = setTimeout(() => server.closeAllConnections(), stopDeadlineMs)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
}

interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: Buffer
}

const parserProblems: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  HPE_HEADER_OVERFLOW: [
    'headers-too-large',
    `The headers of a request may have ${headersBytesMax} bytes in all.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not arrive in time.'],
}

/** Answers what Node's parser refuses before there is a request. */
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
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Cache-Control: no-store\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

function isLongAddress({ code, rawPacket }: ParserError): boolean {
  return (
    code === 'HPE_HEADER_OVERFLOW' &&
    rawPacket !== undefined &&
    !rawPacket.subarray(0, addressLengthMax).includes('\n')
  )
}
