import { dateOf, momentText } from './date.ts'
import { plainType, type FieldTypeRow } from './field-type.ts'

const expected = 'a date and time without offset, such as 2020-06-12 18:05:00 or 2020-06-12T18:05:00'

const inJson = (column: string): string => `replace(${column}::varchar, ' ', 'T')`

/** Dates with a time of day, without an offset, to the microsecond. */
export const datetime: FieldTypeRow = {
  ...plainType,
  moment: 'datetime',
  pattern: () => '[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,6})?',
  expects: () => expected,
  stored: () => 'TIMESTAMP',
  certain: (text) => `${text}[5] = '-' and ${text}[-1] <> ')'`,
  canonical: (text) => {
    const shortFraction = `regexp_replace(replace(${text}, 'T', ' '), '(\\.[0-9]*?)0+$', '\\1')`
    return `regexp_replace(${shortFraction}, '\\.$', '')`
  },
  measure: { number: (value) => `epoch(${value})`, text: (seconds) => momentText(seconds, 19) },
  parse: (text) => {
    // Browsers omit seconds that are zero.
    const [, day = '', minutes = '00:00', seconds = ':00', fraction = ''] =
      /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(?:(:\d{2})(\.\d{1,6})?)?)?$/.exec(text) ?? []
    const time = minutes + seconds
    if (dateOf(day) === null || !/^([01]\d|2[0-3])(:[0-5]\d){2}$/.test(time)) return null
    return `${day} ${time}${fraction.replace(/\.?(?<!0)0*$/, '')}`
  },
  expectsInQuery:
    'a date and time such as 2020-06-12T18:05:00, or a day, month or year such as 2020-06-12, 12/06/2020, 2020-06 or 2020',
  json: inJson,
  wire: { kind: 'text', text: (rendered) => rendered.replace(' ', 'T') },
  csv: inJson,
  arrow: { type: 'timestamp', values: (column) => `epoch_us(${column})` },
  // `date-time-local` is RFC 3339 without an offset, from the format registry of OpenAPI.
  schema: { type: 'string', format: 'date-time-local' },
  operandSchema: () => ({ type: 'string', format: 'date-time-local' }),
  called: {
    tableSchema: 'datetime',
    csvw: 'dateTime',
    croissant: 'sc:DateTime',
    typescript: 'string',
    python: 'str',
    r: 'character',
  },
}
