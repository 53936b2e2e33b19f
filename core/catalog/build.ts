import type {
  AddressForm,
  Catalog,
  CatalogTexts,
  Contact,
  Dataset,
  Family,
  Field,
  Limit,
  Limits,
  OrderKey,
  Party,
  Reading,
  SomeFiles,
  SourceForm,
  Table,
  Window,
} from './catalog.ts'
import { orderedField, signedKey } from './check.ts'
import { coloursDefault } from './colours.ts'
import type { CatalogDefinition, DatasetDefinition, TableDefinition } from './definition.ts'
import { typeRow } from './field-types.ts'
import { languages, type Language } from './languages.ts'
import { digitsDefault } from './types/field-type.ts'

type FieldDefinition = TableDefinition['fields'][number]
type SourceDefinition = TableDefinition['source']

const noticeDefault =
  'Use this API sparingly, not to pull entire datasets: for a complete dataset, download its files instead.'
const limitsDefault = {
  exports: [{ requests: 600, per: '10m' }],
  // Room for DuckDB, which asks for a row group, or a column of one, at a time.
  files: [{ requests: 3000, per: '1m' }],
  share: { percent: 25, per: '1m' },
}
const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A checked definition -> the frozen value that both programs work with. */
export function buildCatalog(definition: CatalogDefinition, hash: string): Catalog {
  const inLanguage = new Map(
    languages.map((language) => [language, buildTexts(definition, saidIn(language))]),
  )
  return deepFreeze({ ...buildTexts(definition, saidIn(null)), inLanguage, hash })
}

type Texts = CatalogDefinition['title']

/** What is said of a text that may be in several languages. */
type Say = (texts: Texts) => string

/** Whatever is not said in a language is said in the first that there is. */
function saidIn(language: Language | null): Say {
  return (texts) => {
    if (typeof texts === 'string') return texts
    const [first = ''] = Object.values(texts)
    return (language === null ? undefined : texts[language]) ?? first
  }
}

function sayParty(party: CatalogDefinition['publisher'], say: Say): Party | null {
  return party === undefined ? null : { name: say(party.name), url: party.url }
}

function sayContact(contact: CatalogDefinition['contact'], say: Say): Contact | null {
  if (contact === undefined) return null
  return { name: say(contact.name), email: contact.email ?? null, url: contact.url ?? null }
}

function buildTexts(definition: CatalogDefinition, say: Say): CatalogTexts {
  const { title, description = '', notice = noticeDefault, limits } = definition
  const families = Object.entries(definition.families).map(
    ([name, { prefix, scheme, trailing_slash }]): Family => {
      return { name, prefix, scheme, trailingSlash: trailing_slash }
    },
  )
  const datasets = definition.datasets.map((dataset) => buildDataset(dataset, definition, families, say))
  return {
    title: say(title),
    description: say(description),
    notice: say(notice),
    publisher: sayParty(definition.publisher, say),
    contact: sayContact(definition.contact, say),
    colours: definition.colours ?? coloursDefault,
    limits: buildLimits(limits),
    families,
    datasets: new Map(datasets.map((dataset) => [dataset.slug, dataset])),
  }
}

function buildLimits(definition: CatalogDefinition['limits']): Limits {
  const { rows, catalog } = definition
  const { exports = limitsDefault.exports, files = limitsDefault.files } = definition
  const { share = limitsDefault.share } = definition
  return {
    rows: rows.map(buildLimit),
    catalog: catalog.map(buildLimit),
    exports: exports.map(buildLimit),
    files: files.map(buildLimit),
    share: { ...buildWindow(share.per), percent: share.percent },
  }
}

function buildLimit({ requests, per }: { requests: number; per: string }): Limit {
  return { ...buildWindow(per), requests }
}

function buildWindow(per: string): Window {
  const unit = per.at(-1) as keyof typeof unitsMs
  return { per, windowMs: Number(per.slice(0, -1)) * unitsMs[unit] }
}

function buildDataset(
  definition: DatasetDefinition,
  whole: CatalogDefinition,
  families: readonly Family[],
  say: Say,
): Dataset {
  const { slug, name, description, author, source, license, links, tables, spatial, temporal } = definition
  const engine = whole.engine ?? 'duckdb'
  return {
    slug,
    name: say(name),
    description: say(description),
    author: sayParty(author, say),
    source: sayParty(source, say),
    license: sayParty(license, say),
    links: links.map(({ title, url }) => ({ title: say(title), url })),
    codeUrl: definition.code_url ?? null,
    collectedAt: definition.collected_at,
    frequency: definition.frequency ?? null,
    publisher: sayParty(definition.publisher ?? whole.publisher, say),
    contact: sayContact(definition.contact ?? whole.contact, say),
    themes: definition.themes ?? [],
    keywords: (definition.keywords ?? []).map(say),
    spatial:
      spatial === undefined
        ? null
        : { name: say(spatial.name), uri: spatial.uri ?? null, bbox: spatial.bbox ?? null },
    temporal: temporal === undefined ? null : { start: temporal.start, end: temporal.end ?? null },
    language: definition.language ?? [],
    listedIn: new Set(definition.listed_in),
    forms: new Map(families.map((family) => [family.name, buildForm(definition, family)])),
    tables: new Map(tables.map((table) => [table.name, buildTable({ engine, ...table }, slug, say)])),
  }
}

function buildForm(dataset: DatasetDefinition, family: Family): AddressForm {
  const override = dataset.overrides?.[family.name]
  return {
    detailSlash: override?.detail_slash ?? family.trailingSlash,
    dataSlash: override?.data_slash ?? family.trailingSlash,
    timezone: override?.timezone ?? dataset.timezone ?? 'UTC',
  }
}

/** At some 100 bytes a row, what a reader may still want by way of the service. */
const exportRowsDefault = 1_000_000

function buildTable(definition: TableDefinition, dataset: string, say: Say): Table {
  const fields = definition.fields.map((field) => buildField(field, definition.source, say))
  const names = fields.map((field) => field.name)
  return {
    dataset,
    name: definition.name,
    description: sayOrNull(definition.description, say),
    fields,
    order: definition.order.map((key) => buildOrderKey(key, names)),
    partition: definition.partition ?? null,
    engine: definition.engine ?? 'duckdb',
    filters: definition.filters ?? names,
    indexes: { values: definition.filters ?? [], words: definition.search !== undefined },
    search: definition.search ?? fields.filter(isText).map((field) => field.name),
    hasRowStore: definition.packed ?? fields.length <= rowStoreFieldsMax,
    orders: (definition.orders ?? []).map((keys) => ({ keys: keys.map((key) => signedKey(key)) })),
    measures: definition.measures ?? [],
    totals: new Map(Object.entries(definition.totals ?? {})),
    exportRowsMax: definition.export_rows ?? exportRowsDefault,
    rejectsMax: definition.max_rejects ?? 0,
    refreshed: definition.refreshed ?? null,
    mayBeEmpty: definition.may_be_empty ?? false,
    source: buildSource(definition.source ?? {}),
  }
}

function isText({ type }: Field): boolean {
  return typeRow(type).isText
}

function sayOrNull(texts: Texts | undefined, say: Say): string | null {
  return texts === undefined ? null : say(texts)
}

function buildField(definition: FieldDefinition, source: SourceDefinition, say: Say): Field {
  const { name, type, title, description, unit, kind, precision, scale, mask } = definition
  return {
    name,
    type,
    title: sayOrNull(title, say),
    description: sayOrNull(description, say),
    unit: sayOrNull(unit, say),
    kind: kind ?? null,
    precision: precision ?? digitsDefault.precision,
    scale: scale ?? digitsDefault.scale,
    reading: buildReading(definition, source),
    mask: mask ?? null,
  }
}

const booleansDefault = { true: ['true', 'True', 'TRUE'], false: ['false', 'False', 'FALSE'] }

/** As POSIX has it. */
const twoDigitYearsFromDefault = 1969

/** What a field says of its values, or else its table. */
function buildReading(field: FieldDefinition | null, source: SourceDefinition = {}): Reading {
  const moment = field === null ? null : typeRow(field.type).moment
  const formats = field?.format ?? (moment === null ? undefined : source[moment])
  return {
    trims: field?.trim ?? source.trim ?? false,
    nulls: field?.nulls ?? source.nulls ?? [''],
    decimal: field?.decimal ?? source.decimal ?? '.',
    groups: separatorOf(field?.groups ?? source.groups),
    marks: field?.marks ?? source.marks ?? [],
    minus: field?.minus ?? source.minus ?? [],
    tenfolds: Math.round(Math.log10(field?.factor ?? 1)),
    separator: field?.separator ?? null,
    booleans: field?.booleans ?? source.booleans ?? booleansDefault,
    formats: formats === undefined ? [] : [formats].flat(),
    timezone: field?.timezone ?? source.timezone ?? null,
    twoDigitYearsFrom: field?.two_digit_years_from ?? source.two_digit_years_from ?? twoDigitYearsFromDefault,
  }
}

function separatorOf(groups: string | undefined): string | null {
  return groups === undefined || groups === 'none' ? null : groups
}

function buildFiles(files: string | { path: string; constants: Record<string, string> }): SomeFiles {
  if (typeof files === 'string') return { path: files, constants: new Map() }
  return { path: files.path, constants: new Map(Object.entries(files.constants)) }
}

function buildSource(source: NonNullable<SourceDefinition>): SourceForm {
  return {
    files: source.files === undefined ? null : [source.files].flat().map(buildFiles),
    fromName: source.from_name ?? null,
    unionByName: source.union_by_name ?? false,
    member: source.member ?? null,
    checksums: source.checksums ?? null,
    encoding: source.encoding ?? 'utf-8',
    delimiter: source.delimiter ?? ',',
    quote: source.quote === 'none' ? null : (source.quote ?? '"'),
    reading: buildReading(null, source),
    lineTerminator: source.line_terminator ?? 'lf',
    skipLines: source.skip_lines ?? 0,
    skipLast: source.skip_last ?? 0,
    stopAt: source.stop_at ?? null,
    comment: source.comment ?? null,
    skipRepeatedHeaders: source.skip_repeated_headers ?? false,
    dropEmptyExtraCells: source.drop_empty_extra_cells ?? false,
    header: source.header ?? null,
    headerInFile: source.header_in_file ?? null,
    rename: new Map(Object.entries(source.rename ?? {})),
    ignore: new Set(source.ignore),
    constants: new Map(Object.entries(source.constants ?? {})),
  }
}

/** Tables of more fields have no row store by default: their rows are long, and it is written field by field. */
const rowStoreFieldsMax = 200

function buildOrderKey(key: string, names: readonly string[]): OrderKey {
  const field = orderedField(key, names)
  return { field, direction: key !== field && key.endsWith(' desc') ? 'desc' : 'asc' }
}

/** Freezes plain objects and arrays; Maps and Sets stay read-only by their type. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  const inner = value instanceof Map ? value.values() : Object.values(value)
  for (const item of inner) deepFreeze(item)
  return Object.freeze(value)
}
