import { compareBytes, parsedJson } from '../../text.ts'
import { plainJson, plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'

const expected = 'JSON (RFC 8259), such as {"name": "Ana", "scores": [1, 2.50]}'

// Replaces tabs and line breaks by spaces: valid JSON has them only between values, and NDJSON needs one line
// per row.
const inOneLine = (text: string): string => `translate(${text}, chr(9) || chr(10) || chr(13), '   ')`

// DuckDB's `json_valid` also accepts NaN, Infinity and a trailing comma, so these are excluded outside of
// strings.
const withoutTexts = (text: string): string => `regexp_replace(${text}, '"(?:[^"\\\\]|\\\\.)*"', '""', 'g')`
const isJson = (text: string): string =>
  `json_valid(${text}) and not regexp_matches(${withoutTexts(text)}, '(?i)nan|inf|,\\s*[\\]}]')`

export const json: FieldTypeRow = {
  ...plainType,
  pattern: () => '(?s).*',
  expects: () => expected,
  stored: () => 'VARCHAR',
  certain: isJson,
  representable: isJson,
  value: inOneLine,
  canonical: inOneLine,
  rendered: unchangedSql,
  isOrdered: false,
  parse: (text) => (parsedJson(text) === undefined ? null : text.replaceAll(/[\t\n\r]/g, ' ')),
  expectsInQuery: `${expected}, written exactly as in the rows`,
  compare: compareBytes,
  wire: plainJson,
  csvOfJson: null,
  isQuotedInCsv: true,
  schema: {},
  operandSchema: () => ({
    type: 'string',
    minLength: 1,
    maxLength: 1000,
    contentMediaType: 'application/json',
  }),
  called: {
    tableSchema: 'any',
    csvw: 'json',
    croissant: 'sc:Text',
    typescript: 'unknown',
    python: 'object',
    r: 'character',
  },
}
