import { orderedField, signedKey, type OrderKey } from './order-key.ts'
import type { CatalogDefinition, DatasetDefinition, TableDefinition } from './definition.ts'
import { expectationsOf } from './expectations.ts'
import { typeRow } from './field-types.ts'
import { languages, type Language } from './names.ts'

export type { OrderKey } from './order-key.ts'

/**
 * The catalog as the server and the ingest use it, built from a checked `CatalogDefinition`. Texts are in one
 * language, lists are maps if they are searched by name, and inherited settings are resolved. Types are
 * inferred from the functions that build it, so that each key is written once.
 */

type Frozen<T> =
  T extends ReadonlyMap<infer Key, infer Value>
    ? ReadonlyMap<Key, Frozen<Value>>
    : T extends ReadonlySet<infer Item>
      ? ReadonlySet<Item>
      : T extends object
        ? { readonly [Key in keyof T]: Frozen<T[Key]> }
        : T

/** The catalog with all texts in one language. */
export type CatalogTexts = Frozen<ReturnType<typeof catalogIn>>
/** A scheme of addresses for the whole catalog (spec: Versioning 1). */
export type Family = CatalogTexts['families'][number]
export type Limits = CatalogTexts['limits']
/** Maximum number of requests of one client in a window. */
export type Limit = Limits['rows'][number]
/** Time span of a limit. */
export type Window = Frozen<ReturnType<typeof windowOf>>
export type Party = NonNullable<Frozen<ReturnType<typeof partyOf>>>
/** A party that may have no address. */
export type Originator = NonNullable<Frozen<ReturnType<typeof originatorOf>>>
export type Contact = NonNullable<Frozen<ReturnType<typeof contactOf>>>
export type Dataset = Frozen<ReturnType<typeof datasetOf>>
export type Place = NonNullable<Dataset['spatial']>
export type Period = NonNullable<Dataset['temporal']>
/** Final slashes of a dataset's addresses, and its time zone, in one family. */
export type AddressForm = Frozen<ReturnType<typeof formOf>>
export type Table = Frozen<ReturnType<typeof tableOf>>
export type Field = Frozen<ReturnType<typeof fieldOf>>
/** Spelling of a field's values in the source: by the field, or else by its table. */
export type Reading = Field['reading']
/** Source files of a table, and their CSV dialect. */
export type SourceForm = Frozen<ReturnType<typeof sourceOf>>
/** Files of a source: a path under SOURCES with `*` for any part of a name, or an http(s) address. */
export type SomeFiles = Frozen<ReturnType<typeof filesOf>>
export type Encoding = SourceForm['encoding']

/** The catalog, with each text in its default language, which is the first one declared. */
export interface Catalog extends CatalogTexts {
  /** The same catalog in each language of the pages; texts without a translation stay in their first language. */
  readonly inLanguage: ReadonlyMap<Language, CatalogTexts>
  readonly hash: string
}

type FieldDefinition = TableDefinition['fields'][number]
type SourceDefinition = TableDefinition['source']
type Texts = CatalogDefinition['title']

/** Picks a text in the requested language. */
type Translate = (texts: Texts) => string

/** Builds the frozen catalog from a checked definition. */
export function buildCatalog(definition: CatalogDefinition, hash: string): Catalog {
  const inLanguage = new Map(
    languages.map((language) => [language, catalogIn(definition, translatorFor(language))]),
  )
  return deepFreeze({ ...catalogIn(definition, translatorFor(null)), inLanguage, hash })
}

/** Returns a function that picks the text in a language, or in the first language if there is no translation. */
function translatorFor(language: Language | null): Translate {
  return (texts) => {
    if (typeof texts === 'string') return texts
    const [first = ''] = Object.values(texts)
    return (language === null ? undefined : texts[language]) ?? first
  }
}

function catalogIn(definition: CatalogDefinition, translate: Translate) {
  const { limits } = definition
  const families = Object.entries(definition.families).map(([name, { prefix, scheme, trailing_slash }]) => {
    return { name, prefix, scheme, trailingSlash: trailing_slash }
  })
  const datasets = definition.datasets.map((dataset) => datasetOf(dataset, definition, families, translate))
  return {
    title: translate(definition.title),
    description: translate(definition.description ?? ''),
    /** Sentence that asks clients to use the API sparingly (spec: Limits 1). */
    notice: translate(definition.notice),
    /** Publisher and contact of the service; null if the catalog has none. */
    publisher: partyOf(definition.publisher, translate),
    contact: contactOf(definition.contact, translate),
    colours: definition.colours,
    /** Limits per client: requests of each class, and the share of processor time for all its requests. */
    limits: {
      rows: limits.rows.map(limitOf),
      catalog: limits.catalog.map(limitOf),
      exports: limits.exports.map(limitOf),
      files: limits.files.map(limitOf),
      share: { ...windowOf(limits.share.per), percent: limits.share.percent },
    },
    families,
    /** Datasets by slug, in the order of declaration. */
    datasets: new Map(datasets.map((dataset) => [dataset.slug, dataset])),
  }
}

function limitOf({ requests, per }: { requests: number; per: string }) {
  return { ...windowOf(per), requests }
}

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** @param per as written in the catalog, such as `1m` */
function windowOf(per: string) {
  const unit = per.at(-1) as keyof typeof unitsMs
  return { per, windowMs: Number(per.slice(0, -1)) * unitsMs[unit] }
}

function partyOf(party: CatalogDefinition['publisher'], translate: Translate) {
  return party === undefined ? null : { name: translate(party.name), url: party.url }
}

function originatorOf(party: CatalogDefinition['datasets'][number]['author'], translate: Translate) {
  return party === undefined ? null : { name: translate(party.name), url: party.url ?? null }
}

/** Contact by mail, at an address, or both. */
function contactOf(contact: CatalogDefinition['contact'], translate: Translate) {
  if (contact === undefined) return null
  return { name: translate(contact.name), email: contact.email ?? null, url: contact.url ?? null }
}

function datasetOf(
  definition: DatasetDefinition,
  catalog: CatalogDefinition,
  families: readonly { readonly name: string; readonly trailingSlash: boolean }[],
  translate: Translate,
) {
  const { slug, spatial, temporal } = definition
  return {
    slug,
    name: translate(definition.name),
    description: translate(definition.description),
    author: originatorOf(definition.author, translate),
    source: originatorOf(definition.source, translate),
    license: partyOf(definition.license, translate),
    links: definition.links.map(({ title, url }) => ({ title: translate(title), url })),
    codeUrl: definition.code_url ?? null,
    /** Date, `YYYY-MM-DD`. */
    collectedAt: definition.collected_at,
    /** Promised frequency of updates; null if there is no promise. */
    frequency: definition.frequency ?? null,
    /** Publisher of the dataset, or else of the service. */
    publisher: partyOf(definition.publisher ?? catalog.publisher, translate),
    contact: contactOf(definition.contact ?? catalog.contact, translate),
    themes: definition.themes,
    keywords: definition.keywords.map(translate),
    spatial:
      spatial === undefined
        ? null
        : {
            name: translate(spatial.name),
            /** Address in a gazetteer. */
            uri: spatial.uri ?? null,
            /** West, south, east and north, in degrees. */
            bbox: spatial.bbox ?? null,
          },
    /** First and last day, as `YYYY-MM-DD`; the end is null for a period that continues. */
    temporal: temporal === undefined ? null : { start: temporal.start, end: temporal.end ?? null },
    /** BCP 47 tags of the languages of its texts. */
    language: definition.language,
    /** Families whose list of datasets has this one. Its own address exists in all families. */
    listedIn: new Set(definition.listed_in),
    /** Address forms by family. */
    forms: new Map(families.map((family) => [family.name, formOf(definition, family)])),
    /** Tables by name, in the order of declaration. */
    tables: new Map(
      definition.tables.map((table) => [
        table.name,
        tableOf({ engine: catalog.engine, ...table }, slug, translate),
      ]),
    ),
  }
}

function formOf(
  { overrides, timezone }: DatasetDefinition,
  family: { readonly name: string; readonly trailingSlash: boolean },
) {
  const override = overrides[family.name]
  return {
    detailSlash: override?.detail_slash ?? family.trailingSlash,
    dataSlash: override?.data_slash ?? family.trailingSlash,
    /** IANA zone of `import_date`. */
    timezone: override?.timezone ?? timezone,
  }
}

/**
 * Tables with more fields have no row store by default: their rows are long, and writing it takes time for
 * each field.
 */
const rowStoreFieldsMax = 200

function tableOf(definition: TableDefinition, dataset: string, translate: Translate) {
  const fields = definition.fields.map((field) => fieldOf(field, definition.source, translate))
  const names = fields.map((field) => field.name)
  return {
    dataset,
    name: definition.name,
    description: translateOrNull(definition.description, translate),
    fields,
    /** Declared order of the rows. The ingest orders ties by their position in the source. */
    order: definition.order.map((key) => orderKeyOf(key, names)),
    /**
     * Field that separates partitions: the first one of the order, with one value in each source file; null
     * for none.
     */
    partition: definition.partition ?? null,
    engine: definition.engine ?? 'duckdb',
    /** Fields that clients may filter and order by. */
    filters: definition.filters ?? names,
    /** Indexes that the catalog requests: on the values of these fields, and on the words of the search fields. */
    indexes: { values: definition.filters ?? [], words: definition.search !== undefined },
    /** Fields that a search covers. */
    search: definition.search ?? fields.filter(({ type }) => typeRow(type).isText).map((field) => field.name),
    /** True if the table has a row store, from which pages are read cheaply. */
    hasRowStore: definition.packed ?? fields.length <= rowStoreFieldsMax,
    orders: definition.orders.map((keys) => ({ keys: keys.map((key) => signedKey(key)) })),
    /** Integer and decimal fields whose sums are meaningful. */
    measures: definition.measures,
    /** Values that mark a row as the total of other rows, by field. */
    totals: new Map(Object.entries(definition.totals)),
    /** Groups of fewer rows are hidden; 0 to hide none. */
    minGroupSize: definition.min_group_size,
    /** Maximum number of rows of an export. */
    exportRowsMax: definition.export_rows,
    /** Maximum number of rows that may be rejected. */
    rejectsMax: definition.max_rejects,
    /** Interval at which the source changes; null if it is not declared. */
    refreshed: definition.refreshed ?? null,
    /** True if a source without rows is accepted. */
    mayBeEmpty: definition.may_be_empty,
    /** Rules for rows, which an ingest enforces. */
    expectations: expectationsOf(definition),
    source: sourceOf(definition.source),
  }
}

function orderKeyOf(key: string, names: readonly string[]): OrderKey {
  const field = orderedField(key, names)
  return { field, direction: key !== field && key.endsWith(' desc') ? 'desc' : 'asc' }
}

function translateOrNull(texts: Texts | undefined, translate: Translate): string | null {
  return texts === undefined ? null : translate(texts)
}

function fieldOf(definition: FieldDefinition, source: SourceDefinition, translate: Translate) {
  return {
    name: definition.name,
    type: definition.type,
    title: translateOrNull(definition.title, translate),
    description: translateOrNull(definition.description, translate),
    /** Unit of its numbers, such as `BRL`. */
    unit: translateOrNull(definition.unit, translate),
    /** Meaning of its texts for charts: a date, or the code of a Brazilian state; null for others. */
    kind: definition.kind ?? null,
    precision: definition.precision,
    scale: definition.scale,
    /** Spelling of its values in the source. */
    reading: readingOf(definition, source),
    /** Rule that hides a part of each value before it is stored; null for none. */
    mask: definition.mask ?? null,
  }
}

const booleansDefault = { true: ['true', 'True', 'TRUE'], false: ['false', 'False', 'FALSE'] }

/** First of the two-digit years, as in POSIX: 69 means 1969, and 68 means 2068. */
const twoDigitYearsFromDefault = 1969

/** Returns the spelling of a field's values: by the field, else by its source. */
function readingOf(field: FieldDefinition | null, source: SourceDefinition) {
  const moment = field === null ? null : typeRow(field.type).moment
  const formats = field?.format ?? (moment === null ? undefined : source[moment])
  const groups = field?.groups ?? source.groups ?? 'none'
  return {
    /** True if white space around a value is removed. */
    trims: field?.trim ?? source.trim ?? false,
    /** Texts that mean null. */
    nulls: field?.nulls ?? source.nulls ?? [''],
    decimal: field?.decimal ?? source.decimal ?? '.',
    /** Separator of groups of three digits; null for none. */
    groups: groups === 'none' ? null : groups,
    /** Texts before or after a number that are ignored, such as R$; `()` makes it negative. */
    marks: field?.marks ?? source.marks ?? [],
    /** Spellings of numbers below zero besides -5. */
    minus: field?.minus ?? source.minus ?? [],
    /** Power of ten that multiplies each number: -2 for cents. */
    tenfolds: Math.round(Math.log10(field?.factor ?? 1)),
    /** Separator of texts in a list; null if lists are JSON. */
    separator: field?.separator ?? null,
    booleans: field?.booleans ?? source.booleans ?? booleansDefault,
    /** Formats of dates and times; empty for ISO 8601. */
    formats: formats === undefined ? [] : [formats].flat(),
    /** IANA zone to which times with an offset are converted; null for UTC. */
    timezone: field?.timezone ?? source.timezone ?? null,
    /** First year for years of two digits; the last is 99 years later. */
    twoDigitYearsFrom: field?.two_digit_years_from ?? source.two_digit_years_from ?? twoDigitYearsFromDefault,
  }
}

function sourceOf(source: SourceDefinition) {
  return {
    /** Declared files; null for the default, `<dataset>/<table>.csv`, plain or compressed. */
    files: source.files === undefined ? null : [source.files].flat().map(filesOf),
    /** Pattern that takes values of fields from the path of a file; see `parseNamePattern`. */
    fromName: source.from_name ?? null,
    /** True if files may differ in the order of their columns, and may lack some. */
    unionByName: source.union_by_name,
    /** Name of the files to read in a zip, with `*` for any part; null if it has only one file. */
    member: source.member ?? null,
    /** Name of a file of checksums beside the source. */
    checksums: source.checksums ?? null,
    encoding: source.encoding,
    delimiter: source.delimiter,
    /** Null if values are never quoted. */
    quote: source.quote === 'none' ? null : source.quote,
    /** Spelling of values, unless their field states another. */
    reading: readingOf(null, source),
    /** `lf` accepts CRLF too. */
    lineTerminator: source.line_terminator,
    /** Number of lines before the header. */
    skipLines: source.skip_lines,
    /** Number of lines of the header, whose cells are joined. */
    headerLines: source.header_lines,
    /** Number of lines at the end that are not rows; blank lines are not counted. */
    skipLast: source.skip_last,
    /** Start of the first line after the last row. */
    stopAt: source.stop_at ?? null,
    /** Start of lines that are not rows. */
    comment: source.comment ?? null,
    /** Texts of rows to leave out, by header name in the source; `*` at the end of a text matches any rest. */
    drop: new Map(Object.entries(source.drop).map(([column, texts]) => [column, [texts].flat()])),
    /** True if lines that repeat the header are skipped instead of refused. */
    skipRepeatedHeaders: source.skip_repeated_headers,
    /** True if empty cells at the end of the header, and of rows with more cells than it, are dropped. */
    dropEmptyExtraCells: source.drop_empty_extra_cells,
    /** Names of the columns, if the source has no header line or they replace it. */
    header: source.header ?? null,
    /** Header line in the file, if `header` replaces it; else null. */
    headerInFile: source.header_in_file ?? null,
    /** Field names by header name in the source. */
    rename: new Map(Object.entries(source.rename)),
    ignore: new Set(source.ignore),
    /** Constant values by field, the same in all rows, in the spelling of the source. */
    constants: new Map(Object.entries(source.constants)),
  }
}

function filesOf(files: string | { path: string; constants: Record<string, string> }) {
  if (typeof files === 'string') return { path: files, constants: new Map<string, string>() }
  return { path: files.path, constants: new Map(Object.entries(files.constants)) }
}

/**
 * Freezes objects and arrays. Maps and Sets are read-only only by their types, since `Object.freeze` does not
 * protect their contents.
 */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const inner = value instanceof Map ? value.values() : Object.values(value)
  for (const item of inner) deepFreeze(item)
  return Object.freeze(value)
}

/** Returns `dataset/table`, the name of a table on the command line, in logs and in reports. */
export function tableId(table: Pick<Table, 'dataset' | 'name'>): string {
  return `${table.dataset}/${table.name}`
}

/**
 * Returns the datasets that at least one family lists. Clients can read the other ones only if they know the
 * address.
 */
export function listedDatasets({ datasets }: CatalogTexts): Dataset[] {
  return [...datasets.values()].filter(({ listedIn }) => listedIn.size > 0)
}

export function allTables(catalog: CatalogTexts): Table[] {
  return [...catalog.datasets.values()].flatMap((dataset) => [...dataset.tables.values()])
}

/**
 * Returns whether messages must not quote texts of the source: true if a field is masked, or a column is left
 * out (`ignore`). An unquoted delimiter shifts the values of a row, so each text may be one of that column.
 */
export function hidesRows({ fields, source }: Pick<Table, 'fields' | 'source'>): boolean {
  return fields.some(({ mask }) => mask !== null) || source.ignore.size > 0
}
