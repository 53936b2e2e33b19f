import { tableId } from '../../core/catalog/catalog.ts'
import { parseCatalog } from '../../core/catalog/load.ts'
import { chosenTables } from '../../ingest/base/choose.ts'
import { catalogText, fieldOf } from '../support/workshop.ts'

/** Tables that an ingest takes, by the arguments of its command. */

const [table] = [{ order: [], fields: [fieldOf('n:integer')] }]
const definition = JSON.parse(catalogText([{ ...table, name: 't' }])) as { datasets: { slug: string }[] }
const [dataset] = definition.datasets
const catalog = parseCatalog(
  JSON.stringify({
    ...definition,
    datasets: [
      { ...dataset, tables: ['t', 'u'].map((name) => ({ ...table, name })) },
      { ...dataset, slug: 'e', tables: [{ ...table, name: 't' }] },
    ],
  }),
  'c.yaml',
)

test.each<[names: string[], tables: string[]]>([
  [[], ['d/t', 'd/u', 'e/t']],
  [['d'], ['d/t', 'd/u']],
  [['d/u'], ['d/u']],
  [
    ['e', 'd/t'],
    ['d/t', 'e/t'],
  ],
  [
    ['d/t', 'd'],
    ['d/t', 'd/u'],
  ],
])('the names %j choose the tables %j', (names, tables) => {
  expect(chosenTables(catalog, names).map(tableId)).toEqual(tables)
})

test.each([['t'], ['d/'], ['d/x'], ['D']])(
  'the unknown table %j is refused, and the message names it',
  (name) => {
    expect(() => chosenTables(catalog, ['d', name])).toThrow(
      `there is no table or dataset ${name} in the catalog`,
    )
  },
)
