import { problemRows, typeOf, type ProblemCode } from '../../http/problems.ts'
import type { Json } from '../description.ts'

const codes = Object.keys(problemRows) as ProblemCode[]

const anywhere: readonly ProblemCode[] = [
  'malformed-address',
  'malformed-request',
  'request-timeout',
  'address-too-long',
  'too-many-requests',
  'headers-too-large',
  'internal-error',
  'starting',
  'overloaded',
]

const componentOf = (status: number): string => `problem-${status}`

export function problemAnswers(furtherCodes: readonly ProblemCode[]): Json {
  const statuses = new Set([...anywhere, ...furtherCodes].map((code) => problemRows[code].status))
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => [String(status), { $ref: `#/components/responses/${componentOf(status)}` }]),
  )
}

const schemaNameOf = (status: number): string => `Problem${status}`
const statusesOfAll = [...new Set(codes.map((code) => problemRows[code].status))]
const codesOf = (status: number): ProblemCode[] => codes.filter((code) => problemRows[code].status === status)

export function problemSchemas(): Json {
  return Object.fromEntries(
    statusesOfAll.map((status) => {
      const types = codesOf(status).map(typeOf)
      const properties = {
        ...problemProperties,
        ...(codesOf(status).includes('too-many-requests') && quotaProperties),
        ...(codesOf(status).includes('query-too-costly') && aggregateProperties),
        type: { type: 'string', description: problemProperties.type.description, enum: types },
        status: { type: 'integer', enum: [status] },
      }
      return [schemaNameOf(status), { ...problemSchema, properties }]
    }),
  )
}

export function problemResponses(): Json {
  return Object.fromEntries(
    statusesOfAll.map((status) => {
      const ownCodes = codesOf(status)
      return [
        componentOf(status),
        {
          description: ownCodes.map((code) => `\`${code}\`: ${problemRows[code].title}.`).join(' '),
          headers: {
            ...headerRefs([...commonHeaderNames, 'Cache-Control', 'Link']),
            ...(ownCodes.some((code) => retryableCodes.has(code)) && headerRefs(['Retry-After'])),
          },
          content: {
            'application/problem+json': { schema: ref(schemaNameOf(status)) },
            'text/html': { schema: { type: 'string', description: 'The same content as an HTML page.' } },
          },
        },
      ]
    }),
  )
}

const retryableCodes: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'too-many-requests',
  'starting',
  'not-published',
  'damaged-files',
  'files-elsewhere',
  'overloaded',
  'query-timeout',
])

const problemProperties = {
  type: {
    type: 'string',
    format: 'uri',
    description: '`urn:acervo:problem:` and a stable code, or a type registered by IANA.',
  },
  title: { type: 'string' },
  status: { type: 'integer' },
  detail: { type: 'string', description: 'Explanation: what failed, where, and what to do.' },
  instance: { type: 'string', description: 'Id of this occurrence, also in the log of the service.' },
  errors: {
    type: 'array',
    description: 'All invalid parameters.',
    items: {
      type: 'object',
      properties: { parameter: { type: 'string' }, message: { type: 'string' } },
      required: ['parameter', 'message'],
      additionalProperties: false,
    },
  },
}

const quotaProperties: Json = {
  'violated-policies': {
    type: 'array',
    description: 'Names of the exceeded policies, as in RateLimit-Policy.',
    items: { type: 'string' },
  },
  file: {
    type: 'object',
    description: 'All rows of the table at once.',
    properties: {
      address: { type: 'string', format: 'uri' },
      bytes: { type: 'integer', minimum: 0 },
      sha512: { type: 'string', pattern: '^[0-9a-f]{128}$' },
    },
    required: ['address', 'bytes', 'sha512'],
    additionalProperties: false,
  },
  duckdb: { type: 'string', description: 'The same query for a DuckDB client.' },
}

const aggregateProperties: Json = {
  groups_estimate: {
    type: ['integer', 'null'],
    description: 'Estimated maximum number of groups of an aggregate.',
  },
  cost: { type: 'integer', description: 'Estimated processor time, in ms.' },
  sql: { type: 'string', description: 'The same question for a DuckDB client.' },
}

export const problemSchema: Json = {
  type: 'object',
  description: 'Problem details, RFC 9457.',
  properties: problemProperties,
  required: ['type', 'title', 'status', 'detail'],
  additionalProperties: false,
}

const text = { type: 'string' }

const headerRows = {
  'Acervo-Changes': [
    text,
    'Number of rows of each kind, without conditions: `added=1, removed=0, changed=2`.',
  ],
  'Acervo-Count': [{ type: 'integer', minimum: 0 }, 'Number of rows of the query, over all pages.'],
  'Acervo-Hint': [
    text,
    'Operands that are not values of their field, percent-encoded, with the nearest values and the parameters that find them; or conditions for sums that count rows and totals of them.',
  ],
  'Acervo-Moved': [text, 'Reason for a redirect to another file.'],
  'Acervo-Notice': [text, 'Request to use the API sparingly.'],
  'Acervo-Rows': [
    { type: 'integer', minimum: 0 },
    'Number of rows that the groups cover, before conditions on groups.',
  ],
  'Acervo-Since': [text, 'Earlier snapshot of the changes, for `since=`.'],
  'Acervo-Snapshot': [text, 'Snapshot of the response, for `snapshot=`.'],
  'Cache-Control': [text, 'Time for which caches may reuse the response.'],
  'Content-Disposition': [text, 'Suggested file name.'],
  ETag: [text, 'Strong. Send it in If-None-Match to get 304 at no cost if nothing changed.'],
  'Last-Modified': [text, 'Time of publication of the file, for If-Modified-Since.'],
  Link: [text, 'Links to other pages, other formats and the whole file (RFC 8288).'],
  Location: [text, 'Address of the redirect.'],
  RateLimit: [text, 'Remaining quota of this client in each window of time.'],
  'RateLimit-Policy': [text, 'Quotas of one client.'],
  'Retry-After': [{ type: 'integer', minimum: 0 }, 'Seconds to wait before the next attempt.'],
  'Server-Timing': [text, 'Duration of each step in milliseconds.'],
  'X-Request-Id': [text, 'Id of the request in the log of the service.'],
} as const satisfies Record<string, readonly [Json, string]>

export type HeaderName = keyof typeof headerRows
const commonHeaderNames: readonly HeaderName[] = [
  'Acervo-Notice',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
]
const cachedNames: readonly HeaderName[] = [...commonHeaderNames, 'Cache-Control', 'ETag']

export function headerComponents(): Json {
  return Object.fromEntries(
    Object.entries(headerRows).map(([name, [schema, description]]) => [name, { description, schema }]),
  )
}

function headerRefs(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

export function answer(description: string, content: Json, extraHeaders: readonly HeaderName[] = []): Json {
  return { description, headers: headerRefs([...cachedNames, ...extraHeaders]), content }
}

export function redirect(description: string): Json {
  return {
    description,
    headers: headerRefs([...commonHeaderNames, 'Acervo-Moved', 'Cache-Control', 'Location']),
  }
}

export const unchanged: Json = {
  description: 'Not modified since the copy that If-None-Match names.',
  headers: headerRefs([
    ...cachedNames,
    'Acervo-Changes',
    'Acervo-Count',
    'Acervo-Hint',
    'Acervo-Rows',
    'Acervo-Since',
    'Acervo-Snapshot',
    'Content-Disposition',
    'Last-Modified',
    'Link',
  ]),
}

export const jsonOf = (schema: Json): Json => ({
  'application/json': { schema },
  'text/html': { schema: { type: 'string', description: 'The same content as an HTML page.' } },
})
export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })
