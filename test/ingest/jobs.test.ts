import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { allTables, type Table } from '../../core/catalog/catalog.ts'
import { Connection } from '../../core/duckdb/connection.ts'
import { OutOfMemory } from '../../core/duckdb/errors.ts'
import { acquireLock } from '../../core/duckdb/file-lock.ts'
import { readReport } from '../../core/warehouse/report.ts'
import { publishedOf } from '../../core/warehouse/publish.ts'
import { definitionsUntil } from '../../ingest/publish/label.ts'
import { Board } from '../../ingest/base/progress.ts'
import { outcomeLines } from '../../ingest/job/report.ts'
import { testAll } from '../support/runs.ts'
import { catalogAround, fieldOf, tinyCatalog, workshop } from '../support/workshop.ts'

const two = tinyCatalog({ name: 'good', fields: ['n:integer'] }, { name: 'bad', fields: ['n:integer'] })
const later = () => new Date('2027-01-01T00:00:00Z')

/** A table with another field `cpf`. */
const cpf = (fieldKeys: object) => ({
  fields: [fieldOf('n:integer'), { name: 'cpf', type: 'string', ...fieldKeys }, fieldOf('day:date')],
})

const base = { name: 't', order: ['n asc'], ...cpf({}) }
const definition = (table: object): string | undefined =>
  definitionsUntil(allTables(catalogAround([{ ...base, ...table }]))[0] as Table, 1000, 1)[0]

describe('an unchanged source', () => {
  test.each<[title: string, table: object]>([
    ['hides a field', cpf({ mask: 'cpf' })],
    ['trims a field', cpf({ trim: true })],
    ['takes another word for null', { source: { nulls: ['', 'NA'] } }],
    ['declares another format of dates', { source: { date: 'dd/mm/yyyy' } }],
    ['has another order', { order: ['n desc'] }],
    ['gives a field another type', cpf({ type: 'text' })],
    ['allows rejects', { max_rejects: 1 }],
    ['searches a field', { search: ['cpf'] }],
    ['declares an additional order', { orders: [['cpf']] }],
    ['leaves out the row store', { packed: false }],
  ])('is converted again if the catalog %s', (_what, table) => {
    expect(definition(table)).not.toBe(definition({}))
  })

  test.each<[title: string, table: object]>([
    ['the description of a table', { description: 'of all' }],
    ['the description of a field', cpf({ description: 'of a person' })],
    ['the interval of refreshes', { refreshed: 'daily' }],
  ])('is not converted again if the catalog changes %s', (_what, table) => {
    expect(definition(table)).toBe(definition({}))
  })
})

describe('a job', () => {
  test('continues with the other tables when one fails, and reports everything', async () => {
    const shop = await workshop(two, { 'd/good.csv': 'n\n1\n', 'd/bad.csv': 'n\n1\n12.75\n' })
    const outcomes = await shop.ingest()
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['published', 'failed'])
    const failure = path.join(shop.warehouse, 'd', 'bad', 'failure.json')
    expect(outcomes.flatMap((outcome) => outcomeLines(outcome, true))).toEqual([
      expect.stringMatching(
        /^d\/good: published 1 row in \d+\.\d s \(20260102T030405Z-[0-9a-f]{12}\); 2 lines: 1 header, 1 row$/,
      ),
      '  field  type     nulls  distinct  least  greatest',
      '  n      integer  0      1         1      1',
      'd/bad: FAILED, a row does not match the catalog; nothing was published',
      '  line 3, field "n": "12.75" is not a whole number of 64 bits, digits only, such as 1200 or -7',
      '  remedy: correct these lines of the source, or the type and spelling of the fields in the catalog',
      `  report: ${failure}`,
    ])
    expect(JSON.parse(await readFile(failure, 'utf8'))).toEqual({
      dataset: 'd',
      table: 'bad',
      at: '2026-01-02T03:04:05.678Z',
      problem: 'a row does not match the catalog; nothing was published',
      remedy: 'correct these lines of the source, or the type and spelling of the fields in the catalog',
      rejects: 1,
      first_rejects: [
        {
          line: 3,
          field: 'n',
          text: '12.75',
          reason: 'is not a whole number of 64 bits, digits only, such as 1200 or -7',
        },
      ],
    })
  })

  test('publishes nothing for an unchanged source, and publishes again after a change of the source or the catalog', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const [first] = await shop.ingest({ settledMs: Infinity })
    const files = await readdir(path.join(shop.warehouse, 'd', 't'))
    const [again] = await shop.ingest({ now: later, settledMs: Infinity })
    expect(again && outcomeLines(again, true)).toEqual([
      'd/t: unchanged, 1 row since 2026-01-02T03:04:05.678Z',
    ])
    expect(new Set(await readdir(path.join(shop.warehouse, 'd', 't')))).toEqual(
      new Set([...files, 'last-check.json']),
    )

    const catalog = tinyCatalog({ fields: ['n:integer'], order: ['n desc'] })
    const renewed = await workshop(catalog, { 'd/t.csv': 'n\n1\n' })
    const outcome = await renewed.ingest({ store: shop.store, now: later })
    // The rows are imported anew, and have not changed since.
    expect(outcome[0]).toMatchObject({
      status: 'published',
      manifest: { import_date: later().toISOString() },
    })
    // The age of the source counts from its first import.
    expect(outcome[0]).toHaveProperty('manifest.changed_at', '2026-01-02T03:04:05.678Z')

    await shop.write('d/t.csv', 'n\n2\n')
    const [changed] = await shop.ingest({ now: () => new Date('2028-01-01T00:00:00Z') })
    expect(first?.status).toBe('published')
    expect(changed).toMatchObject({
      status: 'published',
      manifest: { changed_at: '2028-01-01T00:00:00.000Z' },
    })
  })

  test('skips a table that never had a source, and fails if a source disappeared', async () => {
    const shop = await workshop(two, { 'd/good.csv': 'n\n1\n' })
    expect((await shop.ingest()).map((outcome) => outcome.status)).toEqual(['published', 'skipped'])
    const moved = { ...shop, sources: path.join(shop.sources, 'elsewhere') }
    const [gone] = await shop.ingest({ sources: moved.sources })
    expect(gone && outcomeLines(gone, true)[0]).toMatch(
      /^d\/good: FAILED, the source is missing: there is no .*d\/good\.csv \(or \.csv\.gz, \.csv\.zst, \.csv\.zip\); the snapshot of 2026-01-02T03:04:05\.678Z is still served$/,
    )
  })

  test('for unpublished tables leaves published tables unchanged, even if their source has changed', async () => {
    const shop = await workshop(two, { 'd/good.csv': 'n\n1\n' })
    await shop.ingest()
    await shop.write('d/good.csv', 'n\n2\n')
    await shop.write('d/bad.csv', 'n\n3\n')
    const outcomes = await shop.ingest({ onlyUnpublished: true })
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['kept', 'published'])
  })

  test('removes the remainders of a killed job, but not the folder of a running one', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const scratch = shop.store.scratchFolder
    for (const name of ['99999999-dead', `${process.pid}-alive`])
      await mkdir(path.join(scratch, name), { recursive: true })
    await utimes(path.join(scratch, '99999999-dead'), 0, 0)
    // The lock decides whether a folder is in use; the process number in its name does not.
    const releases: (() => Promise<void>)[] = []
    for (const name of [`${process.pid}-killed`, '99999999-held']) {
      await mkdir(path.join(scratch, name, 'work'), { recursive: true })
      releases.push(await acquireLock(path.join(scratch, name, 'lock')))
    }
    const [release, stop] = releases
    await release?.()
    await shop.ingest()
    expect((await readdir(scratch)).toSorted()).toEqual([`${process.pid}-alive`, '99999999-held'].toSorted())
    await stop?.()
  })

  test('replaces a snapshot with a missing part, though its source is unchanged', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), { 'd/t.csv': 'n\n1\n' })
    const [first] = await shop.ingest()
    if (first?.status !== 'published') throw new Error('expected a snapshot')
    await rm(path.join(shop.warehouse, 'd', 't', first.manifest.snapshot, 'part-00000.parquet'))
    const [again] = await shop.ingest({ now: later })
    expect(again?.status).toBe('published')
  })
})

const once = (...values: string[]) => values.map((value) => ({ value, rows: 1 }))

test('the manifest and the report describe what was published, as an independent reader confirms', async () => {
  const catalog = tinyCatalog({ fields: ['n:integer', 'v:decimal:10:2', 's:string'], order: ['n desc'] })
  const shop = await workshop(catalog, { 'd/t.csv': 's,n,v\na,1,1.5\n,2,-0.25\nc,3,\nd,4,9\ne,5,10\n\n' })
  await shop.ingest({ partRows: 2 })
  const home = path.join(shop.warehouse, 'd', 't')
  const manifest = await publishedOf(shop.store, { dataset: 'd', name: 't' })
  if (manifest === null) throw new Error('no manifest')
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
  const long = expect.stringMatching(/^[0-9a-f]{128}$/)
  const part = (file: string, firstRow: number, rows: number) => ({
    file,
    firstRow,
    rows,
    bytes: expect.any(Number),
    sha256: hash,
    sha512: long,
  })
  const beside = (file: string) => ({ file, bytes: expect.any(Number), sha256: hash, sha512: long })
  expect(manifest).toEqual({
    format: 2,
    dataset: 'd',
    table: 't',
    snapshot: expect.stringMatching(/^20260102T030405Z-[0-9a-f]{12}$/),
    previous: null,
    rows: 5,
    textBytes: 20,
    files: [beside('t.csv.gz'), beside('report.json')],
    row_stores: ['rows-00000.bin', 'rows-00001.bin', 'rows-00002.bin'].map((file) => ({
      ...beside(file),
      container: 2,
      chunk_rows: 25,
      directory_sum: expect.any(Number),
    })),
    parts: [
      part('part-00000.parquet', 0, 2),
      part('part-00001.parquet', 2, 2),
      part('part-00002.parquet', 4, 1),
    ],
    fields: [
      { name: 'n', type: 'integer', stored: 'BIGINT' },
      { name: 'v', type: 'decimal', stored: 'DECIMAL(10,2)' },
      { name: 's', type: 'string', stored: 'VARCHAR' },
    ],
    order: ['"n" desc nulls last'],
    import_date: '2026-01-02T03:04:05.678Z',
    collected_at: '2020-01-01',
    sources: [{ name: 't.csv', bytes: 42, sha256: hash }],
    definition: hash,
    tools: { node: process.version, duckdb: expect.stringMatching(/^v1\./) },
  })

  const folder = path.join(home, manifest.snapshot)
  expect(JSON.parse(await readFile(path.join(folder, 'report.json'), 'utf8'))).toEqual({
    dataset: 'd',
    table: 't',
    snapshot: manifest.snapshot,
    import_date: manifest.import_date,
    sources: manifest.sources,
    rows_in: 5,
    rows_out: 5,
    rejected_rows: 0,
    first_rejects: [],
    lines: {
      // oxlint-disable-next-line id-denylist -- Key of report.json.
      all: 7,
      skipped: 0,
      header: 1,
      rows: 5,
      breaks: 0,
      rejected: 0,
      blank: 1,
      comments: 0,
      repeatedHeaders: 0,
      dropped: 0,
      last: 0,
    },
    blank_lines: 1,
    comment_lines: 0,
    missing_columns: [],
    last_lines: [],
    taken_over: [],
    accepted_drift: [],
    warnings: [],
    // The header and three parts.
    download_sections: [
      [expect.any(Number), 6, expect.any(Number)],
      [expect.any(Number), 19, expect.any(Number)],
      [expect.any(Number), 14, expect.any(Number)],
      [expect.any(Number), 9, expect.any(Number)],
    ],
    fields: [
      {
        name: 'n',
        type: 'integer',
        nulls: 0,
        min: '1',
        max: '5',
        top: once('1', '2', '3', '4', '5'),
        choices: ['1', '2', '3', '4', '5'],
        ...differing(5),
      },
      {
        name: 'v',
        type: 'decimal',
        nulls: 1,
        min: '-0.25',
        max: '10.00',
        top: once('-0.25', '1.50', '9.00', '10.00'),
        choices: ['-0.25', '1.50', '9.00', '10.00'],
        ...differing(4),
      },
      {
        name: 's',
        type: 'string',
        nulls: 1,
        min: 'a',
        max: 'e',
        top: once('a', 'c', 'd', 'e'),
        choices: ['a', 'c', 'd', 'e'],
        ...differing(4),
      },
    ],
    seconds: Object.fromEntries(
      ['reading', 'sorting', 'writing', 'reconciling', 'profiling', 'indexing', 'packing', 'hashing'].map(
        (step) => [step, expect.any(Number)],
      ),
    ),
    tools: manifest.tools,
  })

  const rows: unknown[] = []
  for (const { file, bytes } of manifest.parts) {
    expect((await stat(path.join(folder, file))).size).toBe(bytes)
    const buffer = await asyncBufferFromFile(path.join(folder, file))
    const { schema } = await parquetMetadataAsync(buffer)
    expect(schema.slice(1).map((column) => column.name)).toEqual(['n', 'v', 's'])
    rows.push(...(await parquetReadObjects({ file: buffer, compressors })))
  }
  expect(rows).toEqual(
    [
      { n: 5n, v: 10, s: 'e' },
      { n: 4n, v: 9, s: 'd' },
      { n: 3n, v: null, s: 'c' },
      { n: 2n, v: -0.25, s: null },
      { n: 1n, v: 1.5, s: 'a' },
    ].map((row) => expect.objectContaining(row) as unknown),
  )
})

function differing(number: number): object {
  return { distinct_estimate: number, distinct: number }
}

test.each([1200, 3000])('the distinct values of %d rows are counted exactly', async (rows) => {
  const fields = ['n:integer', 'name:string', 'half:string', 'price:decimal:9:2', 'tags:list']
  const shop = await workshop(tinyCatalog({ fields }), {
    'd/t.csv': `n,name,half,price,tags\n${Array.from(
      { length: rows },
      (_, row) => `${row},name ${row * 7919},${Math.floor(row / 2)},${row % 701}.5,"[""a"",""${row}""]"`,
    ).join('\n')}\n,,,,\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('it was not published')
  const report = await readReport(shop.store, outcome.table, outcome.manifest)
  expect(
    report?.fields.map(({ name, distinct_estimate, distinct }) => [name, distinct_estimate, distinct]),
  ).toEqual([rows, rows, rows / 2, 701, rows].map((due, place) => [fields[place]?.split(':')[0], due, due]))
})

test('distinct values are estimated if an exact count takes too much memory', async () => {
  const read = Reflect.get(Connection.prototype, 'rows')
  const refused: string[] = []
  jest.spyOn(Connection.prototype, 'rows').mockImplementation(async function (
    this: Connection,
    sql,
    ...details
  ) {
    if (!sql.includes('select distinct place')) return read.call(this, sql, ...details)
    refused.push(sql)
    throw new OutOfMemory(new Error('Out of Memory Error'))
  })
  const rows = 1200
  const shop = await workshop(tinyCatalog({ fields: ['n:integer'] }), {
    'd/t.csv': `n\n${Array.from({ length: rows }, (_, row) => row * 7919).join('\n')}\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('it was not published')
  expect(refused).toHaveLength(1)
  const report = await readReport(shop.store, outcome.table, outcome.manifest)
  const { distinct_estimate: estimate = 0, distinct } = report?.fields[0] ?? {}
  expect([distinct, estimate > 0.8 * rows, estimate <= rows]).toEqual([undefined, true, true])
})

testAll('the number of distinct values is never above the number of rows', async () => {
  const rows = 1_000_001
  const lines = Array.from({ length: rows }, (_, row) => `${row},${row * 7919}`)
  const shop = await workshop(tinyCatalog({ fields: ['n:integer', 'name:string'] }), {
    'd/t.csv': `n,name\n${lines.join('\n')}\n`,
  })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error('it was not published')
  const report = await readReport(shop.store, outcome.table, outcome.manifest)
  for (const { distinct_estimate: estimate = 0, distinct } of report?.fields ?? []) {
    expect(distinct).toBeUndefined()
    expect(estimate).toBeGreaterThan(0.8 * rows)
    expect(estimate).toBeLessThanOrEqual(rows)
  }
})

function written(isTTY: boolean): string {
  let [text, clock] = ['', 0]
  const screen = { isTTY, columns: 60, write: (chunk: string) => (text += chunk) }
  const progress = new Board(screen, () => clock).progress('d/t')
  progress.step('reading')
  for (const seconds of [1, 2, 6]) {
    clock = seconds * 1000
    progress.advance({ fraction: seconds / 10, rows: seconds * 1_000_000, bytes: seconds * 50e6 })
  }
  progress.end()
  return text
}

test('progress is one updated line on a terminal, and occasional plain lines elsewhere', () => {
  expect(written(false)).toBe('d/t: reading 60 %, 6,000,000 rows, 50 MB/s, 4 s left\n')
  const clear = '\r\u001B[K'
  expect(written(true)).toBe(
    `${clear}d/t: reading 10 %, 1,000,000 rows, 50 MB/s, 9 s left` +
      `${clear}d/t: reading 20 %, 2,000,000 rows, 50 MB/s, 8 s left` +
      `${clear}d/t: reading 60 %, 6,000,000 rows, 50 MB/s, 4 s left${clear}`,
  )
})
