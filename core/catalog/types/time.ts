import { plainType, type FieldTypeRow } from './field-type.ts'

const pattern = '[0-9]{1,2}:[0-5][0-9]:[0-5][0-9]'

const padded = (text: string): string => `lpad(${text}, 8, '0')`

/** Times to the second. Hours go up to 99, since timetables count on after midnight. */
export const time: FieldTypeRow = {
  ...plainType,
  moment: 'time',
  pattern: () => pattern,
  expects: () => 'a time of day as hh:mm:ss, such as 18:05:00, or 25:10:00 for 01:10:00 of the next day',
  // Stored as text, since TIME ends at 24:00. Padded texts sort like the times.
  stored: () => 'VARCHAR',
  certain: (text) => `regexp_full_match(${text}, '[0-9]{2}:[0-5][0-9]:[0-5][0-9]')`,
  value: padded,
  canonical: padded,
  measure: {
    number: (value) => `(${value}[1:2]::double * 3600 + ${value}[4:5]::double * 60 + ${value}[7:8]::double)`,
    text: (seconds) => {
      const wholeSeconds = Math.floor(seconds)
      const parts = [wholeSeconds / 3600, (wholeSeconds / 60) % 60, wholeSeconds % 60].map((part) =>
        String(Math.floor(part)).padStart(2, '0'),
      )
      return parts.join(':')
    },
  },
  parse: (text) => {
    const [, hours = '', minutes, seconds = '00'] = /^(\d{1,2}):([0-5]\d)(?::([0-5]\d))?$/.exec(text) ?? []
    return minutes === undefined ? null : `${hours.padStart(2, '0')}:${minutes}:${seconds}`
  },
  expectsInQuery: 'a time of day such as 18:05:00, 18:05, or 25:10:00 for 01:10:00 of the next day',
  // `format: time` allows hours only up to 23.
  schema: { type: 'string', pattern: '^[0-9]{2}:[0-5][0-9]:[0-5][0-9]$' },
  operandSchema: () => ({ type: 'string', pattern: '^[0-9]{1,2}:[0-5][0-9](:[0-5][0-9])?$' }),
  called: {
    tableSchema: 'string',
    csvw: 'string',
    croissant: 'sc:Text',
    typescript: 'string',
    python: 'str',
    r: 'character',
  },
}
