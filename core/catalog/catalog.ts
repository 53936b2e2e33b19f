import type { Colours } from './colours.ts'
import type { FieldType } from './field-types.ts'
import type { Language } from './languages.ts'
import type { Theme } from './metadata.ts'
import type { Digits } from './types/field-type.ts'

/** What is published: catalog.yaml, checked and frozen. Of a text in several languages it has the first. */
export interface Catalog extends CatalogTexts {
  /** The same, with its texts in a language wherever it has them in it. */
  readonly inLanguage: ReadonlyMap<Language, CatalogTexts>
  /** Of the text that it was read from: another catalog, another hash. */
  readonly hash: string
}

/** The catalog with each of its texts in one language. */
export interface CatalogTexts {
  readonly title: string
  readonly description: string
  /** The sentence that asks readers to use the API sparingly (spec: Limits 1). */
  readonly notice: string
  /** Of the service; null where the catalog does not say. */
  readonly publisher: Party | null
  readonly contact: Contact | null
  readonly colours: Colours
  readonly limits: Limits
  readonly families: readonly Family[]
  /** By slug, in the order of declaration. */
  readonly datasets: ReadonlyMap<string, Dataset>
}

/** The classes of requests, each with limits of its own. */
export const limitClasses = ['catalog', 'rows', 'exports', 'files'] as const
export type LimitClass = (typeof limitClasses)[number]

/** How many requests of each class one client may make. */
export type Limits = Readonly<Record<LimitClass, readonly Limit[]>> & {
  /** How much of the processors' time all its requests may cost. */
  readonly share: Window & { readonly percent: number }
}

/** The span of time of a limit. */
export interface Window {
  readonly windowMs: number
  /** As written in the catalog, such as `1m`. */
  readonly per: string
}

/** At most `requests` from one client in a window. */
export interface Limit extends Window {
  readonly requests: number
}

/** One way of addressing the whole catalog (spec: Versioning 1). */
export interface Family {
  readonly name: string
  /** Starts with a slash and ends without one. */
  readonly prefix: string
  /** `public` is that of PUBLIC_URL. */
  readonly scheme: 'http' | 'https' | 'public'
  readonly trailingSlash: boolean
}

/** How the addresses and times of one dataset are written in one family. */
export interface AddressForm {
  readonly detailSlash: boolean
  readonly dataSlash: boolean
  /** IANA zone in which `import_date` is written. */
  readonly timezone: string
}

export interface Party {
  readonly name: string
  readonly url: string
}

/** Whom to ask: by mail, at an address, or both. */
export interface Contact {
  readonly name: string
  readonly email: string | null
  readonly url: string | null
}

export interface Place {
  readonly name: string
  /** In a gazetteer. */
  readonly uri: string | null
  /** West, south, east and north, in degrees. */
  readonly bbox: readonly [number, number, number, number] | null
}

/** Days as `YYYY-MM-DD`, both included; null where it goes on. */
export interface Period {
  readonly start: string
  readonly end: string | null
}

/** A few of the frequencies of the EU Vocabularies, in lower case. */
export const frequencyNames = [
  'continuous',
  'daily',
  'weekly',
  'monthly',
  'quarterly',
  'annual',
  'irregular',
  'never',
] as const
export type Frequency = (typeof frequencyNames)[number]

const dayMs = 86_400_000
/** How long is between one and the next, in ms; null where nothing is said of it. */
export const spanOf: Readonly<Record<Frequency, number | null>> = {
  continuous: dayMs,
  daily: dayMs,
  weekly: 7 * dayMs,
  monthly: 31 * dayMs,
  quarterly: 92 * dayMs,
  annual: 366 * dayMs,
  irregular: null,
  never: null,
}
/** Those that say when the next is due. */
export const dueFrequencies = frequencyNames.filter((name) => spanOf[name] !== null)

export interface Dataset {
  readonly slug: string
  readonly name: string
  readonly description: string
  readonly author: Party | null
  readonly source: Party | null
  readonly license: Party | null
  readonly codeUrl: string | null
  /** `YYYY-MM-DD`. */
  readonly collectedAt: string
  /** How often it is promised to be published anew; null where nothing is promised. */
  readonly frequency: Frequency | null
  /** Its own, or those of the service. */
  readonly publisher: Party | null
  readonly contact: Contact | null
  readonly themes: readonly Theme[]
  readonly keywords: readonly string[]
  readonly spatial: Place | null
  readonly temporal: Period | null
  /** BCP 47 tags of the languages of its texts. */
  readonly language: readonly string[]
  readonly links: readonly { readonly title: string; readonly url: string }[]
  /** Names of the families whose list shows this dataset; its detail answers in all of them. */
  readonly listedIn: ReadonlySet<string>
  /** By name of family. */
  readonly forms: ReadonlyMap<string, AddressForm>
  /** By name, in the order of declaration. */
  readonly tables: ReadonlyMap<string, Table>
}

/** What may choose the rows of a table. */
export const engineNames = ['duckdb', 'clickhouse'] as const
type EngineName = (typeof engineNames)[number]

export interface Table {
  readonly dataset: string
  readonly name: string
  /** Null where the catalog has none. */
  readonly description: string | null
  /** In the order of declaration. */
  readonly fields: readonly Field[]
  /** How often its source is to be another; null where nobody waits for it. */
  readonly refreshed: Frequency | null
  /** The declared order; ingest makes it total by the position in the source. */
  readonly order: readonly OrderKey[]
  /** The field, the first of the order, that has one value in each file of the source; null where nothing is known of it. */
  readonly partition: string | null
  /** What is asked which rows a query chooses. */
  readonly engine: EngineName
  /** Fields that readers may filter by, and order by as well. */
  readonly filters: readonly string[]
  /** Fields that a search looks through. */
  readonly search: readonly string[]
  /** What the catalog names itself, so that it is made fast: values of these fields, and words of the search fields. */
  readonly indexes: { readonly values: readonly string[]; readonly words: boolean }
  /** Whether rows are stored once more so that few of them are read at little cost. */
  readonly hasRowStore: boolean
  /** Other orders that are stored. */
  readonly orders: readonly { readonly keys: readonly OrderKey[] }[]
  /** Integer and decimal fields whose sums over rows mean something. */
  readonly measures: readonly string[]
  /** By field: the value of rows that are totals of the others. */
  readonly totals: ReadonlyMap<string, string>
  /** Rows that one export may have. */
  readonly exportRowsMax: number
  /** Rows that may be left out because they are not as declared. */
  readonly rejectsMax: number
  /** Whether a source without any row is no drift. */
  readonly mayBeEmpty: boolean
  readonly source: SourceForm
}

export const maskNames = ['cpf'] as const
export type MaskName = (typeof maskNames)[number]

export const kindNames = ['date', 'uf'] as const
export type Kind = (typeof kindNames)[number]

export interface Field extends Digits {
  readonly name: string
  readonly type: FieldType
  /** What it is called to people; null where the catalog does not say. */
  readonly title: string | null
  readonly description: string | null
  /** What its numbers count or measure. */
  readonly unit: string | null
  /** What its texts are, where they are more than texts. */
  readonly kind: Kind | null
  /** How the source writes its values. */
  readonly reading: Reading
  /** What hides a part of the value before anything is written. */
  readonly mask: MaskName | null
}

/** Ways to write numbers below zero besides -5: with the minus of typography or an en dash before, or a minus behind. */
export const minusForms = ['\u22125', '\u20135', '5-'] as const
export type MinusForm = (typeof minusForms)[number]

/** How a source writes the values of a field: what the field says of it, or else its table. */
export interface Reading {
  /** Whether white space around a value is none of it. */
  readonly trims: boolean
  /** Texts that stand for null. */
  readonly nulls: readonly string[]
  readonly decimal: '.' | ','
  /** What separates groups of three digits; null where nothing does. */
  readonly groups: string | null
  /** Texts beside a number that say nothing of it, such as R$. */
  readonly marks: readonly string[]
  /** How numbers below zero are written besides -5. */
  readonly minus: readonly MinusForm[]
  /** Numbers are written as they are without this many tenfolds: -2 for cents. */
  readonly tenfolds: number
  /** What separates the texts of a list; null where it is written as JSON. */
  readonly separator: string | null
  readonly booleans: { readonly true: readonly string[]; readonly false: readonly string[] }
  /** How dates and times are written, each in one of these; empty where as ISO 8601. */
  readonly formats: readonly string[]
  /** IANA zone into which times with an offset are brought; null where none is declared, which ingest takes for UTC. */
  readonly timezone: string | null
  /** First year that a year of two digits may be; the last is 99 years later. */
  readonly twoDigitYearsFrom: number
}

export interface OrderKey {
  readonly field: string
  readonly direction: 'asc' | 'desc'
}

export const encodingNames = ['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'latin-1', 'windows-1252'] as const
export type Encoding = (typeof encodingNames)[number]

/** Files of a source: a path under SOURCES with * for any part of a name, or an http(s) address. */
export interface SomeFiles {
  readonly path: string
  /** Field -> the value of all their rows, as the source would write it. */
  readonly constants: ReadonlyMap<string, string>
}

/** Where the source CSV lies and how it is written. */
export interface SourceForm {
  /** Null for the usual place. */
  readonly files: readonly SomeFiles[] | null
  /** Fields that the path of a file tells, as `parseNamePattern` reads it. */
  readonly fromName: string | null
  /** Whether files may have other columns than the first, in another order. */
  readonly unionByName: boolean
  /** Which files of a zip, with * for any part of a name; null for the only one. */
  readonly member: string | null
  /** Name of a file of check sums beside the source. */
  readonly checksums: string | null
  readonly encoding: Encoding
  readonly delimiter: string
  /** Null where values are never enclosed. */
  readonly quote: string | null
  /** How values are written where their field does not say. */
  readonly reading: Reading
  /** `lf` is CRLF, too. */
  readonly lineTerminator: 'lf' | 'cr'
  /** Lines before the header. */
  readonly skipLines: number
  /** Lines at the end that are no rows, blank ones not counted. */
  readonly skipLast: number
  /** What the first line begins with that is no row any more. */
  readonly stopAt: string | null
  /** What lines begin with that are no rows. */
  readonly comment: string | null
  /** Cells of the header line that the names of the columns replace; null where there is none, or it has the names. */
  readonly headerInFile: readonly string[] | null
  /** Whether lines that repeat the header are left out instead of refused. */
  readonly skipRepeatedHeaders: boolean
  /** Whether empty cells beyond the columns of the header are dropped instead of refused. */
  readonly dropEmptyExtraCells: boolean
  /** Names of the columns where the source has no header line. */
  readonly header: readonly string[] | null
  /** Header name in the source -> field name. */
  readonly rename: ReadonlyMap<string, string>
  readonly ignore: ReadonlySet<string>
  /** Field -> the value of all its rows, as the source would write it. */
  readonly constants: ReadonlyMap<string, string>
}

/** `dataset/table`, the name of a table on the command line, in logs and in reports. */
export function tableId(table: Pick<Table, 'dataset' | 'name'>): string {
  return `${table.dataset}/${table.name}`
}

/** Those that a family lists; the others are there for whoever knows their address. */
export function listedDatasets({ datasets }: CatalogTexts): Dataset[] {
  return [...datasets.values()].filter(({ listedIn }) => listedIn.size > 0)
}

export function allTables(catalog: CatalogTexts): Table[] {
  return [...catalog.datasets.values()].flatMap((dataset) => [...dataset.tables.values()])
}

/** Whether what the source says may not be shown in messages: where values are hidden, nothing else may tell them. */
export function hidesText({ fields }: Pick<Table, 'fields'>): boolean {
  return fields.some(({ mask }) => mask !== null)
}
