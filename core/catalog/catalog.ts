import { z } from 'zod'
import { isBelow } from './catalog-files.ts'
import { coloursDefault, contrastIn, contrastMin, type Light } from './colours.ts'
import { contact, datasetDefinition, buildDataset, publisher } from './dataset.ts'
import { engineNames, languages, type Language } from './names.ts'
import {
  camelKeys,
  count,
  omit,
  optional,
  plainText,
  reportRepeats,
  Texts,
  texts,
  type Path,
  type ReportFault,
} from './shapes.ts'

export type { OrderKey } from './order-key.ts'

/**
 * The catalog. Each key of catalog.yaml is described once, here or in a neighbouring file: its shape, default
 * and description for editors. `parse.ts` reads documents with these schemas.
 */

const unitsMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const span = z
  .string()
  .regex(/^[1-9]\d{0,4}[smhd]$/, 'must be a span of time such as 30s, 1m, 1h or 1d')
  .describe('Time window.')

function withWindow<T extends { readonly per: string }>(limit: T) {
  const unit = limit.per.at(-1) as keyof typeof unitsMs
  return { ...limit, windowMs: Number(limit.per.slice(0, -1)) * unitsMs[unit] }
}

const limits = z
  .array(
    z
      .strictObject({
        requests: count(1, 1_000_000_000).describe('Most requests of one client in the window.'),
        per: span,
      })
      .transform(withWindow),
  )
  // Limits are identified by their windows.
  .refine(
    (windows) => new Set(windows.map(({ per }) => per)).size === windows.length,
    'must have a different window for each limit',
  )

const colour = (light: Light) =>
  z
    .string()
    .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as "#0a6b57", in quotes, in lower case')
    .refine(
      (value) => !/^#[0-9a-f]{6}$/.test(value) || contrastIn(light, value) >= contrastMin,
      `has too little contrast on a ${light} page: take a ${light === 'light' ? 'darker' : 'lighter'} one`,
    )

const family = z.strictObject({
  prefix: z
    .string()
    .regex(/^(\/[a-z0-9_-]+)+$/, 'must be a path such as /api/v1, without a final slash')
    .describe('Path of the whole catalog.'),
  scheme: z
    .enum(['http', 'https', 'public'])
    .describe(
      'Scheme of absolute addresses unless PUBLIC_URL is a loopback address; public means that of PUBLIC_URL.',
    ),
  trailing_slash: z.boolean().describe('True if its addresses end in a slash.'),
})

const includedPath = plainText.refine(
  isBelow,
  'must be a path below the folder of the catalog, such as datasets/*.yaml',
)

const logoPath = plainText
  .refine(isBelow, 'must be a path below the folder of the catalog, such as logo.svg')
  .refine((file) => logoType(file) !== null, 'must be an SVG or PNG file, such as logo.svg')

/** Returns the media type of a logo by the ending of its name; null for other files. */
export function logoType(file: string): string | null {
  return file.endsWith('.svg') ? 'image/svg+xml' : file.endsWith('.png') ? 'image/png' : null
}

/** Returns a text without accents, as HTTP headers have to be. */
export function withoutAccents(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '')
}

export const catalogShape = z.strictObject({
  title: texts,
  description: optional(texts),
  /** Sentence that asks clients to use the API sparingly (spec: Limits 1). */
  notice: texts
    .refine(
      (notice) => /^[ -~]+$/.test(withoutAccents(notice.in(null))),
      'must be one line of Latin letters in the first language, which is sent in an HTTP header without accents: begin with another language, such as { en: Be gentle, pt: Vá com calma }',
    )
    .prefault({
      en: 'Use this API sparingly, not to pull entire datasets: for a complete dataset, download its files instead.',
      pt: 'Use esta API com moderação, não para extrair conjuntos inteiros: para um conjunto completo, baixe seus arquivos.',
    })
    .describe('Asks clients to use the API sparingly; sent with every page.'),
  // oxlint-disable-next-line id-denylist -- Key of catalog.yaml.
  about: optional(texts).describe('Text of the page about the service, in Markdown without HTML.'),
  publisher,
  contact,
  logo: optional(logoPath).describe(
    'SVG or PNG file below the folder of the catalog, shown before the title of each page.',
  ),
  colours: z
    .strictObject({ light: colour('light'), dark: colour('dark') })
    .default(coloursDefault)
    .describe('Colours of links, buttons and bars, on light and dark pages.'),
  limits: z.strictObject({
    rows: limits.describe('Limits for pages of rows.'),
    catalog: limits.describe('Limits for everything except rows and files.'),
    exports: limits
      .prefault([{ requests: 600, per: '10m' }])
      .describe('Limits for exports. Default is 600 in 10m.'),
    files: limits
      .prefault([{ requests: 3000, per: '1m' }])
      .describe('Limits for published files, which DuckDB reads by ranges. Default is 3000 in 1m.'),
    share: z
      .strictObject({
        percent: count(1, 100).describe('Percent of all processors; 100 is no limit.'),
        per: span,
      })
      .transform(withWindow)
      .prefault({ percent: 25, per: '1m' })
      .describe(
        'Share of the processor time of the machine for the requests of one client in a window: large pages, searches, exports and files cost more. Default is 25 percent in 1m.',
      ),
  }),
  families: z.record(z.string(), family),
  engine: z
    .enum(engineNames)
    .default('duckdb')
    .describe('Engine for filters and orders of tables without their own. Default is duckdb.'),
  include: z
    .union([includedPath, z.array(includedPath)])
    .optional()
    .describe(
      'Files below the folder of the catalog with a dataset each, or a list of them, such as `datasets/*.yaml`; `*` is any part of a name. Their datasets follow those of this file.',
    ),
  datasets: z.array(z.unknown()),
})

export const catalogDefinition = catalogShape
  .extend({
    datasets: z.array(datasetDefinition).describe('Datasets; may be omitted if files are included.'),
  })
  .describe('The datasets of an Acervo service.')

export function catalogJsonSchema(): unknown {
  const { required = [], ...schema } = z.toJSONSchema(catalogDefinition, { io: 'input' })
  // `datasets` is not required, since included files may contain all datasets.
  return { title: 'Acervo catalog', ...schema, required: required.filter((key) => key !== 'datasets') }
}

const ownPlaces: readonly (readonly [place: string, description: string])[] = [
  ['/files', 'files'],
  ['/health', 'the state of the service'],
  ['/livez', 'the check that the process responds'],
  ['/readyz', 'the check that the service is ready'],
  ['/limits', 'the remaining quotas of a client'],
  ['/assets', 'styles and scripts of pages'],
  ['/metadata', 'the metadata documents'],
  ['/catalog', 'the DCAT catalog'],
  ['/feeds', 'the feeds'],
  ['/api/3', 'the CKAN API'],
  ['/api/action', 'the CKAN API'],
  ...languages.map((language) => [`/${language}`, 'the HTML pages'] as const),
]

/** Reports families whose addresses would collide with other resources, or with the datasets of another family. */
export function checkFamilies(
  families: Readonly<Record<string, { prefix: string }>>,
  report: ReportFault,
): void {
  if (Object.keys(families).length === 0) report([], '"families" is empty: declare at least one family')
  const prefixes = Object.entries(families).map(([name, { prefix }]): [Path, string] => {
    if (!/^[a-z][a-z0-9_-]*$/.test(name))
      report([name], `the family name "${name}" must be lower-case letters, digits, - and _, letter first`)
    return [[name, 'prefix'], prefix]
  })
  reportRepeats(prefixes, 'family prefix', report)
  for (const [path, prefix] of prefixes) {
    const reservedPlace = ownPlaces.find(([place]) => isWithin(prefix, place))
    if (reservedPlace !== undefined)
      report(path, `"${prefix}" is used for ${reservedPlace[1]}: choose another, such as /api/v1`)
    for (const [, otherPrefix] of prefixes) {
      const conflict = [`${otherPrefix}/dataset`, `${otherPrefix}/datasets`].some((place) =>
        isWithin(prefix, place),
      )
      if (conflict)
        report(
          path,
          `"${prefix}" is below the addresses of datasets at ${otherPrefix}: choose another prefix`,
        )
    }
  }
}

function isWithin(address: string, place: string): boolean {
  return address === place || address.startsWith(`${place}/`)
}

/** Returns the catalog as the server and the ingest use it, with texts in all languages. */
export function buildCatalog(definition: z.output<typeof catalogDefinition>) {
  const families = Object.entries(definition.families).map(([name, settings]) => ({
    name,
    ...camelKeys(settings),
  }))
  const datasets = definition.datasets.map((dataset) => buildDataset(dataset, { ...definition, families }))
  return {
    ...omit(definition, ['engine', 'include']),
    description: definition.description ?? '',
    families,
    datasets: new Map(datasets.map((dataset) => [dataset.slug, dataset])),
  }
}

type Translated<T> = T extends Texts
  ? string
  : T extends ReadonlyMap<infer Key, infer Value>
    ? ReadonlyMap<Key, Translated<Value>>
    : T extends ReadonlySet<infer Item>
      ? ReadonlySet<Item>
      : T extends object
        ? { readonly [Key in keyof T]: Translated<T[Key]> }
        : T

/**
 * Returns a frozen value with its texts in a language, or in their first language for null. Copies only parts
 * with texts. Maps and Sets are read-only by their types alone.
 */
export function translated<T>(value: T, language: Language | null): Translated<T> {
  return translate(value, language) as Translated<T>
}

function translate(value: unknown, language: Language | null): unknown {
  if (value instanceof Texts) return value.in(language)
  if (typeof value !== 'object' || value === null || value instanceof Set) return value
  if (value instanceof Map) {
    const pairs = Array.from(value, ([key, item]: [unknown, unknown]) => [
      key,
      item,
      translate(item, language),
    ])
    const isSame = pairs.every(([, item, result]) => item === result)
    return isSame ? value : new Map(pairs.map(([key, , result]) => [key, result]))
  }
  if (Array.isArray(value)) {
    const items: unknown[] = value.map((item) => translate(item, language))
    return Object.freeze(items.every((item, index) => item === value[index]) ? value : items)
  }
  const record = value as Readonly<Record<string, unknown>>
  const changedEntries: [string, unknown][] = []
  for (const key of Object.keys(record)) {
    const result = translate(record[key], language)
    if (result !== record[key]) changedEntries.push([key, result])
  }
  return Object.freeze(
    changedEntries.length === 0 ? record : { ...record, ...Object.fromEntries(changedEntries) },
  )
}

export type CatalogTexts = Translated<ReturnType<typeof buildCatalog>>
/** A scheme of addresses for the whole catalog (spec: Versioning 1). */
export type Family = CatalogTexts['families'][number]
export type Limits = CatalogTexts['limits']
export type Limit = Limits['rows'][number]
export type Window = Pick<Limit, 'per' | 'windowMs'>
export type Party = NonNullable<Dataset['license']>
export type Originator = NonNullable<Dataset['author']>
export type Contact = NonNullable<CatalogTexts['contact']>
type MapValue<T> = T extends ReadonlyMap<unknown, infer Value> ? Value : never
export type Dataset = MapValue<CatalogTexts['datasets']>
export type Place = NonNullable<Dataset['spatial']>
export type Period = NonNullable<Dataset['temporal']>
export type AddressForm = MapValue<Dataset['forms']>
export type Table = MapValue<Dataset['tables']>
export type Field = Table['fields'][number]
/** Spelling of a field's values in the source, declared by the field, or else by its table. */
export type Reading = Field['reading']
export type SourceForm = Table['source']
/** A path under SOURCES with `*` for any part of a name, or an http(s) address. */
export type SomeFiles = NonNullable<SourceForm['files']>[number]
export type Encoding = SourceForm['encoding']

/** The catalog, with each text in its default language, which is the first one declared. */
export interface Catalog extends CatalogTexts {
  readonly inLanguage: ReadonlyMap<Language, CatalogTexts>
  readonly hash: string
  readonly logoBytes: Uint8Array | null
}

/** Returns `dataset/table`, the name of a table on the command line, in logs and in reports. */
export function tableId(table: Pick<Table, 'dataset' | 'name'>): string {
  return `${table.dataset}/${table.name}`
}

/** Datasets that at least one family lists; the other ones are reached by address alone. */
export function listedDatasets({ datasets }: CatalogTexts): Dataset[] {
  return [...datasets.values()].filter(({ listedIn }) => listedIn.size > 0)
}

export function allTables(catalog: CatalogTexts): Table[] {
  return [...catalog.datasets.values()].flatMap((dataset) => [...dataset.tables.values()])
}

/**
 * Returns whether messages must not quote the source: a field is masked, or a column is ignored. An unquoted
 * delimiter shifts values, so any text may belong to a hidden column.
 */
export function hidesRows({ fields, source }: Pick<Table, 'fields' | 'source'>): boolean {
  return fields.some(({ mask }) => mask !== null) || source.ignore.size > 0
}

/** Describes a field in words: `Title: description (unit)`; empty if the catalog says nothing of it. */
export function describeField({
  title,
  description,
  unit,
}: Pick<Field, 'title' | 'description' | 'unit'>): string {
  const text = [title, description].filter((part) => part !== null).join(': ')
  return [text, unit === null ? '' : `(${unit})`].filter((part) => part !== '').join(' ')
}

/** Returns whether numbers are amounts with separated thousands, rather than years or codes. */
export function isAmount({ type, unit }: Pick<Field, 'type' | 'unit'>): boolean {
  return type !== 'integer' || unit !== null
}
