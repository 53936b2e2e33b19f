import { asText, plainType, type FieldTypeRow } from './field-type.ts'

const expected = 'a calendar date as YYYY-MM-DD, such as 2020-06-12'

/**
 * Returns a valid date as YYYY-MM-DD; null for other texts. Accepts DD/MM/YYYY too, for clients of Brasil.IO.
 */
export function dateOf(text: string): string | null {
  const iso = text.replace(/^(\d{2})\/(\d{2})\/(\d{4})$/, '$3-$2-$1')
  if (!/^\d{4}-\d{2}-\d{2}$/.test(iso)) return null
  const time = Date.parse(`${iso}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(iso) ? iso : null
}

/** Formats seconds since 1970 as the first `length` characters of ISO 8601. */
export function momentText(seconds: number, length: number): string {
  return new Date(1000 * seconds).toISOString().slice(0, length)
}

/** Calendar dates from year 0001 to 9999. */
export const date: FieldTypeRow = {
  ...plainType,
  moment: 'date',
  pattern: () => '[0-9]{4}-[0-9]{2}-[0-9]{2}',
  expects: () => expected,
  stored: () => 'DATE',
  // DuckDB writes years after 9999 or before Christ with more characters, and infinity with fewer.
  certain: (text) => `strlen(${text}) = 10`,
  measure: { number: (value) => `epoch(${value})`, text: (seconds) => momentText(seconds, 10) },
  parse: dateOf,
  expectsInQuery:
    'a calendar date such as 2020-06-12 or 12/06/2020, or a month or year such as 2020-06 or 2020',
  json: asText,
  arrow: { type: 'date', values: (column) => `date_diff('day', date '1970-01-01', ${column})::integer` },
  schema: { type: 'string', format: 'date' },
  operandSchema: () => ({ type: 'string', format: 'date' }),
  called: {
    tableSchema: 'date',
    csvw: 'date',
    croissant: 'sc:Date',
    typescript: 'string',
    python: 'str',
    r: 'Date',
  },
}
