import { fieldTypeNames } from '../../core/catalog/field-types.ts'
import type { FieldProfile } from '../../ingest/convert/profile/profile.ts'
import { declared, whatCame, type Came } from './support/declared.ts'
import { isQuick, testAll } from '../support/runs.ts'
import { rawGet, serve } from '../support/service.ts'
import { entryOf, ingested, linesOf } from './support/suggested.ts'
import { workshop } from '../support/workshop.ts'

/** Tables of many columns, and cells of many bytes. */

/** Fields that are read in another way each, with texts of which the last is none of their values. */
const kinds: readonly (readonly [
  field: { readonly type: string; readonly [key: string]: unknown },
  texts: readonly string[],
])[] = [
  [{ type: 'time' }, ['10:00:00', '9:30:05', '', '25:10:00', '10:61:00']],
  [{ type: 'integer' }, ['1', '007', '', '-5', '1.5']],
  [{ type: 'integer', groups: '.', marks: ['R$'] }, ['R$ 1.234', 'R$ 5', '', 'R$ 1.234.567', 'R$ 1.23']],
  [{ type: 'decimal', precision: 9, scale: 2, decimal: ',' }, ['1,5', '-0,25', '', '1234', '1.5']],
  [{ type: 'float' }, ['1e3', '0.1', '', '5', 'NaN']],
  [{ type: 'bool', booleans: { true: ['S'], false: ['N'] } }, ['S', 'N', '', 'S', 'T']],
  [
    { type: 'date', format: ['dd/mm/yyyy', 'yyyy-mm-dd'] },
    ['31/12/2020', '2021-01-02', '', '01/02/2020', '31/02/2020'],
  ],
  [
    { type: 'datetime' },
    ['2020-01-02 03:04:05', '2020-01-02T03:04:05', '', '2021-12-31 23:59:59', '2020-13-01 00:00:00'],
  ],
  [{ type: 'string', nulls: ['', 'NA'], trim: true }, [' a ', 'NA', '', 'é', 'b']],
  [{ type: 'list', separator: '|' }, ['a|b', 'c', '', 'd |e', 'f']],
  [{ type: 'json' }, ['{"a":1}', '[]', '', 'null', '{']],
  [{ type: 'text' }, ['ab', '$-', '', '10:00:00', 'c']],
  [{ type: 'point' }, ['-1.5,2', '0,0', '', '10.25,-3', '91,0']],
]
const rowCount = 5

test('the wide tables of these tests have fields of all types', () => {
  expect(new Set(kinds.map(([field]) => field.type))).toEqual(new Set(fieldTypeNames))
})

/** Fields and rows of some columns, each of the kind of its number, whose texts begin at another row. */
function tableOf(columns: readonly number[], isGood: boolean) {
  const columnFacts = columns.map((column) => ({
    name: `c${column}`,
    kind: kinds[column % kinds.length],
    column,
  }))
  const textOf = (texts: readonly string[], column: number, row: number): string =>
    texts[(row + Math.floor(column / kinds.length)) % (rowCount - (isGood ? 1 : 0))] ?? ''
  const rows = Array.from({ length: rowCount }, (_, row) =>
    columnFacts
      .map(({ kind, column }) => `"${textOf(kind?.[1] ?? [], column, row).replaceAll('"', '""')}"`)
      .join(','),
  )
  return {
    fields: columnFacts.map(({ name, kind }) => ({ name, ...kind?.[0] })),
    text: linesOf(columnFacts.map(({ name }) => name).join(','), ...rows),
  }
}

const columns = Array.from({ length: isQuick ? 40 : 120 }, (_, column) => column)
const parts = Array.from({ length: columns.length / 20 }, (_, part) =>
  columns.slice(20 * part, 20 * part + 20),
)

const cameOf = ({ fields, text }: ReturnType<typeof tableOf>, source: object = {}): Promise<Came> =>
  whatCame({ fields, max_rejects: rowCount, may_be_empty: true, source }, text)

test('a wide table has the same values as narrow tables of its columns', async () => {
  const whole = await cameOf(tableOf(columns, true))
  const narrow = await Promise.all(parts.map((part) => cameOf(tableOf(part, true))))
  if ('refused' in whole) throw new Error(whole.refused.join('\n'))
  const rows = narrow.flatMap((came) => ('rows' in came ? [came.rows] : []))
  expect(whole.rows).toEqual(
    Array.from({ length: rowCount }, (_, row) => rows.flatMap((cells) => cells[row] ?? [])),
  )
})

async function profileOf({ fields, text }: ReturnType<typeof tableOf>): Promise<readonly FieldProfile[]> {
  const shop = await workshop(declared({ fields }), { 'd/t.csv': text })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error(outcome?.status)
  return outcome.report.fields
}

testAll('the fields of a wide table have the same profiles as in narrow tables of its columns', async () => {
  const narrow = await Promise.all(parts.map((part) => profileOf(tableOf(part, true))))
  expect(await profileOf(tableOf(columns, true))).toEqual(narrow.flat())
})

const noticesOf = (came: Came): string[] =>
  ('notices' in came ? came.notices : came.refused).filter((line) => line.includes('field "'))

testAll('a wide table reports each invalid value', async () => {
  const narrow = await Promise.all(parts.map((part) => cameOf(tableOf(part, false))))
  const notices = noticesOf(await cameOf(tableOf(columns, false)))
  expect(notices.length).toBeGreaterThan(2)
  expect(narrow.flatMap(noticesOf)).toEqual(expect.arrayContaining(notices))
})

testAll(
  'a table of 5,000 texts fits into the default memory',
  async () => {
    const names = Array.from({ length: 5000 }, (_, column) => `c${column}`)
    const rows = [1, 2, 3].map((row) => names.map((_, column) => `t${row * column}`).join(','))
    const catalog = declared({ fields: names.map((name) => `${name}:string`) })
    const shop = await workshop(catalog, { 'd/t.csv': linesOf(names.join(','), ...rows) })
    expect(await shop.ingest({ memoryBytes: 1e9 })).toMatchObject([{ status: 'published' }])
    const service = await serve(shop)
    const { body } = await rawGet(service.app, '/api/v1/dataset/d/t/export/?format=csv')
    await service.close()
    expect(body.toString()).toBe(linesOf(names.join(','), ...rows))
  },
  // Takes 50 s alone on two cores, and several times as long beside other tests.
  300_000,
)

test('more columns than allowed are refused', async () => {
  const header = Array.from({ length: 5001 }, (_, column) => `c${column}`)
  const text = linesOf(header.join(','), header.map(() => '1').join(','))
  const refusal = 'the header has more than 5000 columns: turn some into rows, or split the file'
  await expect(entryOf(text)).rejects.toMatchObject({ rejects: [{ line: 1, reason: refusal }] })
  expect(await whatCame({ fields: ['c0:integer'] }, text)).toEqual({
    refused: ['the source cannot be read as CSV; nothing was published', `  line 1: ${refusal}`],
  })
})

testAll.each<[title: string, text: (long: string) => string, cell: string, rows: number]>([
  ['in a later row', (long) => linesOf('n,note', '1,x', `2,"${long}"`, '3,y'), `${'abc, '.repeat(20)}\n`, 1],
  ['of quotes', (long) => linesOf('n,note', `1,"${long}"`, '2,x'), '""', 0],
])(
  'a file with a cell of 16 MB %s gets a suggestion, is published, and keeps its values',
  async (_what, text, cell, row) => {
    const long = cell.repeat(Math.ceil(16_000_000 / cell.length))
    const came = await ingested(text(long))
    if ('refused' in came) throw new Error(came.refused.join('\n'))
    expect(came.rows[row]?.[1] === long.replaceAll('""', '"')).toBe(true)
  },
  120_000,
)
