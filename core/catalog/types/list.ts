import { parsedJson, quotedJson } from '../../text.ts'
import { always, unchangedSql, type FieldTypeRow } from './field-type.ts'
import { json } from './json.ts'

const expected = 'a list of texts as JSON, such as ["water", "soil, air"]'

const text = '"(?:[^"\\\\]|\\\\.)*"'
const pattern = `\\s*\\[\\s*(?:${text}\\s*(?:,\\s*${text}\\s*)*)?\\]\\s*`

/** SQL: a list as JSON with DuckDB's escapes, without spaces; null if invalid. */
const jsonSql = (list: string): string =>
  `case when json_valid(${list}) and regexp_full_match(${list}, '${pattern}') then to_json(from_json(${list}, '["varchar"]'))::varchar end`

export const list: FieldTypeRow = {
  ...json,
  parts: 'texts',
  dialect: 'list',
  pattern: () => pattern,
  expects: () => expected,
  certain: always,
  representable: always,
  value: jsonSql,
  // Escapes are resolved as in stored values, so that `"\u0061"` and `"a"` compare as equal.
  canonical: jsonSql,
  expectsInQuery: expected,
  parse: (operand) => {
    const items = parsedJson(operand)
    if (!Array.isArray(items)) return null
    const texts = items.filter((item) => typeof item === 'string')
    return texts.length === items.length ? `[${texts.map(quotedJson).join()}]` : null
  },
  csvOfJson: unchangedSql,
  schema: { type: 'array', items: { type: 'string' } },
  operandSchema: () => ({
    type: 'string',
    minLength: 2,
    maxLength: 1000,
    contentMediaType: 'application/json',
  }),
  called: {
    tableSchema: 'array',
    csvw: 'json',
    croissant: 'sc:Text',
    typescript: 'readonly string[]',
    python: 'list',
    r: 'character',
  },
}
