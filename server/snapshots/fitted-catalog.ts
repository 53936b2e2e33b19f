import {
  allTables,
  tableId,
  type Catalog,
  type CatalogTexts,
  type OrderKey,
  type Table,
} from '../../core/catalog/catalog.ts'
import { inOrder } from '../../core/in-order.ts'
import { holdsFields, storedFields, type Manifest } from '../../core/warehouse/manifest.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'

/** Catalog with the published fields of each table. */
export interface FittedCatalog {
  readonly catalog: Catalog
  /** Declared fields that are not published yet, by `dataset/table`. */
  readonly lacking: ReadonlyMap<string, readonly string[]>
  /** Equal for catalogs that lack the same fields. */
  readonly key: string
}

function asDeclared(catalog: Catalog): FittedCatalog {
  return { catalog, lacking: new Map(), key: '' }
}

const concurrentManifestsMax = 8

/** @param manifestOf returns the last published manifest of a table, if already known */
export async function fitToWarehouse(
  store: Store,
  catalog: Catalog,
  manifestOf: (table: Table) => Manifest | null,
): Promise<FittedCatalog> {
  const read = async (table: Table): Promise<readonly [id: string, latest: Manifest | null]> => [
    tableId(table),
    // A damaged manifest is reported when its table is loaded.
    manifestOf(table) ?? (await publishedOf(store, table).catch(() => null)),
  ]
  const latest = new Map<string, Manifest | null>()
  for await (const [id, manifest] of inOrder(allTables(catalog), concurrentManifestsMax, read))
    latest.set(id, manifest)
  return fitCatalog(catalog, (table) => latest.get(tableId(table)) ?? null)
}

/** Tells whether a fitted catalog can serve a snapshot. */
export function isServable(table: Table, manifest: Manifest): boolean {
  return holdsFields(manifest, table) || publishedNames(table, manifest) !== null
}

/**
 * Leaves out fields that published rows lack, and takes the others in published order. If a published field
 * was changed or removed, the table stays as declared.
 * @param latest returns the last published manifest of a table
 */
function fitCatalog(catalog: Catalog, latest: (table: Table) => Manifest | null): FittedCatalog {
  const [lacking, published] = [new Map<string, readonly string[]>(), new Map<string, readonly string[]>()]
  for (const table of allTables(catalog)) {
    const names = publishedNames(table, latest(table))
    if (names === null) continue
    published.set(tableId(table), names)
    const missingNames = table.fields.map(({ name }) => name).filter((name) => !names.includes(name))
    lacking.set(tableId(table), missingNames)
  }
  if (published.size === 0) return asDeclared(catalog)
  const key = JSON.stringify([...published])
  const inLanguage = new Map(
    [...catalog.inLanguage].map(([language, texts]) => [language, withFields(texts, published)]),
  )
  const hash = `${catalog.hash} ${key}`
  return { catalog: { ...catalog, ...withFields(catalog, published), inLanguage, hash }, lacking, key }
}

function publishedNames(table: Table, manifest: Manifest | null): readonly string[] | null {
  if (manifest === null || holdsFields(manifest, table)) return null
  const declared = new Set(storedFields(table).map((field) => JSON.stringify(field)))
  const isDeclared = manifest.fields.every((field) => declared.has(JSON.stringify(field)))
  return isDeclared ? manifest.fields.map(({ name }) => name) : null
}

function withFields(texts: CatalogTexts, published: ReadonlyMap<string, readonly string[]>): CatalogTexts {
  const fitted = (table: Table): Table => {
    const names = published.get(tableId(table))
    return names === undefined ? table : onlyFields(table, names)
  }
  const datasets = [...texts.datasets].map(([slug, dataset]) => {
    const tables = new Map([...dataset.tables].map(([name, table]) => [name, fitted(table)]))
    return [slug, { ...dataset, tables }] as const
  })
  return { ...texts, datasets: new Map(datasets) }
}

function onlyFields(table: Table, names: readonly string[]): Table {
  const isThere = (name: string): boolean => names.includes(name)
  const areThere = (keys: readonly OrderKey[]): boolean => keys.every(({ field }) => isThere(field))
  const ofThese = <T>(values: ReadonlyMap<string, T>): ReadonlyMap<string, T> =>
    new Map([...values].filter(([name]) => isThere(name)))
  // Date parts and measures have names that begin with their field's name.
  const isOfThese = (term: string): boolean =>
    names.some((name) => term === name || term.startsWith(`${name}__`)) || term === 'rows'
  const { chart, time } = table
  const existingColumns = (table.defaultColumns ?? []).filter(isThere)
  return {
    ...table,
    fields: names.flatMap((name) => table.fields.find((field) => field.name === name) ?? []),
    order: table.order.filter(({ field }) => isThere(field)),
    filters: table.filters.filter(isThere),
    search: table.search.filter(isThere),
    indexes: { ...table.indexes, values: table.indexes.values.filter(isThere) },
    orders: table.orders.filter(({ keys }) => areThere(keys)),
    measures: table.measures.filter(isThere),
    totals: ofThese(table.totals),
    defaultFilter: ofThese(table.defaultFilter),
    key: table.key?.every(isThere) === true ? table.key : null,
    time: time !== null && isThere(time) ? time : null,
    chart: chart !== null && [...chart.group, chart.measure].every(isOfThese) ? chart : null,
    defaultColumns: existingColumns.length === 0 ? null : existingColumns,
  }
}
