import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { allTables, type Table } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { addTable } from '../../core/catalog/add-table.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { entryChangesFor } from '../../ingest/add/changes.ts'
import { placingOf } from '../../ingest/add/placing.ts'
import { run, start } from '../support/programs.ts'
import { getPage, serve } from '../support/service.ts'
import { until } from '../support/until.ts'
import { fitIn, suggestion } from './support/suggested.ts'
import { catalogAround, fieldOf, placed, temporaryFolder } from '../support/workshop.ts'
import { testAll, testSampled } from '../support/runs.ts'

/** From nothing to a table that is served: a catalog, and entries in it. */

const place = { dataset: 'b', title: 'B', today: '2026-01-02', families: ['v1', 'v2'] }
const entry = '- name: t\n  order: [] # as it lies\n  fields:\n    - { name: a, type: string } # "x"\n'
const inSix = entry.replaceAll(/^(?=.)/gm, '      ')

describe('with all other text of a catalog unchanged, an entry is added', () => {
  test.each<[title: string, before: string, after: string]>([
    [
      'below the last table of its dataset',
      'title: "T" # said\n\ndatasets:\n  - slug: b\n    tables:\n      - { name: s,   fields: [] } # one\n\n  # another\n  - slug: c\n    tables: []\n',
      `title: "T" # said\n\ndatasets:\n  - slug: b\n    tables:\n      - { name: s,   fields: [] } # one\n${inSix}\n  # another\n  - slug: c\n    tables: []\n`,
    ],
    [
      'into a dataset without tables',
      'datasets:\n  - slug: b\n    tables: [] # none\n  - slug: c\n',
      `datasets:\n  - slug: b\n    tables:\n${inSix}# none\n  - slug: c\n`,
    ],
    [
      'at the end of a file without a final line feed',
      'datasets:\n- slug: b\n  tables:\n  - name: s',
      `datasets:\n- slug: b\n  tables:\n  - name: s\n${entry.replaceAll(/^(?=.)/gm, '  ')}`,
    ],
  ])('%s', (_what, before, after) => {
    expect(addTable(before, entry, place)).toBe(after)
    const [b] = (parse(after) as { datasets: { slug: string; tables: { name: string }[] }[] }).datasets
    expect(b?.tables.at(-1)?.name).toBe('t')
  })

  test.each<[title: string, before: string]>([
    ['no dataset', 'title: T\ndatasets: []\nfamilies: {}\n'],
    ['other datasets', 'datasets:\n  - slug: a\n    tables: []\nfamilies: {}\n'],
    ['other datasets, which end the file', 'families: {}\ndatasets:\n    - slug: a\n      tables: []'],
  ])('with a new dataset if the catalog has %s', (_what, before) => {
    const after = addTable(before, entry, place)
    const catalog = parse(after) as { datasets: { slug: string; listed_in: string[]; tables: object[] }[] }
    const dataset = catalog.datasets.at(-1)
    expect([dataset?.slug, dataset?.listed_in, dataset?.tables]).toEqual([
      'b',
      ['v1', 'v2'],
      [{ name: 't', order: [], fields: [{ name: 'a', type: 'string' }] }],
    ])
    expect({ ...catalog, datasets: catalog.datasets.slice(0, -1) }).toEqual(parse(before))
  })

  test.each<[title: string, before: string, after: string]>([
    [
      'a list on one line',
      'datasets:\n  - slug: b\n    tables: [{ name: s } ] # two\n',
      'datasets:\n  - slug: b\n    tables: [{ name: s }, TABLE ] # two\n',
    ],
    [
      'a list on one line with a comma at its end',
      'datasets:\n  - slug: b\n    tables: [{ name: s }, # last\n      ]\n',
      'datasets:\n  - slug: b\n    tables: [{ name: s }, TABLE, # last\n      ]\n',
    ],
    [
      'JSON without tables',
      '{"datasets":[{"slug":"a","tables":[]},{"slug":"b","tables":[]}]}\n',
      '{"datasets":[{"slug":"a","tables":[]},{"slug":"b","tables":[TABLE]}]}\n',
    ],
    [
      'JSON on one line',
      '{"datasets":[{"slug":"b","tables":[{"name":"s"}]}],"title":"]"}',
      '{"datasets":[{"slug":"b","tables":[{"name":"s"}, TABLE]}],"title":"]"}',
    ],
    [
      'JSON on many lines',
      '{\n  "datasets": [\n    {\n      "slug": "b",\n      "tables": [\n        {\n          "name": "s"\n        }\n      ]\n    }\n  ]\n}\n',
      '{\n  "datasets": [\n    {\n      "slug": "b",\n      "tables": [\n        {\n          "name": "s"\n        },\n        TABLE\n      ]\n    }\n  ]\n}\n',
    ],
  ])('to %s', (_what, before, after) => {
    const added = addTable(before, entry, place)
    const table = { name: 't', order: [], fields: [{ name: 'a', type: 'string' }] }
    const asJson = JSON.stringify(table)
    const onLines = JSON.stringify(table, null, 2).replaceAll(/\n */g, ' ')
    expect(added.replaceAll(/\{\s*"name": ?"t"[^]*?\}\s*\]\s*\}/g, 'TABLE')).toBe(after)
    expect([asJson, onLines].some((text) => added.replaceAll(/\s+/g, ' ').includes(text))).toBe(true)
    expect(() => parse(added) as unknown).not.toThrow()
  })

  test.each<[title: string, before: string]>([
    ['no dataset', '{"title":"T","datasets":[]}'],
    ['other datasets', '{"title":"T","datasets":[{"slug":"a","tables":[]}]}\n'],
    [
      'other datasets on several lines',
      '{\n"title": "T",\n"datasets": [\n{ "slug": "a", "tables": [] }\n]\n}\n',
    ],
  ])('in a new dataset, to JSON that has %s', (_what, before) => {
    const catalog = JSON.parse(addTable(before, entry, place)) as { datasets: { slug: string }[] }
    expect(catalog.datasets.at(-1)).toMatchObject({ slug: 'b', tables: [{ name: 't' }] })
    expect({ ...catalog, datasets: catalog.datasets.slice(0, -1) }).toEqual(JSON.parse(before))
  })

  test.each<[before: string, message: RegExp]>([
    ['datasets: {}\n', /^the catalog has no list of datasets/],
    ['datasets:\n  - slug: b\n', /^the dataset b has no list of tables: write `tables: \[\]` into it/],
  ])('but not to %j', (before, message) => {
    expect(() => addTable(before, entry, place)).toThrow(message)
  })
})

test.each([
  ['daily.csv', 't.csv'],
  ['daily.csv.gz', 't.csv.gz'],
  ['daily.CSV.GZ', 't.csv.gz'],
  ['daily.csv.zst', 't.csv.zst'],
  ['daily.zip', 't.csv.zip'],
  ['a.gz.csv', 't.csv'],
])('%s is copied to %s, compressed as it is', (name, to) => {
  const files = [placed(`/elsewhere/${name}`, name, 1)]
  expect(placingOf(files, { dataset: 'd', table: 't' }, '/sources')).toEqual({
    copies: [{ from: `/elsewhere/${name}`, to: `/sources/d/${to}` }],
    files: null,
  })
})

test.each([1, 3])('none of %d files is copied over an existing one', async (count) => {
  const sources = await temporaryFolder()
  const names = { dataset: 'd', table: 't' }
  const files = Array.from({ length: count }, (_, n) => placed(`/elsewhere/${n}.csv`, `${n}.csv`, 1))
  const { copies } = placingOf(files, names, sources)
  for (const { to } of copies) {
    await mkdir(path.dirname(to), { recursive: true })
    await writeFile(to, '')
    expect(() => placingOf(files, names, sources)).toThrow(`${to} already exists`)
    await rm(to)
  }
  expect(placingOf(files, names, sources).copies).toEqual(copies)
})

testSampled<[title: string, content: string, changes: readonly string[]]>([
  ['the same columns', 'Dia,n,x\n2020-12-31,1,0.5\n', []],
  ['columns in another order, narrower values and a missing value', 'x,n,Dia\n2,,2020-12-31\n', []],
  [
    'a column more',
    'Dia,n,x,wind\n2020-12-31,1,0.5,7.25\n',
    [
      '  add a field for a new column: - { name: wind, type: decimal, scale: 2 } # all 1 values are numbers with at most 2 digits after the point',
    ],
  ],
  [
    'values of another type',
    'Dia,n,x\nyesterday,1.5,0.5\n',
    [
      '  change the field "day" (date) to: - { name: day, type: string } # 1 text of at most 9 characters, such as "yesterday"',
      '  change the field "n" (integer) to: - { name: "n", type: decimal, scale: 1 } # all 1 values are numbers with at most 1 digit after the point',
    ],
  ],
  [
    'dates written otherwise',
    'Dia,n,x\n31.12.2020,1,0.5\n',
    [
      '  change the field "day" (date) to: - { name: day, type: date, format: "dd.mm.yyyy" } # all 1 values are written dd.mm.yyyy',
    ],
  ],
  [
    'a column less',
    'Dia,x\n2020-12-31,0.5\n',
    ['  remove the field without a column in this file, wherever the entry names it: n'],
  ],
])(
  'for a file with %s, add lists the changes that the entry of its table needs',
  async (_what, content, changes) => {
    const fields = ['day:date', 'n:integer', 'x:float'].map(fieldOf)
    const declared = { name: 't', order: [], source: { rename: { Dia: 'day' } }, fields }
    const table = allTables(catalogAround([declared]))[0] as Table
    const fit = await fitIn(table, content)
    const answer = entryChangesFor(table, await suggestion('t.csv', content), fit, '/sources/d/t.csv')
    const isBreaking = changes.some((change) => !change.startsWith('  add'))
    const next = `put the file at /sources/d/t.csv, and \`acervo ingest ${isBreaking ? '--accept-drift ' : ''}d/t\` publishes it`
    expect(answer.split('\n')).toEqual(
      changes.length === 0
        ? [`d/t is already in the catalog, and its entry fits this file: ${next}`]
        : [
            'd/t is already in the catalog, but its entry does not fit this file; edit the entry:',
            ...changes,
            `then ${next}`,
          ],
    )
  },
)

test('a column with a new name fits if its name is declared as add advises', async () => {
  const fields = ['day:date', 'n:integer'].map(fieldOf)
  const answerWith = async (rename: object): Promise<string> => {
    const declared = { name: 't', order: [], source: { rename }, fields }
    const table = allTables(catalogAround([declared]))[0] as Table
    const content = 'Data,n\n2020-12-31,1\n'
    return entryChangesFor(table, await suggestion('t.csv', content), await fitIn(table, content), null)
  }
  const [, advised = ''] = /declare source\.rename: (.*)/.exec(await answerWith({ Dia: 'day' })) ?? []
  expect(advised).toBe('{"Data":"day"}')
  expect(await answerWith(JSON.parse(advised) as object)).toContain('its entry fits this file')
})

test('a file for a table of the catalog is read as the entry of the table declares', async () => {
  const fields = [
    { name: 'tags', type: 'list', separator: ';' },
    { name: 'day', type: 'date', format: 'mm/dd/yyyy' },
    { name: 'place', type: 'point' },
    { name: 'open', type: 'bool', booleans: { true: ['1'], false: ['0'] } },
  ]
  const table = allTables(catalogAround([{ name: 't', order: [], fields }]))[0] as Table
  const content = 'tags,day,place,open\na;b,01/02/2020,"-12.5,-38.25",1\nc,03/04/2020,,0\n'
  const fit = await fitIn(table, content)
  expect(entryChangesFor(table, await suggestion('t.csv', content), fit, null)).toBe(
    'd/t is already in the catalog, and its entry fits this file: `acervo ingest d/t` publishes it',
  )
})

test.each<[title: string, source: object, content: string | Buffer, refusal: RegExp]>([
  ['another delimiter', {}, 'n;s\n1;a\n', /delimiter/],
  ['another encoding', {}, Buffer.from('n,s\n1,S\u00e3o\n', 'latin1'), /source\.encoding/],
  ['lines above the header', {}, 'Report\nn,s\n1,a\n', /source\.skip_lines: 1/],
  ['a row with another number of values', {}, 'n,s\n1,a\n2,b,c\n', /^line 3: .*3/],
])('an entry does not fit a file with %s, and add says why', async (_title, source, content, refusal) => {
  const fields = ['n:integer', 's:string'].map(fieldOf)
  const table = allTables(catalogAround([{ name: 't', order: [], source, fields }]))[0] as Table
  const answer = entryChangesFor(table, await suggestion('t.csv', content), await fitIn(table, content), null)
  const [first = '', last] = answer.split('\n')
  const beginning = 'd/t is already in the catalog, but its entry does not fit this file: '
  expect(first.slice(0, beginning.length)).toBe(beginning)
  expect(first.slice(beginning.length)).toMatch(refusal)
  expect(last).toBe('change the entry or the file, then `acervo ingest d/t` publishes it')
})

/** Settings of the programs in a new folder. */
async function home() {
  const folder = await temporaryFolder()
  const catalog = path.join(folder, 'catalog.yaml')
  const [SOURCES, WAREHOUSE] = [path.join(folder, 'sources'), path.join(folder, 'warehouse')]
  return { folder, catalog, SOURCES, WAREHOUSE, settings: { CATALOG: catalog, SOURCES, WAREHOUSE } }
}

describe('the programs init and add', () => {
  test('make a catalog and add a file to it, which is then served', async () => {
    const { folder, catalog, SOURCES, WAREHOUSE, settings } = await home()
    expect((await run('init', [], settings)).code).toBe(0)
    const file = path.join(folder, 'Chuvas 2020.csv')
    await writeFile(file, 'Dia;Chuva (mm)\n31/12/2020;1.234,5\n30/12/2020;\n')
    const { code, out, err } = await run('add', [file, '--dataset=rain'], settings)
    expect([code, err]).toEqual([0, expect.any(String)])
    expect(out).toContain('http://localhost:8000/api/v1/dataset/rain/chuvas_2020/data/\n')
    expect(out).toContain('  ";" gives 2 columns in 100.0 % of the sample\n')
    expect(out).toMatch(/ published 2 rows in .*; 3 lines: 1 header, 2 rows\n/)
    expect(await readdir(path.join(SOURCES, 'rain'))).toEqual(['chuvas_2020.csv'])
    const { app } = await serve({
      catalog: await loadCatalog(catalog),
      sources: SOURCES,
      warehouse: WAREHOUSE,
      store: openStore(WAREHOUSE),
      write: () => Promise.resolve(),
      ingest: () => Promise.resolve([]),
      check: () => Promise.resolve([]),
    })
    const { results } = await getPage(app, '/api/v1/dataset/rain/chuvas_2020/data/')
    expect(results).toEqual([
      { chuva_mm: 1234.5, dia: '2020-12-31' },
      { chuva_mm: null, dia: '2020-12-30' },
    ])
  }, 60_000)

  testAll(
    'add a file without publishing it, and an ingest publishes it after its questions are answered',
    async () => {
      const { folder, catalog, SOURCES, WAREHOUSE, settings } = await home()
      await run('init', [], settings)
      const file = path.join(folder, 'sales.csv')
      await writeFile(file, 'day,n\n13/01/2026,1\n14/01/2026,2\nTotal,4\n')
      const { code, out } = await run('add', [file, '--dataset=shop', '--no-publish'], settings)
      const next = `shop/sales is in ${catalog}; \`acervo ingest shop/sales\` publishes it\n`
      expect([code, out.slice(-next.length)]).toEqual([0, next])
      expect(await readdir(path.join(SOURCES, 'shop'))).toEqual(['sales.csv'])
      expect(await readdir(WAREHOUSE).catch(() => [])).toEqual([])
      const added = await readFile(catalog, 'utf8')
      const answered = added.replace(
        '{ name: day, type: string }',
        '{ name: day, type: date, format: dd/mm/yyyy }',
      )
      await writeFile(
        catalog,
        answered.replace(/( +)(order: .*\n)/, '$1$2$1source: { drop: { day: Total } }\n'),
      )
      const ingested = await run('ingest', ['shop/sales'], settings)
      expect(ingested.out).toMatch(
        /^shop\/sales: published 2 rows in .*; 4 lines: 1 header, 1 dropped, 2 rows\n/,
      )
      const addedAgain = await run('add', [file, '--dataset=other', '--table=sales'], settings)
      const [, command = ''] =
        /questions are open: answer them in \S+, and `acervo (.*)` publishes the table anew\n/.exec(
          addedAgain.out,
        ) ?? []
      expect(command).toBe('ingest --accept-drift other/sales')
      const both = await readFile(catalog, 'utf8')
      await writeFile(
        catalog,
        both.replace('{ name: day, type: string }', '{ name: day, type: date, format: dd/mm/yyyy }'),
      )
      await writeFile(path.join(SOURCES, 'other', 'sales.csv'), 'day,n\n13/01/2026,1\n14/01/2026,2\n')
      const [verb = '', ...args] = command.split(' ')
      expect((await run(verb, args, settings)).out).toContain('other/sales: published')
    },
    60_000,
  )

  testAll(
    'rename a catalog that is in the way of a new one, each to a name of its own',
    async () => {
      const { catalog, settings } = await home()
      const others = ['rain', 'wind']
      for (const [number, text] of others.entries()) {
        await writeFile(catalog, text)
        const { out } = await run('init', [], settings)
        expect(out).toContain(`${catalog} already existed, and was renamed to ${catalog}.${number + 1}\n`)
      }
      expect(
        await Promise.all(others.map((_, number) => readFile(`${catalog}.${number + 1}`, 'utf8'))),
      ).toEqual(others)
    },
    60_000,
  )

  testAll(
    'keep the entry of a file that cannot be ingested, marked as unpublished',
    async () => {
      const { catalog, SOURCES, settings } = await home()
      expect((await run('init', [], settings)).code).toBe(0)
      await mkdir(path.join(SOURCES, 'wind'), { recursive: true })
      const wind = path.join(SOURCES, 'wind', 'w.csv')
      await writeFile(wind, `a,b\n${'1,2\n'.repeat(99)}3\n`)
      const { code, err } = await run('add', [wind], settings)
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`wind/w is in ${catalog}, marked as not published`),
      ])
      expect(await readFile(catalog, 'utf8')).toMatch(
        /- name: w\n +# not published on [\d-]+: correct this entry or the file\n +order: /,
      )
      await writeFile(wind, 'a,b\n1,2\n')
      expect((await run('ingest', ['wind/w'], settings)).out).toContain('wind/w: published 1 row')
    },
    60_000,
  )

  testAll(
    'refuse an invalid file, and leave the catalog unchanged',
    async () => {
      const { folder, catalog, SOURCES, settings } = await home()
      const file = path.join(folder, 'chuvas_2020.csv')
      await writeFile(file, 'dia\n2020-12-31\n')
      expect(await run('add', [file], settings)).toMatchObject({
        code: 1,
        err: `there is no catalog ${catalog}: \`acervo init\` writes one\n`,
      })
      expect((await run('init', [], settings)).code).toBe(0)
      expect((await run('add', [file, '--dataset=rain'], settings)).code).toBe(0)
      const added = await readFile(catalog, 'utf8')
      const refusals: [args: string[], message: RegExp][] = [
        [[file, '--dataset=rain'], /^rain\/chuvas_2020 is already in the catalog/],
        [[file, '--dataset=Rain'], /^DATASET is "Rain", and must be/],
        [[path.join(folder, 'none.csv')], /^there is no file /],
        [[file], /^rain\/chuvas_2020 already uses this file: /],
      ]
      for (const [args, message] of refusals) {
        const refused = await run('add', args, settings)
        const [, report = ''] = refused.err.split(/^reading .*\n/m)
        expect([refused.code, report === '' ? refused.err : report]).toEqual([
          1,
          expect.stringMatching(message),
        ])
      }
      // A program that is stopped removes what it has done.
      const secondFile = path.join(folder, 'stopped.csv')
      await writeFile(secondFile, 'a,b\n1,2\n')
      const stopped = start('add', [secondFile], settings)
      await until(() => stopped.out().includes(' is copied to '))
      stopped.child.kill('SIGTERM')
      const { code: ended, err: said } = await stopped.ended
      expect([ended, said]).toEqual([130, expect.stringContaining('was not changed')])
      expect(await readFile(catalog, 'utf8')).toBe(added)
      expect(await readdir(path.join(SOURCES, 'stopped'))).toEqual([])
    },
    60_000,
  )
})
