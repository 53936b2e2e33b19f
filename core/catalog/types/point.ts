import { compareAscii, type FieldTypeRow } from './field-type.ts'
import { json } from './json.ts'

const expected =
  'a latitude from -90 to 90 and a longitude from -180 to 180, such as -23.55, -46.63, or as POINT (-46.63 -23.55)'

const number = '[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)'
const pair = `\\s*(?:[(\\[]\\s*)?(${number})(?:\\s*[,;]\\s*|\\s+)(${number})\\s*(?:[)\\]]\\s*)?`
const wellKnown = `\\s*(?:POINT|Point|point)\\s*\\(\\s*(${number})\\s+(${number})\\s*\\)\\s*`
const pattern = `${pair}|${wellKnown}`

const lengthMax = 200

const shortenings = [
  ['^\\+', ''],
  ['^(-?)0+([0-9])', '\\1\\2'],
  ['^(-?)\\.', '\\10.'],
  ['\\.0*$|(\\.[0-9]*[1-9])0+$', '\\1'],
  ['^-0$', '0'],
] as const

const shortSql = (sql: string): string =>
  shortenings.reduce((text, [from, to]) => `regexp_replace(${text}, '${from}', '${to}')`, sql)

const short = (text: string): string =>
  shortenings.reduce(
    (shorter, [from, to]) =>
      shorter.replace(new RegExp(from), (_all, first: string | undefined, two: string | undefined) =>
        to.replace('\\1', typeof first === 'string' ? first : '').replace('\\2', String(two)),
      ),
    text,
  )

const written = (point: string): string => {
  const part = (ofPair: number, ofText: number): string =>
    shortSql(
      `case when regexp_full_match(${point}, '${pair}') then regexp_extract(${point}, '^${pair}$', ${ofPair})
        else regexp_extract(${point}, '^${wellKnown}$', ${ofText}) end`,
    )
  return `${part(1, 2)} || ',' || ${part(2, 1)}`
}

const isPlace = (latitude: number, longitude: number): boolean =>
  Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180

/** Latitude and longitude in degrees of WGS 84, with the digits of the source. */
export const point: FieldTypeRow = {
  ...json,
  parts: 'degrees',
  dialect: 'degrees',
  pattern: () => pattern,
  expects: () => expected,
  certain: isHeld,
  representable: (_text, value) => isHeld(value),
  value: written,
  canonical: written,
  expectsInQuery: expected,
  parse: (text) => {
    const match = text.length > lengthMax ? null : new RegExp(`^(?:${pattern})$`).exec(text)
    const [, first, two, longitude = '', latitude = ''] = match ?? []
    if (match === null) return null
    const coordinates = [first ?? latitude, two ?? longitude]
    return isPlace(Number(coordinates[0]), Number(coordinates[1])) ? coordinates.map(short).join() : null
  },
  compare: compareAscii,
  json: (column) =>
    `'{"lat":' || split_part(${column}, ',', 1) || ',"lon":' || split_part(${column}, ',', 2) || '}'`,
  wire: { kind: 'json', text: (rendered) => `{"lat":${rendered.replace(',', ',"lon":')}}` },
  csvOfJson: (text) => text.replaceAll(/[^\d.,-]/g, ''),
  schema: {
    type: 'object',
    properties: {
      lat: { type: 'number', minimum: -90, maximum: 90 },
      lon: { type: 'number', minimum: -180, maximum: 180 },
    },
    required: ['lat', 'lon'],
    additionalProperties: false,
  },
  operandSchema: () => ({
    type: 'string',
    pattern: '^-?[1-8]?[0-9](\\.[0-9]{1,9})?,-?(1[0-7][0-9]|[1-9]?[0-9])(\\.[0-9]{1,9})?$',
  }),
  called: {
    tableSchema: 'string',
    csvw: 'string',
    croissant: 'sc:Text',
    typescript: '{ lat: number; lon: number }',
    python: 'dict',
    r: 'character',
  },
}

function isHeld(value: string): string {
  const isWithin = (part: number, max: number): string =>
    `abs(try_cast(split_part(${value}, ',', ${part}) as double)) <= ${max}`
  return `${isWithin(1, 90)} and ${isWithin(2, 180)}`
}
