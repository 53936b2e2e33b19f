export const languages = ['pt', 'en'] as const
export type Language = (typeof languages)[number]

/** Classes of requests, each with limits of its own. */
export const limitClasses = ['catalog', 'rows', 'exports', 'files'] as const
export type LimitClass = (typeof limitClasses)[number]

/** Some frequencies of the EU Vocabularies, in lower case. */
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
/** Longest expected time between two updates, in ms; null if undefined. */
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
export const dueFrequencies = frequencyNames.filter((name) => spanOf[name] !== null)

export const themeNames = [
  'AGRI',
  'ECON',
  'EDUC',
  'ENER',
  'ENVI',
  'GOVE',
  'HEAL',
  'INTR',
  'JUST',
  'REGI',
  'SOCI',
  'TECH',
  'TRAN',
] as const

export const engineNames = ['duckdb', 'clickhouse'] as const

export const maskNames = ['cpf'] as const
export type MaskName = (typeof maskNames)[number]

export const kindNames = ['date', 'uf'] as const
export type Kind = (typeof kindNames)[number]

export const minusForms = ['\u22125', '\u20135', '5-'] as const
export type MinusForm = (typeof minusForms)[number]

export const byteEncodings = [
  'latin-1',
  'windows-1252',
  'cp850',
  'macintosh',
  'windows-1250',
  'windows-1251',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-15',
] as const
export const encodingNames = [
  'utf-8',
  'utf-16',
  'utf-16le',
  'utf-16be',
  ...byteEncodings,
  'shift-jis',
  'gb18030',
] as const

/** Suffixes of names of fields: `new_deaths__sum`. */
export const measureFunctionNames = ['count', 'distinct', 'min', 'max', 'sum', 'avg', 'median'] as const

/** Suffixes of names of fields: `date__week`. */
export const datePartNames = ['year', 'quarter', 'month', 'week', 'day', 'weekday'] as const
