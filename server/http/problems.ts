import type { ParameterError } from '../query/errors.ts'
import type { ServerResponse } from 'node:http'
import type { Log } from '../base/log.ts'

interface ProblemRow {
  readonly status: number
  readonly title: string
  /** Where the world has one for it. */
  readonly type?: string
}

/**
 * Every error that the service answers, one row each: the code ends the `type` of its problem details
 * (RFC 9457), where there is no common one, and is never given another meaning.
 */
export const problemRows = {
  'malformed-address': { status: 400, title: 'The address cannot be decoded' },
  'invalid-parameter': { status: 400, title: 'A query parameter is not right' },
  'malformed-request': { status: 400, title: 'The request cannot be read' },
  'unknown-address': { status: 404, title: 'There is nothing at this address' },
  'unknown-dataset': { status: 404, title: 'There is no such dataset' },
  'unknown-table': { status: 404, title: 'There is no such table' },
  'invalid-page': { status: 404, title: 'There is no such page' },
  'method-not-allowed': { status: 405, title: 'The method is not allowed' },
  'not-acceptable': { status: 406, title: 'No representation is acceptable' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  'snapshot-gone': { status: 410, title: 'The snapshot is not kept any more' },
  'address-too-long': { status: 414, title: 'The address is too long' },
  'unsatisfiable-range': { status: 416, title: 'The file does not have that range' },
  'query-too-costly': { status: 422, title: 'The query is for more than one query may have' },
  'page-too-large': { status: 422, title: 'The page needs too much memory' },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  },
  'headers-too-large': { status: 431, title: 'The request headers are too large' },
  'internal-error': { status: 500, title: 'Something went wrong in the service' },
  starting: { status: 503, title: 'The service is starting' },
  'not-published': { status: 503, title: 'The table is not published yet' },
  'damaged-files': { status: 503, title: 'The files of the table are damaged' },
  'files-elsewhere': { status: 503, title: 'The files of the table are not here now' },
  overloaded: { status: 503, title: 'The service is busy' },
  'query-timeout': { status: 503, title: 'The query took too long' },
  'http-version': { status: 505, title: 'The version of HTTP is too old for this' },
} as const satisfies Record<string, ProblemRow>

export type ProblemCode = keyof typeof problemRows
export const problemCodes = Object.keys(problemRows) as readonly ProblemCode[]

/** What gives a whole table at once, told to a reader who asks too often. */
export interface WholeTable {
  readonly file: { readonly address: string; readonly bytes: number; readonly sha512: string }
  /** A line for a DuckDB client. */
  readonly duckdb: string
}

interface ProblemExtras {
  readonly errors?: readonly ParameterError[]
  /** Members of the body besides those that every problem has. */
  readonly members?: Readonly<Record<string, unknown>>
  /** Told in members of the body too. */
  readonly instead?: WholeTable
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that is not 200, thrown by whoever finds the reason; `detail` is a sentence for the reader. */
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

/** So many are told; a reader who has more of them will ask again. */
const errorsToldMax = 20

export function unacceptableParameters(all: readonly ParameterError[]): Problem {
  const errors = all.slice(0, errorsToldMax)
  const more = all.length > errors.length ? [`There are ${all.length - errors.length} more.`] : []
  const detail = [...errors.map((error) => error.message), ...more].join(' ')
  return new Problem('invalid-parameter', detail, { errors })
}

const retryAfterSeconds = 5

/** The service could do it, but not now; says when to try again. */
export function busy(code: 'overloaded' | 'query-timeout', reason: string): Problem {
  return new Problem(code, `${reason} Try again in ${retryAfterSeconds} s.`, {
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

/** Nothing is loaded yet. */
export function starting(): Problem {
  return new Problem(
    'starting',
    'The service is starting, and answers in a moment; /readyz says how far it is.',
    {
      headers: { 'Retry-After': '1' },
    },
  )
}

/** The rows that were read cannot be trusted; a whole snapshot, where there is one, serves when it is asked for again. */
export function damagedFiles(table: string): Problem {
  const detail = `The files of ${table} are not as they were published, and are being looked at. Try again in ${retryAfterSeconds} s.`
  return new Problem('damaged-files', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

/** What is asked of lies in a store that does not hand it out now. */
export function filesElsewhere(): Problem {
  const detail = `What this asks of is not on this server, and cannot be brought here now. Try again in ${retryAfterSeconds} s.`
  return new Problem('files-elsewhere', detail, { headers: { 'Retry-After': String(retryAfterSeconds) } })
}

/** @param wholeFile address of all rows as one file, which is the better way to so many */
export function queryTooCostly(reason: string, wholeFile: string | null): Problem {
  if (wholeFile === null) return new Problem('query-too-costly', reason)
  return new Problem('query-too-costly', `${reason} All rows are in one file: ${wholeFile}.`, {
    headers: { Link: `<${wholeFile}>; rel="alternate"; type="application/gzip"` },
  })
}

/** The body of a problem; `instance` names this one occurrence, as the log does. */
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
    ...extras.instead,
  })
}

export function typeOf(code: ProblemCode): string {
  const row: ProblemRow = problemRows[code]
  return row.type ?? `urn:acervo:problem:${code}`
}

/** What a problem is written as: JSON for programs, a page for people. */
export interface ProblemForm {
  readonly mediaType: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: (problem: Problem, instance: string) => string
}

const jsonForm: ProblemForm = { mediaType: 'application/problem+json', headers: {}, text: problemBody }

/** The one place where what was thrown becomes a response; what is not a Problem is a bug: logged, not told. */
export function answerProblem(
  error: unknown,
  res: ServerResponse,
  log: Log,
  form: ProblemForm = jsonForm,
): void {
  // What was stopped because its reader has gone is no bug, and nobody is there to be told.
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
  'Acervo-Snapshot',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'Link',
  'Trailer',
]

function sendProblem(res: ServerResponse, problem: Problem, { mediaType, headers, text }: ProblemForm): void {
  const body = Buffer.from(text(problem, `urn:uuid:${requestId(res)}`))
  // What was told of the answer that there should have been.
  for (const name of ofAnswers) res.removeHeader(name)
  res.statusCode = problemRows[problem.code].status
  res.setHeader('Content-Type', mediaType)
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('Content-Length', body.length)
  for (const [name, value] of Object.entries(problem.extras.headers ?? {})) res.setHeader(name, value)
  res.end(res.req.method === 'HEAD' ? undefined : body)
}

/** Express itself throws on an address that it cannot decode. */
function asProblem(error: unknown): Problem {
  if (error instanceof URIError) return new Problem('malformed-address', malformedAddress)
  return new Problem(
    'internal-error',
    'The service failed to answer; the operators find the reason in its log.',
  )
}

export const malformedAddress = 'The address holds a % that does not start a UTF-8 escape such as %20.'

export const idHeader = 'X-Request-Id'

/** The id of a request, in its log line and as the `instance` of its problem. */
function requestId(res: ServerResponse): string {
  return String(res.getHeader(idHeader))
}
