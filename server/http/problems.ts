import type { ParameterError } from '../query/errors.ts'
import type { ServerResponse } from 'node:http'
import type { Log } from '../base/log.ts'

interface ProblemRow {
  readonly status: number
  readonly title: string
  /** Type registered by IANA, if there is one. */
  readonly type?: string
}

/**
 * Every error, by code. `type` of problem details (RFC 9457) ends with the code, unless IANA registers one.
 * Codes never change their meaning.
 */
export const problemRows = {
  'malformed-address': { status: 400, title: 'Malformed address' },
  'invalid-parameter': { status: 400, title: 'Invalid query parameter' },
  'malformed-request': { status: 400, title: 'Malformed request' },
  'unknown-address': { status: 404, title: 'Unknown address' },
  'unknown-dataset': { status: 404, title: 'There is no such dataset' },
  'unknown-table': { status: 404, title: 'There is no such table' },
  'invalid-page': { status: 404, title: 'There is no such page' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No acceptable representation' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  'snapshot-gone': { status: 410, title: 'The snapshot is not kept any more' },
  'address-too-long': { status: 414, title: 'The address is too long' },
  'unsatisfiable-range': { status: 416, title: 'The file does not have that range' },
  'query-too-costly': { status: 422, title: 'Query too costly' },
  'page-too-large': { status: 422, title: 'Page too large' },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  },
  'headers-too-large': { status: 431, title: 'Request headers too large' },
  'internal-error': { status: 500, title: 'Internal error of the service' },
  starting: { status: 503, title: 'The service is starting' },
  'not-published': { status: 503, title: 'The table is not published yet' },
  'damaged-files': { status: 503, title: 'The files of the table are damaged' },
  'files-elsewhere': { status: 503, title: 'The files of the table are not available now' },
  overloaded: { status: 503, title: 'The service is overloaded' },
  'query-timeout': { status: 503, title: 'The query took too long' },
  'http-version': { status: 505, title: 'This needs a newer version of HTTP' },
} as const satisfies Record<string, ProblemRow>

export type ProblemCode = keyof typeof problemRows
export const problemCodes = Object.keys(problemRows) as readonly ProblemCode[]

export interface WholeTable {
  readonly file: { readonly address: string; readonly bytes: number; readonly sha512: string }
  readonly duckdb: string
}

interface ProblemExtras {
  readonly errors?: readonly ParameterError[]
  readonly members?: Readonly<Record<string, unknown>>
  /** Whole table that the body offers instead. */
  readonly wholeTable?: WholeTable
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response; `detail` explains it to the client. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly extras: ProblemExtras

  constructor(code: ProblemCode, detail: string, extras: ProblemExtras = {}) {
    super(detail)
    this.name = 'Problem'
    this.code = code
    this.extras = extras
  }
}

/** A client sees further errors at its next attempt. */
const errorsListedMax = 20

export function unacceptableParameters(errorList: readonly ParameterError[]): Problem {
  const errors = errorList.slice(0, errorsListedMax)
  const overflow =
    errorList.length > errors.length ? [`Further errors: ${errorList.length - errors.length}.`] : []
  const detail = [...errors.map((error) => error.message), ...overflow].join(' ')
  return new Problem('invalid-parameter', detail, { errors })
}

const retryAfterSeconds = 5

export function busy(code: 'overloaded' | 'query-timeout', reason: string): Problem {
  return new Problem(code, `${reason} Try again in ${retryAfterSeconds} s.`, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

/** The service has not loaded its data yet. */
export function starting(): Problem {
  return new Problem('starting', 'The service is starting; /readyz shows its progress.', {
    headers: { 'Retry-After': '1' },
  })
}

/** A retry is served from an intact snapshot if there is one. */
export function damagedFiles(table: string): Problem {
  const detail = `The files of ${table} are damaged, or changed after they were published, and are being checked. Try again in ${retryAfterSeconds} s.`
  return new Problem('damaged-files', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

export function filesElsewhere(): Problem {
  const detail = `The files for this response are not on this server, and cannot be fetched now. Try again in ${retryAfterSeconds} s.`
  return new Problem('files-elsewhere', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

/** @param wholeFile address of a file with all rows, better for many rows; null if there is none */
export function queryTooCostly(reason: string, wholeFile: string | null): Problem {
  if (wholeFile === null) return new Problem('query-too-costly', reason)
  return new Problem('query-too-costly', `${reason} All rows are in one file: ${wholeFile}.`, {
    headers: { Link: `<${wholeFile}>; rel="alternate"; type="application/gzip"` },
  })
}

/** @param instance id in the log */
export function problemBody({ code, message, extras }: Problem, instance?: string): string {
  const { status, title } = problemRows[code]
  return JSON.stringify({
    type: typeOf(code),
    title,
    status,
    detail: message,
    ...(instance !== undefined && { instance }),
    ...(extras.errors && {
      errors: extras.errors.map((error) => ({ parameter: error.parameter, message: error.message })),
    }),
    ...extras.members,
    ...extras.wholeTable,
  })
}

export function typeOf(code: ProblemCode): string {
  const row: ProblemRow = problemRows[code]
  return row.type ?? `urn:acervo:problem:${code}`
}

export interface ProblemFormat {
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: (problem: Problem, instance: string) => string
}

const jsonFormat: ProblemFormat = { mediaType: 'application/problem+json', headers: {}, text: problemBody }

/** An error that is no Problem is a bug: it is logged, and the client sees no details. */
export function answerProblem(
  error: unknown,
  res: ServerResponse,
  log: Log,
  form: ProblemFormat = jsonFormat,
): void {
  // Work that stopped because its client disconnected is no bug.
  if ((res.destroyed || res.req.socket.destroyed) && isAbort(error)) return
  const problem = error instanceof Problem ? error : asProblem(error)
  if (problem.code === 'internal-error') log.error({ id: requestId(res), err: error }, 'failed')
  if (res.headersSent) res.destroy()
  else sendProblem(res, problem, form)
}

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError'
}

const ofAnswers = [
  'Accept-Ranges',
  'Acervo-Count',
  'Acervo-Hint',
  'Acervo-Rows',
  'Acervo-Snapshot',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Link',
  'Trailer',
]

function sendProblem(
  res: ServerResponse,
  problem: Problem,
  { mediaType, headers, text }: ProblemFormat,
): void {
  const body = Buffer.from(text(problem, `urn:uuid:${requestId(res)}`))
  // Remove the headers of the intended response.
  for (const name of ofAnswers) res.removeHeader(name)
  res.statusCode = problemRows[problem.code].status
  res.setHeader('Content-Type', mediaType)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('Content-Length', body.length)
  for (const [name, value] of Object.entries(problem.extras.headers ?? {})) res.setHeader(name, value)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/** Express throws a URIError when it cannot decode an address. */
function asProblem(error: unknown): Problem {
  if (error instanceof URIError) return new Problem('malformed-address', malformedAddress)
  return new Problem(
    'internal-error',
    'The service failed; its operator can find the reason in its log by the id of this error.',
  )
}

export const malformedAddress = 'The address has a % that does not start a UTF-8 escape such as %20.'

export const idHeader = 'X-Request-Id'

function requestId(res: ServerResponse): string {
  return String(res.getHeader(idHeader))
}
