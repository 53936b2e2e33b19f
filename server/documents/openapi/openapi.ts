import type { Dataset, Party, Table } from '../../../core/catalog/catalog.ts'
import type { Addresses } from '../../http/addresses.ts'
import type { Json, TableDescription, Writing } from '../description.ts'
import { parameterSchemas, sharedParameters } from './parameters.ts'
import { headerComponents, problemResponses, problemSchemas } from './responses.ts'
import { commonSchemas } from './schemas.ts'
import { ckanPaths } from './ckan-paths.ts'
import { documentPaths } from './document-paths.ts'
import { catalogPaths, filePaths } from './service-paths.ts'
import { pathsOf, placeholdersOf } from './operations.ts'
import { tablePart, type TablePart } from './table-paths.ts'

/** Raise this version when addresses change their meaning. */
const interfaceVersion = '1.0.0'

export interface OpenApiOptions {
  readonly addresses: Addresses
  /** Address of the document of one table. */
  readonly tableDocument: (dataset: Dataset, table: Table) => string
}

/** With more fields, one document would have megabytes, so each table gets a document of its own. */
const fieldsMax = 1500

/** OpenAPI 3.1 of tables; for many fields, it refers to their documents. */
export function openApi(writing: Writing, views: readonly TableDescription[], options: OpenApiOptions): Json {
  const { catalog } = writing
  const pathOf = pathIn(writing)
  const fields = views.reduce((sum, { table }) => sum + table.fields.length, 0)
  const isOneDocument = fields <= fieldsMax
  const parts = views.map((view) =>
    isOneDocument
      ? tablePart(view, options.addresses, pathOf, prefixOf(view))
      : referencePart(view, options, pathOf),
  )
  // All examples are of the same table, so that they work together.
  const example = views.find(({ manifest }) => manifest !== null) ?? views[0] ?? null
  const addresses = [
    ...catalogPaths(writing, options.addresses, pathOf),
    ...filePaths(writing, pathOf),
    ...documentPaths(writing, pathOf),
  ]
  const paths = {
    ...pathsOf(addresses, placeholdersOf(writing, example)),
    ...ckanPaths(example?.dataset.slug),
  }
  const license = { name: 'Licences differ: see each dataset', url: writing.page('en') }
  const info = { title: catalog.title, description: catalog.description, license }
  return document(writing, info, { ...paths, ...mergeParts(parts, 'paths') }, parts)
}

export function tableOpenApi(writing: Writing, view: TableDescription, options: OpenApiOptions): Json {
  const part = tablePart(view, options.addresses, pathIn(writing), '')
  const { dataset, table } = view
  const title = `${dataset.name}: ${table.title ?? table.name}`
  const info = { title, description: table.description ?? dataset.description, license: dataset.license }
  return document(writing, info, part.paths, [part])
}

const prefixOf = ({ dataset, table }: TableDescription): string => `${dataset.slug}.${table.name}.`

function pathIn({ base }: Writing): (address: string) => string {
  const { pathname } = new URL(base)
  const length = pathname.replace(/\/$/, '').length
  return (address) => decodeURI(new URL(address).pathname.slice(length))
}

function referencePart(
  { dataset, table }: TableDescription,
  { addresses, tableDocument }: OpenApiOptions,
  pathOf: (address: string) => string,
): TablePart {
  const tablePaths = [
    addresses.table(dataset, table),
    addresses.data(dataset, table),
    addresses.export(dataset, table),
    addresses.aggregate(dataset, table),
    addresses.changes(dataset, table),
    ...(table.key === null ? [] : [addresses.history(dataset, table)]),
  ]
  const paths = tablePaths.map(pathOf).map((path) => {
    const pointer = path.replaceAll('~', '~0').replaceAll('/', '~1')
    return [path, { $ref: `${tableDocument(dataset, table)}#/paths/${pointer}` }]
  })
  return { paths: Object.fromEntries(paths) as Json, schemas: {}, parameters: {} }
}

function mergeParts(parts: readonly TablePart[], key: keyof TablePart): Json {
  return Object.assign({}, ...parts.map((part) => part[key])) as Json
}

function document(
  { catalog, base }: Writing,
  { title, description, license }: { title: string; description: string; license: Party | null },
  paths: Json,
  parts: readonly TablePart[],
): Json {
  const { contact, publisher } = catalog
  const contactParty = contact ?? (publisher === null ? null : { ...publisher, email: null })
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: interfaceVersion,
      description: [description, everyPath, catalog.notice].filter((text) => text !== '').join('\n\n'),
      ...(license !== null && { license: { name: license.name, url: license.url } }),
      ...(contactParty !== null && {
        contact: {
          name: contactParty.name,
          ...(contactParty.url !== null && { url: contactParty.url }),
          ...(contactParty.email !== null && { email: contactParty.email }),
        },
      }),
    },
    servers: [{ url: base }],
    security: [],
    paths,
    components: usedComponents(paths, {
      schemas: {
        ...commonSchemas,
        ...problemSchemas(),
        ...parameterSchemas(),
        ...mergeParts(parts, 'schemas'),
      },
      parameters: { ...sharedParameters(), ...mergeParts(parts, 'parameters') },
      headers: headerComponents(),
      responses: problemResponses(),
    }),
  }
}

const everyPath =
  'Every path also answers HEAD, with the headers of GET and no body, and OPTIONS, with the allowed methods.'

type Kinds = Readonly<Record<string, Json>>

function usedComponents(paths: Json, components: Kinds): Kinds {
  const used = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      if (key === '$ref' && typeof item === 'string' && item.startsWith('#/components/')) follow(item)
      else visit(item)
    }
  }
  const follow = (reference: string): void => {
    if (used.has(reference)) return
    used.add(reference)
    const [, , kind = '', name = ''] = reference.split('/')
    visit(components[kind]?.[name])
  }
  visit(paths)
  return Object.fromEntries(
    Object.entries(components).map(([kind, entries]) => [
      kind,
      Object.fromEntries(
        Object.entries(entries).filter(([name]) => used.has(`#/components/${kind}/${name}`)),
      ),
    ]),
  )
}
