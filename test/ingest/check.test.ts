import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { markdownOf, verdictOf, tableLines } from '../../ingest/check/render.ts'
import { rollback } from '../../ingest/rollback/rollback.ts'
import { file, startWeb, status } from './support/web-server.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import { testSampled } from '../support/runs.ts'

/** Checks of the catalog and the sources, which publish nothing. */

async function linesOf(shop: Workshop, tables?: readonly string[]): Promise<string[]> {
  return (await shop.check(tables)).flatMap(tableLines)
}

async function treeOf(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const contents = files
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const place = path.join(parentPath, name)
      return `${place} ${(await readFile(place)).toString('base64')}`
    })
  return (await Promise.all(contents)).toSorted()
}

const remedy =
  '  remedy: correct these lines of the source, or the type and spelling of the fields in the catalog'
const mismatch = '  sources/d/t.csv: a row does not match the catalog'
const unreadable = '  sources/d/t.csv: the source cannot be read as CSV'
const entryRemedy =
  'Remedy: change the source, or the fields (or source.rename, source.ignore) of the table in the catalog'
const headerRemedy = `${entryRemedy}; \`acervo ingest --accept-drift d/t\` publishes it, with nulls for missing columns and without unknown ones`

const structureRemedy =
  '  remedy: correct these lines of the source, or its encoding, delimiter or quote in the catalog'

const valueFault = (line: number, text: string, reason: string): string[] => [
  mismatch,
  `  sources/d/t.csv, line ${line}, field "a": ${JSON.stringify(text)} ${reason}`,
  remedy,
]
const rowFault = (problem: string, line: number, reason: string): string[] => [
  problem,
  `  sources/d/t.csv, line ${line}: ${reason}`,
  problem === mismatch ? remedy : structureRemedy,
]

testSampled<[title: string, type: string, csv: string | Buffer, lines: readonly string[]]>([
  [
    'an impossible day',
    'date',
    'a,b\n2020-01-01,x\n2020-13-01,y\n',
    valueFault(3, '2020-13-01', 'is not a calendar date as YYYY-MM-DD, such as 2020-06-12'),
  ],
  [
    'a fraction',
    'integer',
    'a,b\n1.5,y\n',
    valueFault(2, '1.5', 'is not a whole number of 64 bits, digits only, such as 1200 or -7'),
  ],
  [
    'a number above 64 bits',
    'integer',
    'a,b\n1,x\n9223372036854775808,x\n',
    valueFault(3, '9223372036854775808', 'is not a whole number of 64 bits, digits only, such as 1200 or -7'),
  ],
  [
    'a total below the rows',
    'integer',
    'a,b\n1,x\nTotal,1\n',
    valueFault(3, 'Total', 'is not a whole number of 64 bits, digits only, such as 1200 or -7'),
  ],
  [
    'more decimals than declared',
    'decimal',
    'a,b\n1.255,y\n',
    valueFault(
      2,
      '1.255',
      'is not a decimal number with at most 16 digits before and 2 after the point, such as -12.50',
    ),
  ],
  [
    'an infinite number',
    'float',
    'a,b\n1e999,y\n',
    valueFault(
      2,
      '1e999',
      'is not a finite number with a decimal point and at most 17 digits, such as 0.0189 or 1e-7',
    ),
  ],
  [
    'another word for true',
    'bool',
    'a,b\nsim,y\n',
    valueFault(2, 'sim', 'is not true, True, TRUE or false, False, FALSE'),
  ],
  [
    'an impossible time',
    'time',
    'a,b\n10:61:00,x\n',
    valueFault(
      2,
      '10:61:00',
      'is not a time of day as hh:mm:ss, such as 18:05:00, or 25:10:00 for 01:10:00 of the next day',
    ),
  ],
  [
    'text that is no JSON',
    'json',
    'a,b\n{a},x\n',
    valueFault(2, '{a}', 'is not JSON (RFC 8259), such as {"name": "Ana", "scores": [1, 2.50]}'),
  ],
  [
    'a place off the globe',
    'point',
    'a,b\n"91,2",x\n',
    valueFault(
      2,
      '91,2',
      'is not a latitude from -90 to 90 and a longitude from -180 to 180, such as -23.55, -46.63, or as POINT (-46.63 -23.55)',
    ),
  ],
  [
    'an additional value',
    'integer',
    'a,b\n2,y,z\n',
    rowFault(
      mismatch,
      2,
      'the row has 3 values, and the header 2: a value that contains "," must be enclosed in quotes ("2,y,z")',
    ),
  ],
  [
    'a missing value',
    'integer',
    'a,b\n1,x\n2\n',
    rowFault(mismatch, 3, 'the row has 1 value, and the header 2 ("2")'),
  ],
  [
    'a quote that is never closed',
    'integer',
    'a,b\n1,x\n2,"y\n3,z\n',
    rowFault(unreadable, 3, 'a quoted value is never closed: the file is cut off, or a quote is stray'),
  ],
  [
    'text after a closing quote',
    'string',
    'a,b\n1,x\n"2"3,y\n',
    rowFault(unreadable, 3, 'text follows the closing quote of a value'),
  ],
  [
    'another encoding',
    'string',
    Buffer.from('a,b\n1,S\u00e3o\n', 'latin1'),
    rowFault(
      mismatch,
      2,
      'the byte 0xe3 is not UTF-8: declare the encoding of the source as source.encoding, or save the file as UTF-8 (CSV UTF-8 in Excel) ("1,S\ufffdo")',
    ),
  ],
  [
    'a NUL',
    'string',
    'a,b\n1,\0\n',
    rowFault(mismatch, 2, 'a NUL byte: this is not a text file, or it is damaged ("1,\\u0000")'),
  ],
  [
    'a second header',
    'integer',
    'a,b\n1,x\na,b\n2,y\n',
    rowFault(
      mismatch,
      3,
      'the line repeats the header: source.skip_repeated_headers: true leaves such lines out ("a,b")',
    ),
  ],
  [
    'another header',
    'integer',
    'aa,b\n1,x\n',
    [
      `  sources/d/t.csv: the header in line 1 does not match the catalog: the column "a" is missing; the column "aa" is not a field of d/t (did you mean "a"?). ${headerRemedy}`,
    ],
  ],
  [
    'a column twice',
    'integer',
    'a,a,b\n1,1,x\n',
    [
      `  sources/d/t.csv: the header in line 1 does not match the catalog: the column "a" appears twice. ${entryRemedy}`,
    ],
  ],
  [
    'another delimiter',
    'integer',
    'a;b\n1;x\n',
    [
      `  sources/d/t.csv: the header in line 1 does not match the catalog: the column "a" is missing; the column "b" is missing; the column "a;b" is not a field of d/t. The delimiter may be ";": declare it as source.delimiter. ${entryRemedy}`,
    ],
  ],
  ['an empty file', 'integer', '', ['  sources/d/t.csv: t.csv is empty: it needs at least a header']],
  [
    'a page of HTML',
    'integer',
    '<!DOCTYPE html>\n',
    ['  sources/d/t.csv: t.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself'],
  ],
])('%s is reported with file, line, field, value and remedy', async (_what, type, csv, lines) => {
  const shop = await workshop(tinyCatalog({ fields: [`a:${type}`, 'b:string'] }), { 'd/t.csv': csv })
  expect(await linesOf(shop)).toEqual(['d/t: FAILED', ...lines])
  expect(await treeOf(shop.warehouse)).toEqual([])
})

test('a source without rows and one with far fewer rows are reported with their counts', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }), { 'd/t.csv': 'a\n' })
  expect(await linesOf(shop)).toEqual([
    'd/t: FAILED, 0 rows',
    '  sources/d/t.csv: there is no row in t.csv. Check it; if the table may be empty, declare may_be_empty: true for it in the catalog; `acervo ingest --accept-drift d/t` publishes it anyway',
  ])
  await shop.write('d/t.csv', 'a\n1\n2\n3\n')
  expect(await linesOf(shop)).toEqual(['d/t: new, 3 rows'])
  await shop.ingest()
  expect(await linesOf(shop)).toEqual(['d/t: unchanged, 3 rows'])
  await shop.write('d/t.csv', 'a\n1\n')
  expect(await linesOf(shop)).toEqual([
    'd/t: FAILED, 1 row instead of 3',
    '  sources/d/t.csv: the source differs too much from the snapshot of 2026-01-02T03:04:05.678Z: there is 1 row instead of 3. Check it; `acervo ingest --accept-drift d/t` publishes it anyway',
  ])
})

test('a few bad rows among many can be left out, as the remedy says', async () => {
  const good = '1\n'.repeat(20)
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }), { 'd/t.csv': `a\n${good}x\ny\n` })
  const table = { name: 't', order: [], max_rejects: 2, fields: [fieldOf('a:integer')] }
  expect((await linesOf(shop)).at(-1)).toBe(
    `${remedy}; \`max_rejects\` of the table would leave these rows out`,
  )
  const [outcome] = await (await workshop(catalogAround([table]), {}, path.dirname(shop.sources))).ingest()
  expect(outcome?.status === 'published' && outcome.manifest.rows).toBe(20)
})

test('if a file has another fault, its allowed rejects are still reported as allowed', async () => {
  const table = { name: 't', order: [], max_rejects: 1, fields: [fieldOf('a:integer')] }
  const shop = await workshop(catalogAround([table]), { 'd/t.csv': 'a\n1\n2\n3\n' })
  await shop.ingest()
  await shop.write('d/t.csv', 'a\n1\nx\n')
  expect(await linesOf(shop)).toEqual([
    'd/t: FAILED, 1 row instead of 3',
    expect.stringMatching(/^ {2}sources\/d\/t\.csv: the source differs too much from the snapshot of /),
    '  sources/d/t.csv, line 3, field "a": "x" is not a whole number of 64 bits, digits only, such as 1200 or -7',
    '  these rows would be left out, as `max_rejects` allows',
  ])
})

test('a check never changes the warehouse, for a good source or a bad one', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }), { 'd/t.csv': 'a\n1\n2\n' })
  await shop.ingest()
  const before = await treeOf(shop.warehouse)
  for (const csv of ['a\n1\n2\n', 'a\n1\n2\n3\n', 'a\n1\nx\n', '']) {
    await shop.write('d/t.csv', csv)
    await shop.check()
  }
  expect(await treeOf(shop.warehouse)).toEqual(before)
  expect(await readdir(path.join(path.dirname(shop.warehouse), 'checks'))).toEqual([])
})

test('a check lists changed fields, and rows that an ingest would leave out', async () => {
  const files = { 'd/t.csv': 'a,b,c\n1,x,1.5\n2,y,2.5\n' }
  const old = await workshop(tinyCatalog({ fields: ['a:integer', 'b:string', 'c:decimal'] }), files)
  await old.ingest()
  const table = {
    name: 't',
    order: [],
    max_rejects: 1,
    source: { ignore: ['b'] },
    fields: ['a:integer', 'c:decimal:9:3', 'e:date'].map(fieldOf),
  }
  const later = await workshop(
    catalogAround([table]),
    { 'd/t.csv': 'a,b,c,e\n1,x,1.5,2026-01-01\nx,y,2.5,\n' },
    path.dirname(old.warehouse),
  )
  expect(await linesOf(later)).toEqual([
    'd/t: FAILED, 1 row instead of 2',
    '  sources/d/t.csv: programs that read the snapshot of 2026-01-02T03:04:05.678Z may break: "b" is removed; "c" has the type decimal(9,3) instead of decimal(18,2). Check it; `acervo ingest --accept-drift d/t` publishes it anyway',
    '  sources/d/t.csv, line 3, field "a": the value is not a whole number of 64 bits, digits only, such as 1200 or -7',
    '  these rows would be left out, as `max_rejects` allows',
    '  field "b" is removed (string)',
    '  field "c" changes from decimal(18,2) to decimal(9,3)',
    '  field "e" is new (date)',
  ])
})

test('a damaged snapshot is a warning, since an ingest replaces it', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }), { 'd/t.csv': 'a\n1\n' })
  await shop.ingest()
  await writeFile(path.join(shop.warehouse, 'd', 't', 'current.json'), '{')
  expect(await linesOf(shop)).toEqual([
    'd/t: new, 1 row',
    expect.stringMatching(
      /^ {2}warning: the published snapshot is damaged, and an ingest publishes the table again: /,
    ),
  ])
})

const servedBy = (engine: string, name: string): object => ({
  name,
  engine,
  order: [],
  fields: [fieldOf('a:integer')],
})

test('a source whose snapshot was rolled back, and a missing ClickHouse, are warnings', async () => {
  const shop = await workshop(catalogAround([servedBy('duckdb', 't'), servedBy('clickhouse', 'u')]), {
    'd/t.csv': 'a\n1\n',
    'd/u.csv': 'a\n1\n',
  })
  await shop.ingest({ tables: ['t'] })
  await shop.write('d/t.csv', 'a\n2\n')
  const [outcome] = await shop.ingest({ tables: ['t'], now: () => new Date('2026-01-03T00:00:00Z') })
  if (outcome?.status !== 'published') throw new Error('the changed source was not published')
  const withdrawn = outcome.manifest.snapshot
  await rollback(shop.store, outcome.table, new Date('2026-01-04T00:00:00Z'))
  expect(await linesOf(shop)).toEqual([
    'd/t: held back',
    `  warning: an ingest holds this source back, since it is that of the snapshot ${withdrawn}, which was rolled back; \`--accept-drift\` publishes it again`,
    'd/u: new, 1 row',
    '  warning: an ingest of this table needs CLICKHOUSE_URL, which is not set here',
  ])
})

test('the query of an address, which may be a secret, is in no report', async () => {
  const secret = '/t.csv?key=secret'
  const { origin, at } = await startWeb({ [secret]: file('a\n1\n') })
  const address = `${origin}${secret}`
  const table = { name: 't', order: [], source: { files: address }, fields: [fieldOf('a:integer')] }
  const shop = await workshop(catalogAround([table]))
  const reports = [JSON.stringify(await shop.check())]
  at(secret, status(403))
  reports.push(JSON.stringify(await shop.check()))
  at(secret, file('a\nx\n'))
  reports.push(JSON.stringify(await shop.check()))
  for (const report of reports) {
    expect(report).toContain('/t.csv?...')
    expect(report).not.toContain('secret')
  }
})

test('references are looked up in the sources that are checked together', async () => {
  const state = { ...fieldOf('state:string'), expect: { references: 'd/states.code' } }
  const catalog = catalogAround([
    { name: 'cities', order: [], fields: [state] },
    { name: 'states', order: [], fields: [fieldOf('code:string')] },
  ])
  const shop = await workshop(catalog, { 'd/cities.csv': 'state\nSP\nRJ\n', 'd/states.csv': 'code\nSP\n' })
  expect(await linesOf(shop)).toEqual([
    'd/states: new, 1 row',
    'd/cities: FAILED',
    '  sources/d/cities.csv: a value breaks an expectation of the catalog',
    '  sources/d/cities.csv, line 3, field "state": "RJ" is not in d/states.code',
    '  remedy: correct the source, or change `expect` in the catalog',
  ])
  await shop.write('d/states.csv', 'code\nSP\nRJ\n')
  expect(await linesOf(shop)).toEqual(['d/states: new, 2 rows', 'd/cities: new, 2 rows'])
})

test('the report in Markdown shows values as code, and no value becomes markup', async () => {
  const shop = await workshop(
    tinyCatalog({ name: 't', fields: ['a:integer'] }, { name: 'u', fields: ['a:integer'] }),
    {
      'd/t.csv': 'a\n1\n`| @all <b>\n',
      'd/u.csv': 'a\n1\n',
    },
  )
  const tables = await shop.check()
  const report = { ok: false, catalog_faults: [], tables }
  expect(verdictOf(report)).toBe('an ingest would fail: 1 new, 1 failed')
  expect(markdownOf(report)).toBe(`### ❌ acervo check

An ingest would fail: 1 new, 1 failed.

| table | result | rows | published rows | fields |
| --- | --- | ---: | ---: | --- |
| \`d/t\` | failed |  |  |  |
| \`d/u\` | new | 1 |  |  |

#### \`d/t\`

- \`sources/d/t.csv\`: a row does not match the catalog

| file | line | field | value | what is wrong |
| --- | ---: | --- | --- | --- |
| \`sources/d/t.csv\` | 3 | \`a\` | \`\` \`\\| @all <b> \`\` | is not a whole number of 64 bits, digits only, such as 1200 or -7 |

Remedy: correct these lines of the source, or the type and spelling of the fields in the catalog.
`)
})

test('a Markdown report of many faults fits into a comment of 65,536 characters', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `t${index}`)
  const shop = await workshop(tinyCatalog({ name: 'one', fields: ['a:integer'] }), {
    'd/one.csv': `a\n${'"wrong, and long enough to fill its column of the report"\n'.repeat(30)}`,
  })
  const [result] = await shop.check()
  if (result === undefined) throw new Error('no result')
  const tables = names.map((table) => ({ ...result, table }))
  const text = markdownOf({ ok: false, catalog_faults: [], tables })
  expect(text.length).toBeLessThan(65_536)
  expect(text).toMatch(/\n\nThe findings of \d+ tables are too long for a comment: run `acervo check`\.\n$/)
  const fault = { file: 'catalog.yaml', line: 1, column: 1, message: 'unknown key "x"' }
  const faulty = markdownOf({
    ok: false,
    catalog_faults: Array.from({ length: 70 }, () => fault),
    tables: [],
  })
  expect(faulty).toMatch(/\n\nAnd 20 more\.\n$/)
})

test('a report in JSON has the same facts as a report in text', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }), { 'd/t.csv': 'a\n1\nx\n' })
  expect(await shop.check()).toEqual([
    {
      table: 'd/t',
      result: 'failed',
      sources: ['sources/d/t.csv'],
      rows: null,
      rows_before: null,
      fields: [],
      rejected_rows: 0,
      rejects: [
        {
          file: 'sources/d/t.csv',
          line: 3,
          field: 'a',
          text: 'x',
          reason: 'is not a whole number of 64 bits, digits only, such as 1200 or -7',
        },
      ],
      reject_count: 1,
      problem: 'a row does not match the catalog',
      remedy: 'correct these lines of the source, or the type and spelling of the fields in the catalog',
      warnings: [],
    },
  ])
})

test('a table without a source is no fault, unless it was published', async () => {
  const shop = await workshop(tinyCatalog({ fields: ['a:integer'] }))
  expect(await linesOf(shop)).toEqual([
    'd/t: no source, which would be sources/d/t.csv (or .csv.gz, .csv.zst, .csv.zip)',
  ])
})
