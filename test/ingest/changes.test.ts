import { readFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import { Database } from '../../core/duckdb/database.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Changes, Manifest } from '../../core/warehouse/manifest.ts'
import { schemaChangeOf, schemaPhrases } from '../../core/warehouse/schema-change.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import { verifyChanges } from '../../ingest/publish/changes.ts'
import { faultLines } from './support/declared.ts'
import { runsOf, seed } from '../support/runs.ts'
import {
  catalogAround,
  fieldOf,
  importDate,
  temporaryFolder,
  workshop,
  type Workshop,
} from '../support/workshop.ts'

/** Files of changes: the rows by which snapshots of a table differ. */

/** Texts by column. */
type Row = Readonly<Record<string, string | null>>
type Cells = readonly (string | null)[]

/** A source, and the declaration of its table. */
interface Version {
  readonly fields: readonly string[]
  readonly key?: readonly string[]
  readonly order?: readonly string[]
  readonly rows: readonly Cells[]
}

const nameOf = (field: string): string => field.split(':')[0] ?? ''

function csvOf({ fields, rows }: Version): string {
  const lines = rows.map((row) => row.map((cell) => (cell === null ? '' : `"${cell}"`)).join())
  return `${[fields.map(nameOf).join(), ...lines].join('\n')}\n`
}

/** Publishes versions one after the other; returns their manifests and the folders of their files. */
async function publishAll(
  versions: readonly Version[],
): Promise<{ manifests: Manifest[]; warehouse: string }> {
  const home = await temporaryFolder()
  const manifests: Manifest[] = []
  let warehouse = ''
  for (const [index, version] of versions.entries()) {
    const { fields, key, order = [nameOf(fields[0] ?? '')] } = version
    const table = { name: 't', order, key, fields: fields.map(fieldOf), may_be_empty: true }
    const shop = await workshop(catalogAround([table]), { 'd/t.csv': csvOf(version) }, home)
    warehouse = shop.warehouse
    const now = (): Date => new Date(importDate.getTime() + index * 60_000)
    const [outcome] = await shop.ingest({ now, acceptsDrift: true })
    if (outcome?.status === 'unchanged') continue
    if (outcome?.status !== 'published') throw new Error(faultLines(outcome).join('\n'))
    manifests.push(outcome.manifest)
  }
  return { manifests, warehouse }
}

/** Reads the rows of Parquet files as texts, with the names of their columns. */
async function parquetRows(files: readonly string[], columns = '*'): Promise<Row[]> {
  const folder = path.dirname(files[0] ?? '')
  const database = await Database.open({
    memory: '200MB',
    threads: 1,
    scratch: path.join(folder, '..', 'spill'),
    folders: [folder],
  })
  const db = await database.connect()
  try {
    const from = `read_parquet([${files.map((file) => `'${file}'`).join()}])`
    const described = await db.rows(`describe select ${columns} from ${from}`)
    const names = described.map(([name]) => String(name))
    const rows = await db.rows(`select ${names.map((name) => `"${name}"::varchar`).join()} from ${from}`)
    return rows.map((row): Row =>
      Object.fromEntries(row.map((cell, index) => [names[index] ?? '', cell === null ? null : String(cell)])),
    )
  } finally {
    db.close()
    database.close()
  }
}

const fileIn = (warehouse: string, { snapshot }: Manifest, file: string): string =>
  path.join(warehouse, layout.snapshot({ dataset: 'd', name: 't' }, snapshot), file)

/** Writes decimals without final zeros, since they may have gained digits. */
function withShortAmounts(row: Row): Row {
  const short = Object.entries(row).map(([name, text]): [string, string | null] => [
    name,
    text !== null && name.endsWith('amount') ? String(Number(text)) : text,
  ])
  return Object.fromEntries(short)
}

/** Counts rows by their compared values. */
function counted(rows: readonly Row[], fields: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const text = JSON.stringify(fields.map((name) => row[name] ?? null))
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

/** Applies changes to the counts of the earlier rows. */
function applied(
  earlier: ReadonlyMap<string, number>,
  rows: readonly Row[],
  { fields, key }: Changes,
): Map<string, number> {
  const counts = new Map(earlier)
  const add = (values: readonly (string | null)[], times: number): void => {
    const text = JSON.stringify(values)
    counts.set(text, (counts.get(text) ?? 0) + times)
    if (counts.get(text) === 0) counts.delete(text)
  }
  for (const row of rows) {
    const values = fields.map((name) => row[name] ?? null)
    if (row['_change'] === 'added') add(values, 1)
    else if (row['_change'] === 'removed') add(values, -1)
    else {
      const changed = JSON.parse(row['_changed'] ?? '[]') as string[]
      if (changed.some((name) => key?.includes(name) !== false || row[`_old_${name}`] === row[name]))
        throw new Error(`${JSON.stringify(row)} is no change of its fields`)
      const old = fields.map((name) => (changed.includes(name) ? row[`_old_${name}`] : row[name]) ?? null)
      add(old, -1)
      add(values, 1)
    }
  }
  return counts
}

/** A row of a file of changes whose deaths were unknown before. */
const changedRow = (change: string, day: string, city: string, deaths: string, changed: string | null) => ({
  _change: change,
  day,
  city,
  deaths,
  _changed: changed,
  _old_deaths: null,
})

const aSecondLater = (): Date => new Date(importDate.getTime() + 1000)

const keyed = { fields: ['day:date', 'city:string', 'deaths:integer'], key: ['day', 'city'] }

test('the changes of a table with a key list its added, removed and changed rows', async () => {
  const { manifests, warehouse } = await publishAll([
    {
      ...keyed,
      rows: [
        ['2024-03-01', 'Belém', '1'],
        ['2024-03-01', 'Jaú', null],
        ['2024-03-02', 'Jaú', '7'],
      ],
    },
    {
      ...keyed,
      rows: [
        ['2024-03-03', 'Jaú', '8'],
        ['2024-03-01', 'Jaú', '2'],
        ['2024-03-01', 'Belém', '1'],
      ],
    },
  ])
  const [first, second] = manifests
  expect(first?.changes).toBeUndefined()
  expect(second?.changes).toEqual([
    {
      since: first?.snapshot,
      file: 'changes.parquet',
      added: 1,
      removed: 1,
      changed: 1,
      fields: ['day', 'city', 'deaths'],
      key: ['day', 'city'],
      changed_fields: [{ name: 'deaths', rows: 1 }],
    },
  ])
  if (second === undefined) throw new Error('there is no second snapshot')
  expect(await parquetRows([fileIn(warehouse, second, 'changes.parquet')])).toEqual([
    changedRow('changed', '2024-03-01', 'Jaú', '2', '["deaths"]'),
    changedRow('removed', '2024-03-02', 'Jaú', '7', null),
    changedRow('added', '2024-03-03', 'Jaú', '8', null),
  ])
})

test('a row that changes and changes back is unchanged since the first snapshot', async () => {
  const before = { ...keyed, rows: [['2024-03-01', 'Belém', '1']] }
  const after = { ...keyed, rows: [['2024-03-01', 'Belém', '2']] }
  const { manifests } = await publishAll([before, after, before])
  expect(manifests[2]?.changes?.map(({ since, changed }) => [since, changed])).toEqual([
    [manifests[1]?.snapshot, 1],
    [manifests[0]?.snapshot, 0],
  ])
})

/** A version with a row for each number of deaths. */
const withDeaths = (...deaths: string[]): Version => ({
  ...keyed,
  rows: deaths.map((count, index) => ['2024-03-01', `City ${index}`, count]),
})

test('a verification finds changes that do not lead from one snapshot to the other', async () => {
  const { manifests, warehouse } = await publishAll([
    withDeaths('1', '2'),
    withDeaths('1', '3'),
    withDeaths('1', '3', '4'),
  ])
  const store = openStore(warehouse)
  const [first, , last] = manifests
  if (first === undefined || last?.changes === undefined) throw new Error('there are no changes')
  await expect(verifyChanges(store, last)).resolves.toBeUndefined()
  const [step] = last.changes
  const wrong = { ...last, changes: step === undefined ? [] : [{ ...step, since: first.snapshot }] }
  await expect(verifyChanges(store, wrong)).rejects.toThrow('verification of the changes failed')
})

/** All texts in the files of a snapshot that clients can download. */
async function publicTexts(warehouse: string, manifest: Manifest): Promise<string> {
  const changes = manifest.changes?.map(({ file }) => file) ?? []
  const files = [...manifest.parts.map(({ file }) => file), ...changes]
  const rows = await Promise.all(files.map(async (file) => parquetRows([fileIn(warehouse, manifest, file)])))
  return JSON.stringify(rows)
}

test.each([
  ['with a key', ['id']],
  ['without a key', undefined],
])('values that a new mask hides appear in no changes, %s', async (_what, key) => {
  const home = await temporaryFolder()
  const manifests: Manifest[] = []
  let warehouse = ''
  for (const [index, mask] of [null, 'cpf', 'cpf'].entries()) {
    const fields = [fieldOf('id:integer'), { ...fieldOf('cpf:string'), ...(mask !== null && { mask }) }]
    const files = {
      'd/t.csv': `id,cpf\n1,123.456.789-09\n2,987.654.321-00\n${'3,111.444.777-35\n'.repeat(index)}`,
    }
    const table = { name: 't', order: ['id'], ...(index < 2 && { key }), fields }
    const shop = await workshop(catalogAround([table]), files, home)
    warehouse = shop.warehouse
    const [outcome] = await shop.ingest({ now: () => new Date(importDate.getTime() + index * 60_000) })
    if (outcome?.status !== 'published') throw new Error(faultLines(outcome).join('\n'))
    manifests.push(outcome.manifest)
  }
  const [first, second, third] = manifests
  if (first === undefined || second === undefined || third === undefined) throw new Error('not published')
  expect(await publicTexts(warehouse, first)).toContain('123.456.789-09')
  for (const later of [second, third])
    expect(await publicTexts(warehouse, later)).not.toContain('123.456.789-09')
  // Fields that are masked alike are compared.
  expect([second, third].map(({ changes = [] }) => changes[0]?.fields)).toEqual([['id'], ['id', 'cpf']])
})

test('erased rows appear in no changes if the operator requests it, not even in later snapshots', async () => {
  const home = await temporaryFolder()
  const table = { name: 't', order: ['id'], key: ['id'], fields: ['id:integer', 'name:string'].map(fieldOf) }
  const shop = await workshop(catalogAround([table]), {}, home)
  const manifests: Manifest[] = []
  for (const [index, lines] of ['1,Ana\n2,Bia\n', '2,Bia\n', '2,Bia\n3,Caio\n'].entries()) {
    await shop.write('d/t.csv', `id,name\n${lines}`)
    const now = (): Date => new Date(importDate.getTime() + index * 60_000)
    const [outcome] = await shop.ingest({ now, acceptsDrift: true, withoutChanges: index === 1 })
    if (outcome?.status === 'published') manifests.push(outcome.manifest)
  }
  expect(manifests.map(({ changes }) => changes?.map(({ since }) => since))).toEqual([
    undefined,
    undefined,
    [manifests[1]?.snapshot],
  ])
})

test('a new column, and other spellings of the same values, change no row', async () => {
  const { manifests } = await publishAll([
    { fields: ['id:integer', 'price:decimal:10:1'], key: ['id'], rows: [['1', '1.0']] },
    { fields: ['id:integer', 'price:decimal:12:2', 'note:string'], key: ['id'], rows: [['01', '1.00', 'x']] },
  ])
  expect(manifests[1]?.changes).toMatchObject([{ added: 0, removed: 0, changed: 0, fields: ['id', 'price'] }])
})

test('rows that lack or repeat a key fail the table, and messages have their lines and values', async () => {
  const shop = await workshop(
    catalogAround([{ name: 't', order: [], key: keyed.key, fields: keyed.fields.map(fieldOf) }]),
    { 'd/t.csv': 'day,city,deaths\n2024-03-01,Jaú,1\n2024-03-02,,2\n2024-03-01,Jaú,3\n' },
  )
  expect(faultLines((await shop.ingest())[0])).toEqual([
    'd/t: FAILED, 2 values break an expectation of the catalog; nothing was published',
    '  line 3, field "city": the value is missing, although it is in the key of the table',
    '  line 4, field "day, city": "2024-03-01, Jaú" is not unique: line 2 has it too',
  ])
})

test.each<[title: string, later: readonly string[], kind: string, phrases: readonly string[]]>([
  ['the same fields', ['a:integer', 'b:decimal:9:2', 'c:string'], 'none', []],
  ['a new field', ['a:integer', 'b:decimal:9:2', 'c:string', 'd:date'], 'additive', ['"d" is new']],
  [
    'more digits',
    ['a:integer', 'b:decimal:12:3', 'c:string'],
    'additive',
    ['"b" has the wider type decimal(12,3) instead of decimal(9,2)'],
  ],
  [
    'fewer digits',
    ['a:integer', 'b:decimal:8:2', 'c:string'],
    'breaking',
    ['"b" has the type decimal(8,2) instead of decimal(9,2)'],
  ],
  [
    'another type',
    ['a:string', 'b:decimal:9:2', 'c:string'],
    'breaking',
    ['"a" has the type string instead of integer'],
  ],
  ['another name', ['a:integer', 'b:decimal:9:2', 'cc:string'], 'breaking', ['"c" is renamed to "cc"']],
  ['fewer fields', ['a:integer', 'b:decimal:9:2'], 'breaking', ['"c" is removed']],
])(
  'a snapshot with %s is published only if it is compatible, or drift is accepted',
  async (_what, later, kind, phrases) => {
    const home = await temporaryFolder()
    const shopOf = async (fields: readonly string[], at: string): Promise<Workshop> => {
      const row = fields.map((field) => (field.startsWith('d:') ? '2024-01-01' : '1')).join()
      const files = { 'd/t.csv': `${fields.map(nameOf).join()}\n${row}\n${at}` }
      return workshop(catalogAround([{ name: 't', order: [], fields: fields.map(fieldOf) }]), files, home)
    }
    await (await shopOf(['a:integer', 'b:decimal:9:2', 'c:string'], '')).ingest()
    const shop = await shopOf(later, '\n')
    const [first] = await shop.ingest({ now: aSecondLater })
    const refusal = `d/t: FAILED, programs that read the snapshot of ${importDate.toISOString()} may break: ${phrases.join('; ')}. Check it; \`acervo ingest --accept-drift d/t\` publishes it anyway`
    expect(first?.status === 'failed' ? faultLines(first) : []).toEqual(kind === 'breaking' ? [refusal] : [])
    const [accepted] =
      kind === 'breaking' ? await shop.ingest({ now: aSecondLater, acceptsDrift: true }) : [first]
    if (accepted?.status !== 'published') throw new Error(faultLines(accepted).join('\n'))
    const change = schemaChangeOf(accepted.manifest)
    expect([change?.kind, change === null ? [] : schemaPhrases(change)]).toEqual([kind, phrases])
  },
)

test('changes have the same bytes whether an ingest reads one partition or all rows', async () => {
  const months = { '202401': 'a,1\nb,2\n', '202402': 'a,3\nb,4\n' }
  const table = {
    name: 't',
    order: ['month asc'],
    partition: 'month',
    key: ['month', 'city'],
    source: { files: 'd/t-*.csv' },
    fields: ['month:integer', 'city:string', 'value:integer'].map(fieldOf),
  }
  const bytes: Buffer[] = []
  for (const acceptsDrift of [false, true]) {
    const shop = await workshop(catalogAround([table]))
    const write = async (month: string, rows: string): Promise<void> =>
      shop.write(`d/t-${month}.csv`, `month,city,value\n${rows.replaceAll(/^(?=.)/gm, `${month},`)}`)
    for (const [month, rows] of Object.entries(months)) await write(month, rows)
    await shop.ingest()
    await write('202402', 'a,5\nc,4\n')
    // Partitions are read again if drift is accepted.
    const [outcome] = await shop.ingest({ acceptsDrift, now: aSecondLater })
    if (outcome?.status !== 'published') throw new Error(faultLines(outcome).join('\n'))
    expect(outcome.report.taken_over).toEqual(acceptsDrift ? [] : ['202401'])
    expect(outcome.manifest.changes).toMatchObject([{ added: 1, removed: 1, changed: 1 }])
    bytes.push(await readFile(fileIn(shop.warehouse, outcome.manifest, 'changes.parquet')))
  }
  expect(bytes[0]).toEqual(bytes[1])
})

const cell = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', '') },
)
/** Rows of id, name, amount, day and note, with few values, so that rows repeat and meet again. */
const rowOf = fc.tuple(
  fc.integer({ min: 1, max: 9 }).map(String),
  cell,
  fc.constantFrom(null, '0.5', '1.0', '-2.5', '10.0'),
  fc.constantFrom(null, '2024-01-01', '2024-01-02'),
  cell,
)
const versionOf = fc
  .record({
    rows: fc.array(rowOf, { maxLength: 12 }),
    hasKey: fc.boolean(),
    scale: fc.constantFrom(1, 2),
    columns: fc.subarray([1, 2, 3, 4], { minLength: 1 }),
    order: fc.constantFrom('id desc', 'id'),
  })
  .map(({ rows, hasKey, scale, columns, order }): Version => {
    const specs = ['id:integer', 'name:string', `amount:decimal:10:${scale}`, 'day:date', 'note:text']
    const kept = [0, ...columns]
    const unique = hasKey ? [...new Map(rows.map((row) => [row[0], row])).values()] : rows
    return {
      fields: kept.map((index) => specs[index] ?? ''),
      ...(hasKey && { key: ['id'] }),
      order: [order],
      rows: unique.map((row) => kept.map((index) => row[index] ?? null)),
    }
  })

test('earlier rows and their changes give the later rows, for every retained snapshot', async () => {
  let compared = 0
  await fc.assert(
    fc.asyncProperty(fc.array(versionOf, { minLength: 2, maxLength: 4 }), async (versions) => {
      const { manifests, warehouse } = await publishAll(versions)
      const rowsById = new Map<string, Row[]>()
      for (const manifest of manifests) {
        const files = manifest.parts.map(({ file }) => fileIn(warehouse, manifest, file))
        rowsById.set(manifest.snapshot, files.length === 0 ? [] : await parquetRows(files))
      }
      for (const manifest of manifests.slice(1)) {
        for (const changes of manifest.changes ?? []) {
          const { fields, since, file, added, removed, changed } = changes
          compared += 1
          const rows = await parquetRows([fileIn(warehouse, manifest, file)])
          expect(rows).toHaveLength(added + removed + changed)
          const [earlier = [], later = []] = [since, manifest.snapshot].map((id) =>
            rowsById.get(id)?.map(withShortAmounts),
          )
          const result = applied(counted(earlier, fields), rows.map(withShortAmounts), changes)
          expect(Object.fromEntries(result)).toEqual(Object.fromEntries(counted(later, fields)))
        }
      }
    }),
    { numRuns: runsOf('CHANGES'), seed },
  )
  expect(compared).toBeGreaterThan(runsOf('CHANGES') / 2)
}, 7_200_000)
