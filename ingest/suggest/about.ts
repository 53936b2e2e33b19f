import { asIso, parseDateFormat } from '../../core/catalog/date-format.ts'
import type { Frequency } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import type { SuggestedField } from './types.ts'

/** A column as it was suggested, and SQL of its text. */
export interface SuggestedColumn {
  readonly name: string
  readonly field: SuggestedField
  readonly text: string
}

/** The codes of the states of Brazil, and of the whole. */
const states = new Set(
  'AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO BR'.split(' '),
)

/** Days between a date and the next that are usual, most often one of these. */
const steps: readonly (readonly [Frequency, from: number, to: number])[] = [
  ['daily', 1, 1],
  ['weekly', 7, 7],
  ['monthly', 28, 31],
  ['quarterly', 89, 92],
  ['annual', 365, 366],
]

/**
 * What a file tells of the dataset that it belongs to, as lines that an author may take over: the keys by which datasets are
 * found, with the evidence, and those of which no file tells anything.
 *
 * @param from SQL of its rows
 */
export async function aboutDataset(
  db: Connection,
  from: string,
  columns: readonly SuggestedColumn[],
): Promise<string[]> {
  const told = [...(await daysIn(db, from, columns)), ...(await placeIn(db, from, columns))]
  return [
    'of the dataset that it belongs to, for whoever harvests it; all of it may be left out:',
    ...told.map((line) => `  ${line}`),
    '  publisher, contact, themes, keywords, language and the unit of a field: no file tells them',
  ]
}

/** The days that it covers, by the dated column that covers the most, and how often there is a new one. */
async function daysIn(db: Connection, from: string, columns: readonly SuggestedColumn[]): Promise<string[]> {
  const found: { name: string; start: string; end: string; gap: number; days: number }[] = []
  for (const { name, field, text } of columns) {
    const iso = isoOf(field, text)
    if (iso === null) continue
    const [row = []] =
      await db.rows(`with days as (select distinct try_cast(left(${iso}, 10) as date) as day from ${from}),
      gaps as (select day, date_diff('day', lag(day) over (order by day), day) as gap from days where day is not null)
      select min(day)::varchar, max(day)::varchar, coalesce(mode(gap), 0), count(*) from gaps`)
    const [start, end, gap, days] = row
    if (typeof start !== 'string' || typeof end !== 'string') continue
    found.push({ name, start, end, gap: Number(gap), days: Number(days) })
  }
  const [most] = found.toSorted((a, b) => b.days - a.days)
  if (most === undefined) return []
  const { name, start, end, gap, days } = most
  const step = steps.find(([, least, greatest]) => gap >= least && gap <= greatest)
  return [
    `temporal: { start: ${start}, end: ${end} } # the days of "${name}"`,
    ...(step === undefined || days < 3
      ? []
      : [
          `frequency: ${step[0]} # a new "${name}" follows most often after ${gap} ${gap === 1 ? 'day' : 'days'}`,
        ]),
  ]
}

/** SQL of the text as ISO 8601; null where it is no date or time. */
function isoOf({ type, dateFormat, datetimeFormat }: SuggestedField, text: string): string | null {
  if (type !== 'date' && type !== 'datetime') return null
  const written = type === 'date' ? dateFormat : datetimeFormat
  const format = written === undefined ? null : parseDateFormat(written, type)
  return format === null ? text : `(${asIso(format, text, 'UTC')})`
}

async function placeIn(db: Connection, from: string, columns: readonly SuggestedColumn[]): Promise<string[]> {
  for (const { name, field, text } of columns) {
    if (field.type !== 'string') continue
    const rows = await db.rows(
      `select distinct ${text} from ${from} where ${text} is not null limit ${states.size + 1}`,
    )
    const values = rows.map(([value]) => String(value))
    if (values.length < 2 || values.some((value) => !states.has(value))) continue
    return [
      `spatial: { name: Brazil, uri: 'https://sws.geonames.org/3469034/' } # all values of "${name}" are states of Brazil`,
    ]
  }
  return []
}
