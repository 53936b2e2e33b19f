import type { Field, Originator, Table } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { DatasetDocument } from '../document.ts'
import { publishedFiles } from '../files-of.ts'
import type { DatasetDescription, Json, TableDescription, Writing } from '../description.ts'

/** Data Package v2: a resource with a Table Schema per published table. */
export const dataPackage: DatasetDocument = {
  file: 'datapackage.json',
  name: 'Data Package',
  description: 'The dataset as a Frictionless Data Package v2, with a Table Schema of each table.',
  contentType: 'application/json',
  write: (writing, view) => JSON.stringify(dataPackageOf(writing, view)),
}

const profiles = 'https://datapackage.org/profiles/2.0'

function dataPackageOf(writing: Writing, { dataset, tables }: DatasetDescription): Json {
  const { author, publisher, contact, source, license, keywords } = dataset
  const contributors = [
    ...(author === null ? [] : [{ title: author.name, ...pathOf(author), roles: ['author'] }]),
    ...(publisher === null ? [] : [{ title: publisher.name, path: publisher.url, roles: ['publisher'] }]),
    ...(contact === null
      ? []
      : [
          {
            title: contact.name,
            ...(contact.email !== null && { email: contact.email }),
            ...(contact.url !== null && { path: contact.url }),
            roles: ['contact'],
          },
        ]),
  ]
  const resources = tables.flatMap((table) => resourceOf(writing, table) ?? [])
  const imported = tables.flatMap(({ manifest }) => manifest?.import_date ?? []).toSorted()
  return {
    $schema: `${profiles}/datapackage.json`,
    name: dataset.slug,
    id: writing.rows.dataset(dataset),
    title: dataset.name,
    description: dataset.description,
    homepage: writing.page('en', dataset),
    version: dataset.collectedAt.replaceAll('-', '.'),
    created: imported.at(-1) ?? `${dataset.collectedAt}T00:00:00Z`,
    ...(keywords.length > 0 && { keywords }),
    ...(contributors.length > 0 && { contributors }),
    ...(source !== null && { sources: [{ title: source.name, ...pathOf(source) }] }),
    ...(license !== null && { licenses: [{ title: license.name, path: license.url }] }),
    resources,
  }
}

function resourceOf(writing: Writing, view: TableDescription): Json | null {
  const published = publishedFiles(writing, view)
  if (published === null) return null
  const { table } = view
  const { download, manifest, addressOf } = published
  return {
    $schema: `${profiles}/dataresource.json`,
    name: table.name,
    type: 'table',
    title: table.title ?? table.name,
    ...(table.description !== null && { description: table.description }),
    path: addressOf(download),
    scheme: 'http',
    format: 'csv',
    compression: 'gz',
    mediatype: 'text/csv',
    encoding: 'utf-8',
    // Without `bytes`: the reference reader cannot check the size of a file compressed in transfer.
    hash: `sha256:${download.sha256}`,
    rows: manifest.rows,
    dialect: {
      $schema: `${profiles}/tabledialect.json`,
      header: true,
      delimiter: ',',
      quoteChar: '"',
      doubleQuote: true,
    },
    schema: {
      $schema: `${profiles}/tableschema.json`,
      fields: table.fields.map((field) => tableSchemaField(field, table)),
      missingValues: [''],
      ...keysOf(table),
    },
  }
}

function tableSchemaField(field: Field, table: Table): Json {
  const { name, title, description, unit } = field
  const { tableSchema } = typeRow(field.type).called
  const constraints = constraintsOf(field, table)
  return {
    name,
    type: tableSchema,
    ...(tableSchema === 'datetime' && { format: 'any' }),
    ...(title !== null && { title }),
    ...(description !== null && { description }),
    ...(unit !== null && { unit }),
    ...(Object.keys(constraints).length > 0 && { constraints }),
  }
}

function constraintsOf({ name, type }: Field, { expectations }: Table): Json {
  const { wire, isText } = typeRow(type)
  const bound = (end: string): string | number => (wire.kind === 'number' ? Number(end) : end)
  const constraints = expectations.flatMap((expectation): [string, unknown][] => {
    const names = expectation.kind === 'unique' ? expectation.fields : [expectation.field]
    if (names.length > 1 || names[0] !== name) return []
    if (expectation.kind === 'not_null') return [['required', true]]
    if (expectation.kind === 'unique') return [['unique', true]]
    if (expectation.kind === 'matches') return [['pattern', expectation.pattern]]
    // A Table Schema has no bounds for texts.
    if (expectation.kind === 'references' || isText) return []
    const { min, max } = expectation
    return [
      ...(min === null ? [] : [['minimum', bound(min)] satisfies [string, unknown]]),
      ...(max === null ? [] : [['maximum', bound(max)] satisfies [string, unknown]]),
    ]
  })
  return Object.fromEntries(constraints)
}

function keysOf({ dataset, name, expectations }: Table): Json {
  const uniqueKeys = expectations.flatMap((expectation) =>
    expectation.kind === 'unique' && expectation.fields.length > 1 ? [expectation.fields] : [],
  )
  const foreignKeys = expectations.flatMap((expectation) => {
    if (expectation.kind !== 'references' || expectation.target.dataset !== dataset) return []
    const { table, field } = expectation.target
    const reference = { ...(table !== name && { resource: table }), fields: [field] }
    return [{ fields: [expectation.field], reference }]
  })
  return {
    ...(uniqueKeys.length > 0 && { uniqueKeys }),
    ...(foreignKeys.length > 0 && { foreignKeys }),
  }
}

function pathOf({ url }: Originator): { path?: string } {
  return url === null ? {} : { path: url }
}
