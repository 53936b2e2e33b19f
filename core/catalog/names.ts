/** The languages of people: pages are written in them, and the catalog may give its texts in each. */
export const languages = ['pt', 'en'] as const
export type Language = (typeof languages)[number]

/** The classes of requests, each with limits of its own. */
export const limitClasses = ['catalog', 'rows', 'exports', 'files'] as const
export type LimitClass = (typeof limitClasses)[number]

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

/** What may choose the rows of a table. */
export const engineNames = ['duckdb', 'clickhouse'] as const

export const maskNames = ['cpf'] as const
export type MaskName = (typeof maskNames)[number]

export const kindNames = ['date', 'uf'] as const
export type Kind = (typeof kindNames)[number]

/** Ways to write numbers below zero besides -5: with the minus of typography or an en dash before, or a minus behind. */
export const minusForms = ['\u22125', '\u20135', '5-'] as const
export type MinusForm = (typeof minusForms)[number]

export const encodingNames = ['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'latin-1', 'windows-1252'] as const
