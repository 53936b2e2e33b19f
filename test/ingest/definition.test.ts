import { allTables, type Table } from '../../core/catalog/catalog.ts'
import { definitionOf } from '../../ingest/publish/label.ts'
import { catalogAround, fieldOf } from '../support/workshop.ts'

/** An unchanged source is converted anew where its table is declared in another way, and only there. */

const fields = ['a:string', 'b:integer', 'c:date'].map(fieldOf)
const tableOf = (declared: object): Table => {
  const [table] = allTables(catalogAround([{ name: 't', order: [], fields, ...declared }]))
  if (table === undefined) throw new Error('no table')
  return table
}
const definition = (declared: object): string => definitionOf(tableOf(declared), 1000, 1)
const plain = definition({})

test.each<[declared: object]>([
  [{ source: { delimiter: ';' } }],
  [{ source: { encoding: 'latin-1' } }],
  [{ source: { quote: "'" } }],
  [{ source: { comment: '#' } }],
  [{ source: { skip_repeated_headers: true } }],
  [{ source: { drop_empty_extra_cells: true } }],
  [{ source: { minus: ['5-'] } }],
  [{ source: { two_digit_years_from: 1930 } }],
  [{ source: { skip_lines: 1 } }],
  [{ source: { skip_last: 1 } }],
  [{ source: { stop_at: 'Total' } }],
  [{ source: { header: ['a', 'b', 'c'] } }],
  [{ source: { header: ['a', 'b', 'c'], header_in_file: ['A', '', ''] } }],
  [{ source: { rename: { x: 'a' } } }],
  [{ source: { ignore: ['x'] } }],
  [{ source: { decimal: ',' } }],
  [{ source: { nulls: ['-'] } }],
  [{ source: { booleans: { true: ['S'], false: ['N'] } } }],
  [{ source: { date: 'dd/mm/yyyy' } }],
  [{ source: { groups: '.', decimal: ',' } }],
  [{ source: { marks: ['%'] } }],
  [{ source: { member: 'x.csv', files: 'd/t.zip' } }],
  [{ source: { union_by_name: true, files: 'd/*.csv' } }],
  [{ order: ['a asc'] }],
  [{ order: ['b desc'] }],
  [{ filters: ['a'] }],
  [{ search: ['a'] }],
  [{ expect: { unique: [['a', 'b']] } }],
  [{ fields: [{ name: 'a', type: 'string', expect: { not_null: true } }, ...fields.slice(1)] }],
  [{ fields: ['a:string', 'b:float', 'c:date'].map(fieldOf) }],
  [{ fields: ['b:integer', 'a:string', 'c:date'].map(fieldOf) }],
])('%j changes the definition of a table, so that its source is converted again', (declared) => {
  expect(definition(declared)).not.toBe(plain)
})

test.each<[declared: object]>([
  [{}],
  [{ description: 'In other words.' }],
  [{ refreshed: 'daily' }],
  [{ fields: [{ name: 'a', type: 'string', title: 'A', description: 'The first.' }, ...fields.slice(1)] }],
])('%j does not change the definition of a table', (declared) => {
  expect(definition(declared)).toBe(plain)
})

test('another part size or converter changes the definition of a table', () => {
  expect(new Set([plain, definitionOf(tableOf({}), 999, 1), definitionOf(tableOf({}), 1000, 2)]).size).toBe(3)
})
