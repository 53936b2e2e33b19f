import { plainType, unchangedSql, type FieldTypeRow } from './field-type.ts'

export function readTruth(text: string): 'true' | 'false' | null {
  const word = text.toLowerCase()
  if (word === 'true' || word === '1') return 'true'
  return word === 'false' || word === '0' ? 'false' : null
}

export const bool: FieldTypeRow = {
  ...plainType,
  dialect: 'words',
  pattern: () => 'true|false',
  expects: () => 'true or false',
  stored: () => 'BOOLEAN',
  isOrdered: false,
  parse: readTruth,
  expectsInQuery: 'true or false (also True, False, 1, 0)',
  wire: { kind: 'truth', text: unchangedSql },
  arrow: { type: 'bool', values: (column) => `${column}::utinyint` },
  schema: { type: 'boolean' },
  operandSchema: () => ({ type: 'string', pattern: '^([Tt]rue|TRUE|[Ff]alse|FALSE|[01])$' }),
  called: {
    tableSchema: 'boolean',
    csvw: 'boolean',
    croissant: 'sc:Boolean',
    typescript: 'boolean',
    python: 'bool',
    r: 'logical',
  },
}
