import { exactJson, exactValue } from './exact-json.ts'
import { schemaChangeOf, schemaPhrases } from '../../core/warehouse/schema-change.ts'
import type { Runtime } from './runtime.ts'
import { tableId, type Dataset, type Family, type Field, type Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import { documentAddresses } from '../documents/addresses.ts'
import { addressesOf, fileAddresses, addressForm, withQuery, type Addresses } from '../http/addresses.ts'
import { contentName, type NamedResponse } from '../http/responder.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import { parseQuery, pageSizeDefault, pageSizeMax } from '../query/parameters.ts'
import type { Resource } from '../http/resource.ts'
import { jsonType } from '../http/send.ts'
import { parameterRows } from '../query/query.ts'
import { exampleQueries } from '../query/examples.ts'
import { partsOf } from '../query/date-parts.ts'
import { functionsOf, measureMeaning } from '../query/measures.ts'
import { operatorRow, operatorsOf } from '../query/operators.ts'
import { rowFormats } from '../formats/registry.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { findDataset, findTable } from './find.ts'
import { timeInZone } from '../../core/time-in-zone.ts'

/** Table and its parameters; an extension of the spec. */
export function tableDetail(family: Family, service: Runtime): Resource {
  const { catalog, snapshots } = service
  const cachedAnswers = new Map<
    Table,
    { readonly snapshot: Snapshot | null; readonly answer: NamedResponse }
  >()
  return {
    path: '/dataset/:dataset/:table',
    name: 'Table Detail',
    description: `Details of a table: its fields, filters and orders. ${catalog.notice}`,
    find: ({ params, target, headers }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      negotiate(headers, parseQuery(target, ['format']).get('format'), [jsonOffer])
      const snapshot = snapshots.current(table)
      const cachedAnswer = cachedAnswers.get(table)
      if (cachedAnswer?.snapshot === snapshot) return cachedAnswer.answer
      const answer = detailOf(family, service, dataset, table, snapshot)
      cachedAnswers.set(table, { snapshot, answer })
      return answer
    },
  }
}

function detailOf(
  family: Family,
  { publicUrl, freshness }: Runtime,
  dataset: Dataset,
  table: Table,
  snapshot: Snapshot | null,
): NamedResponse {
  const addresses = addressesOf(family, publicUrl)
  const files = fileAddresses(publicUrl)
  const documents = documentAddresses(publicUrl)
  const reference = `${addresses.table(dataset, table).replace(/\/$/, '')}/openapi.json`
  const schema = snapshot === null ? null : schemaChangeOf(snapshot.manifest)
  const imported = snapshot === null ? null : new Date(snapshot.manifest.import_date)
  const body = exactJson({
    dataset: dataset.slug,
    name: table.name,
    description: table.description,
    rows: snapshot?.manifest.rows ?? null,
    snapshot: snapshot?.manifest.snapshot ?? null,
    schema_change: schema === null ? null : { class: schema.kind, reasons: schemaPhrases(schema) },
    import_date: imported === null ? null : timeInZone(imported, addressForm(dataset, family).timezone),
    collected_at: snapshot?.manifest.collected_at ?? dataset.collectedAt,
    order: table.order,
    search: table.search,
    fields: table.fields.map((field) => fieldDetail(table, field, snapshot)),
    operators: Object.fromEntries(
      [...new Set(table.fields.flatMap(operatorsOf))].map((name) => [name, operatorRow(name).meaning]),
    ),
    measures: Object.fromEntries(
      [...new Set(table.fields.flatMap((field) => functionsOf(table, field)))].map((name) => [
        name,
        measureMeaning(name),
      ]),
    ),
    parameters: parameterRows,
    page_size: { default: pageSizeDefault, max: pageSizeMax },
    formats: rowFormats.map(({ name, contentType }) => ({ name, media_type: contentType })),
    dataset_url: addresses.dataset(dataset),
    data_url: addresses.data(dataset, table),
    export_url: addresses.export(dataset, table),
    aggregate_url: addresses.aggregate(dataset, table),
    changes_url: addresses.changes(dataset, table),
    export_rows_max: table.exportRowsMax,
    examples: examplesOf(addresses, dataset, table, snapshot),
    files: { download: files.download(table), listing: files.listing(table), sums: files.sums(dataset) },
  })
  return {
    name: contentName(`${tableId(table)}\n${body}`),
    cacheControl: freshness.changing,
    mediaType: jsonType,
    headers: {
      Link: [
        `<${addresses.dataset(dataset)}>; rel="collection"`,
        `<${documents.ofTable(table, 'schema.json')}>; rel="describedby"; type="application/schema+json"`,
        `<${reference}>; rel="service-desc"; type="application/json"`,
      ].join(', '),
    },
    isAtHand: true,
    body: () => ({ pieces: [body] }),
  }
}

function fieldDetail(table: Table, field: Field, snapshot: Snapshot | null): unknown {
  const statistics = snapshot?.report?.fields.find(({ name }) => name === field.name)
  const toJsonValue = (text: string | null | undefined): unknown =>
    text === null || text === undefined ? null : exactValue(field, text)
  return {
    name: field.name,
    type: field.type,
    ...(typeRow(field.type).hasDigits && { precision: field.precision, scale: field.scale }),
    title: field.title,
    description: field.description,
    nullable: statistics === undefined ? null : statistics.nulls > 0,
    nulls: statistics?.nulls ?? null,
    distinct_estimate: statistics?.distinct_estimate ?? null,
    min: toJsonValue(statistics?.min),
    max: toJsonValue(statistics?.max),
    // Parsing JSON values would round large numbers in them.
    choices: field.type === 'json' ? null : (statistics?.choices?.map(toJsonValue) ?? null),
    operators: table.filters.includes(field.name) ? operatorsOf(field) : [],
    parts: partsOf(table, field),
    measures: functionsOf(table, field),
    ordering: true,
    search: table.search.includes(field.name),
  }
}

function examplesOf(
  addresses: Addresses,
  dataset: Dataset,
  table: Table,
  snapshot: Snapshot | null,
): { means: string; address: string }[] {
  return exampleQueries(table, snapshot?.report ?? null).map(({ description, isExport, parameters }) => {
    const address = isExport ? addresses.export(dataset, table) : addresses.data(dataset, table)
    return { means: description, address: withQuery(address, parameters, 1) }
  })
}
