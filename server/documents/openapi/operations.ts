import type { Json, TableDescription, Writing } from '../description.ts'

export interface Address {
  /** Path like `/files/{dataset}/`; placeholders become parameters. */
  readonly path: string
  readonly id: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly Json[]
  readonly answers: Json
}

type Placeholders = ReadonlyMap<string, Json>

export function placeholdersOf(
  { catalog: { datasets } }: Writing,
  example: TableDescription | null,
): Placeholders {
  const tables = [...datasets.values()].flatMap((dataset) => [...dataset.tables.keys()])
  const manifest = example?.manifest
  const text = { type: 'string', minLength: 1 }
  const oneOf = (name: string, names: readonly string[], value: string | undefined): [string, Json][] =>
    names.length === 0
      ? []
      : [[name, { schema: { type: 'string', enum: [...new Set(names)] }, ...exampleOf(value) }]]
  return new Map([
    ...oneOf('dataset', [...datasets.keys()], example?.dataset.slug),
    ...oneOf('table', tables, example?.table.name),
    ['snapshot', { schema: text, ...exampleOf(manifest?.snapshot) }],
    ['file', { schema: text, example: manifest?.parts[0]?.file ?? 'report.json' }],
    ['number', { schema: { type: 'integer', minimum: 1, maximum: 9999 } }],
  ])
}

/** Leaves out paths whose placeholders have no values. */
export function pathsOf(addresses: readonly Address[], placeholders: Placeholders): Json {
  const paths = addresses.flatMap((address): [string, Json][] => {
    const names = [...address.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    if (!names.every((name) => placeholders.has(name))) return []
    const inPath = names.map((name) => ({ name, in: 'path', required: true, ...placeholders.get(name) }))
    return [[address.path, operations(address, inPath)]]
  })
  return Object.fromEntries(paths)
}

/** GET alone, since the document's description covers HEAD and OPTIONS. */
export function operations(
  { id, tag, summary, description = summary, parameters, answers }: Omit<Address, 'path'>,
  inPath: readonly Json[] = [],
): Json {
  const allParameters = [...inPath, ...parameters]
  const parametersEntry = allParameters.length > 0 && { parameters: allParameters }
  return {
    get: { operationId: id, tags: [tag], summary, description, ...parametersEntry, responses: answers },
  }
}

export const binary = (mediaType: string): Json => ({
  [mediaType]: { schema: { contentMediaType: mediaType } },
})

const exampleOf = (value: string | undefined): Json => (value === undefined ? {} : { example: value })
