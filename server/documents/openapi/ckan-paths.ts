import { summaries } from '../ckan/actions.ts'
import { sortable } from '../ckan/query.ts'
import type { Json } from '../description.ts'
import { operations } from './operations.ts'
import { jsonOf, problemAnswers, ref, unchanged } from './responses.ts'

const count = { type: 'string', pattern: '^[0-9]{0,9}$' } as const
const text = { type: 'string' } as const
const key = `(${sortable.join('|')})( (asc|desc))?`
const sort = { type: 'string', pattern: `^(${key}(, ?${key})*)?$` } as const

const actionRows = {
  package_list: [
    { limit: count, offset: count },
    summaries.package_list,
    { type: 'array', items: { type: 'string' } },
  ],
  package_show: [{ id: { type: 'string', minLength: 1 } }, summaries.package_show, { type: 'object' }],
  package_search: [
    { q: text, fq: text, rows: count, start: count, sort },
    summaries.package_search,
    {
      type: 'object',
      properties: { count: { type: 'integer' }, results: { type: 'array', items: { type: 'object' } } },
      required: ['count', 'results'],
    },
  ],
  status_show: [{}, summaries.status_show, { type: 'object' }],
  site_read: [{}, summaries.site_read, { type: 'boolean' }],
  help_show: [{ name: { type: 'string', minLength: 1 } }, summaries.help_show, text],
} as const satisfies Record<string, ActionRow>

type Examples = Readonly<Record<string, string | undefined>>

type ActionRow = readonly [takes: Readonly<Record<string, Json>>, summary: string, result: Json]

const requiredParameters = new Set(['id', 'name'])

/** Each action's path with and without a version: clients use both. */
export function ckanPaths(dataset: string | undefined): Json {
  const examples: Examples = { id: dataset, name: 'package_show' }
  const rows = Object.entries<ActionRow>(actionRows).flatMap(([action, row]) =>
    ['/api/3/action', '/api/action'].map((folder, index) => [
      `${folder}/${action}`,
      pathItem(index === 0 ? action : `${action}-unversioned`, examples, ...row),
    ]),
  )
  return Object.fromEntries(rows) as Json
}

function pathItem(
  id: string,
  examples: Examples,
  parameterSchemas: Readonly<Record<string, Json>>,
  summary: string,
  result: Json,
): Json {
  const answers = {
    200: actionAnswer('The result.', true, { result }, ['result']),
    304: unchanged,
    400: withProblemFormats(actionAnswer('The request is malformed.', false, { error: fault }, ['error'])),
    404: actionAnswer('There is no such dataset or action.', false, { error: fault }, ['error']),
    409: actionAnswer('A value is invalid.', false, { error: fault }, ['error']),
  }
  const responses = { ...problemAnswers([]), ...answers }
  const parameters = Object.entries(parameterSchemas).map(([name, schema]) => ({
    name,
    in: 'query',
    schema,
    ...(requiredParameters.has(name) && { required: true }),
    ...(examples[name] !== undefined && { example: examples[name] }),
  }))
  const readOperations = operations({
    id: `ckan-${id}`,
    tag: 'CKAN',
    summary,
    parameters,
    answers: responses,
  })
  const bodyProperties = Object.entries(parameterSchemas).map(
    ([name, schema]) => [name, inBody(schema)] as const,
  )
  const schema = { type: 'object', properties: Object.fromEntries(bodyProperties) }
  return {
    ...readOperations,
    post: {
      operationId: `ckan-${id}-post`,
      tags: ['CKAN'],
      summary,
      requestBody: { content: { 'application/json': { schema } } },
      responses,
    },
  }
}

function inBody(schema: Json): Json {
  const orNull = { ...schema, type: [schema['type'], 'null'] }
  if (schema !== count) return orNull
  return { oneOf: [orNull, { type: 'integer', minimum: 0, maximum: 999_999_999 }] }
}

const ownHeaders = ['Acervo-Notice', 'Cache-Control', 'ETag', 'RateLimit', 'RateLimit-Policy', 'X-Request-Id']

const fault: Json = {
  type: 'object',
  properties: { __type: { type: 'string' }, message: { type: 'string' } },
  required: ['__type', 'message'],
}

function actionAnswer(
  description: string,
  success: boolean,
  properties: Readonly<Record<string, Json>>,
  required: readonly string[],
): Json {
  const schema = {
    type: 'object',
    properties: { help: { type: 'string', format: 'uri' }, success: { const: success }, ...properties },
    required: ['help', 'success', ...required],
    additionalProperties: false,
  }
  return {
    description,
    headers: Object.fromEntries(ownHeaders.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    content: { 'application/json': { schema } },
  }
}

/** Requests that cannot be parsed get a problem, not a CKAN error. */
function withProblemFormats(response: Json): Json {
  const { content } = response as { content: Json }
  const { 'text/html': html } = jsonOf({})
  return {
    ...response,
    content: { ...content, 'application/problem+json': { schema: ref('Problem') }, 'text/html': html },
  }
}
