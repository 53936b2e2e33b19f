import type { Json, TableView, Writing } from '../view.ts'
import { problemAnswers } from './responses.ts'

interface Operation {
  readonly id: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Json[]
  readonly answers: Json
}

/** GET, HEAD, which answers the same without a body, and OPTIONS. */
export function operations({ id, tags, summary, description, parameters, answers }: Operation): Json {
  const ofPath = parameters.filter((one) => one['in'] === 'path')
  const asked = parameters.length > 0 && { parameters }
  return {
    get: { operationId: id, tags, summary, description, ...asked, responses: answers },
    head: {
      operationId: `${id}-head`,
      tags,
      summary: `${summary}: the headers alone`,
      ...asked,
      responses: Object.fromEntries(
        Object.entries(answers).map(([status, one]) => [status, withoutBody(one as Json)]),
      ),
    },
    options: {
      operationId: `${id}-options`,
      // It tells of the form of an address, whatever stands in it.
      ...(ofPath.length > 0 && {
        parameters: ofPath.map((one) => ({ ...one, schema: { type: 'string', minLength: 1 } })),
      }),
      tags,
      summary: `${summary}: what may be done here`,
      responses: { 200: { $ref: '#/components/responses/options' }, ...problemAnswers([]) },
    },
  }
}

function withoutBody(response: Json): Json {
  const { content: _content, ...rest } = response
  return rest
}

/** The names of datasets and tables, as parameters of a path; none where there is none to name. */
export function namesIn(
  { datasets }: Writing['catalog'],
  example: TableView | null,
): { dataset: Json | null; table: Json | null } {
  const tables = [...datasets.values()].flatMap((dataset) => [...dataset.tables.keys()])
  return {
    dataset: named('dataset', [...datasets.keys()], example?.dataset.slug),
    table: named('table', tables, example?.table.name),
  }
}

export const inPath = (name: string, schema: Json, example?: string): Json => ({
  name,
  in: 'path',
  required: true,
  schema,
  ...(example !== undefined && { example }),
})
/** The table of the examples of paths: all of them answer together. */
export function exampleOf(views: readonly TableView[]): TableView | null {
  return views.find(({ manifest }) => manifest !== null) ?? views[0] ?? null
}

export const binary = (mediaType: string): Json => ({
  [mediaType]: { schema: { contentMediaType: mediaType } },
})

/** An address of which one sentence says all. */
export function item(
  id: string,
  summary: string,
  tag: string,
  parameters: readonly Json[],
  answers: Json,
): Json {
  return operations({ id, tags: [tag], summary, description: summary, parameters, answers })
}

function named(name: string, names: readonly string[], example: string | undefined): Json | null {
  return names.length === 0 ? null : inPath(name, { type: 'string', enum: [...new Set(names)] }, example)
}
