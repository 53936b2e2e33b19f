import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import request from 'supertest'
import { outcomeLines, type Outcome } from '../../ingest/job/report.ts'
import { faultLines } from './support/declared.ts'
import { silentProgress } from '../../ingest/base/progress.ts'
import { readSource } from '../../ingest/source/read.ts'
import { noSourceCounts } from '../../ingest/source/source-counts.ts'
import { CsvScanner } from '../../ingest/source/scan.ts'
import { getPage, serve } from '../support/service.ts'
import { placed, temporaryFolder, tinyCatalog, workshop, type Workshop } from '../support/workshop.ts'
import { zipOf } from '../support/zip.ts'
import { runsOf, seed, testAll, testSampled } from '../support/runs.ts'

/** Forms of CSV that the catalog declares, from files of every kind. */

const catalog = tinyCatalog({ fields: ['a:string', 'b:integer'] })
const isPublished = (outcome: Outcome | undefined): boolean => outcome?.status === 'published'

async function rowsOf(shop: Workshop): Promise<readonly unknown[][]> {
  const { app } = await serve(shop)
  const page = await getPage(app, '/api/v1/dataset/d/t/data/?page_size=10000')
  return page.results.map((row) => Object.values(row))
}

async function failureOf(content: string | Uint8Array, name = 'd/t.csv'): Promise<string[]> {
  const shop = await workshop(catalog, { [name]: content })
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'failed') throw new Error(`expected a failure, got ${String(outcome?.status)}`)
  return faultLines(outcome)
}

// Texts that shrink to a fiftieth, all of which are in buffers before the first is scanned.
const longText = `a,b\n${Array.from({ length: 600_000 }, (_, n) => `text,${n % 10}\n`).join('')}`
test.each<[packing: string, name: string, content: Buffer]>([
  ['no compression', 't.csv', Buffer.from(longText)],
  ['gzip', 't.csv.gz', gzipSync(longText)],
  [
    'a zip of two CSV files and another file',
    't.zip',
    zipOf(
      { name: 'a.csv', content: longText },
      { name: 'b.csv', content: longText },
      { name: 'c.bin', content: Buffer.from(longText) },
    ),
  ],
])('the progress of a source is the share of its text that was read: %s', async (_packing, name, content) => {
  const file = path.join(await temporaryFolder(), name)
  await writeFile(file, content)
  const isZip = name.endsWith('.zip')
  const source = isZip ? { member: '*.csv' } : {}
  const table = tinyCatalog({ fields: ['a:string', 'b:integer'], source })
    .datasets.get('d')
    ?.tables.get('t')
  if (table === undefined) throw new Error('no table')
  const seen: (readonly [reported: number, due: number])[] = []
  const total = longText.length * (isZip ? 2 : 1)
  await readSource([placed(file, name, content.length)], {
    table,
    progress: {
      ...silentProgress,
      advance: ({ fraction, bytes = 0 }) => seen.push([fraction, bytes / total]),
    },
    limits: { unpackedBytesMax: 1e9 },
    taker: null,
  })
  expect(seen.length).toBeGreaterThan(3)
  expect(seen.filter(([reported, due]) => Math.abs(reported - due) > 0.15)).toEqual([])
  expect(seen.at(-1)?.[0]).toBeLessThanOrEqual(1)
})

test('a header alone is published without rows if the catalog allows an empty table', async () => {
  const mayBeEmpty = tinyCatalog({ fields: ['a:string', 'b:integer'], may_be_empty: true })
  const shop = await workshop(mayBeEmpty, { 'd/t.csv': 'a,b\n' })
  const [outcome] = await shop.ingest()
  expect(outcome).toMatchObject({ status: 'published', manifest: { rows: 0, parts: [] } })
  const { app } = await serve(shop)
  const emptyPage = { count: 0, next: null, previous: null, results: [] }
  await expect(getPage(app, '/api/v1/dataset/d/t/data/')).resolves.toEqual(emptyPage)
})

describe('every valid way to write a CSV gives the same rows', () => {
  const rows = [
    ['x', 1],
    ['y\nz', 2],
    [null, 3],
  ]
  testSampled<[form: string, name: string, content: string | Uint8Array]>([
    ['LF', 'd/t.csv', 'a,b\nx,1\n"y\nz",2\n,3\n'],
    ['no line feed at the end', 'd/t.csv', 'a,b\nx,1\n"y\nz",2\n,3'],
    ['CRLF', 'd/t.csv', 'a,b\r\nx,1\r\n"y\nz",2\r\n,3\r\n'],
    ['both line ends', 'd/t.csv', 'a,b\r\nx,1\n"y\nz",2\r\n,3\n'],
    ['byte order mark', 'd/t.csv', '\uFEFFa,b\nx,1\n"y\nz",2\n,3\n'],
    ['quoted header', 'd/t.csv', '"a","b"\nx,1\n"y\nz","2"\n"","3"\n'],
    ['columns in another order', 'd/t.csv', 'b,a\n1,x\n2,"y\nz"\n3,\n'],
    ['blank lines', 'd/t.csv', '\na,b\n\nx,1\n\r\n"y\nz",2\n,3\n\n\n'],
    ['gzip', 'd/t.csv.gz', gzipSync('a,b\nx,1\n"y\nz",2\n,3\n')],
    [
      'gzip with padding',
      'd/t.csv.gz',
      Buffer.concat([gzipSync('a,b\nx,1\n"y\nz",2\n,3\n'), Buffer.alloc(600)]),
    ],
    [
      'gzip of two members',
      'd/t.csv.gz',
      Buffer.concat([gzipSync('a,b\nx,1\n'), gzipSync('"y\nz",2\n,3\n')]),
    ],
  ])('with %s', async (_form, name, content) => {
    const shop = await workshop(catalog, { [name]: content })
    await shop.ingest()
    await expect(rowsOf(shop)).resolves.toEqual(rows)
  })

  test('with a declared delimiter and declared header names', async () => {
    const source = { delimiter: ';', rename: { Município: 'a', 'Qtd.': 'b' } }
    const shop = await workshop(tinyCatalog({ fields: ['a:string', 'b:integer'], source }), {
      'd/t.csv': 'Qtd.;Município\n1;"x;1"\n2;y,z\n',
    })
    await shop.ingest()
    await expect(rowsOf(shop)).resolves.toEqual([
      ['x;1', 1],
      ['y,z', 2],
    ])
  })

  test('with one column, in which a blank line is a row', async () => {
    const shop = await workshop(tinyCatalog({ fields: ['a:string'] }), { 'd/t.csv': 'a\nx\n\n""\ny\n' })
    await shop.ingest()
    await expect(rowsOf(shop)).resolves.toEqual([['x'], [null], [null], ['y']])
  })

  test('with field names that are keywords of SQL', async () => {
    const names = [
      'select',
      'a "quoted" name',
      "it's",
      'Preço médio (R$)',
      'f0',
      'c1',
      'rowid',
      'position',
      'line',
      'x;drop table t--',
      '日本',
    ]
    const header = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(',')
    const shop = await workshop(
      tinyCatalog({ fields: names.map((name) => `${name}:integer`), order: ['rowid desc'] }),
      {
        'd/t.csv': `${header}\n${names.map((_, index) => index).join(',')}\n${names.map((_, index) => index + 100).join(',')}\n`,
      },
    )
    expect((await shop.ingest()).flatMap((outcome) => outcomeLines(outcome))).toEqual([
      expect.stringContaining('published 2 rows'),
    ])
    const { app } = await serve(shop)
    const { results } = await getPage(app, '/api/v1/dataset/d/t/data/')
    const expected = (base: number) => Object.fromEntries(names.map((name, index) => [name, index + base]))
    expect(results).toEqual([expected(100), expected(0)])
    expect(Object.keys(results[0] ?? {})).toEqual(names.toSorted())
  })
})

describe('sources that cannot be read without guessing are refused with line and reason', () => {
  testSampled<[title: string, content: string | Uint8Array, lines: string[]]>([
    ['an empty file', '', ['d/t: FAILED, t.csv is empty: it needs at least a header']],
    [
      'a short row',
      'a,b\nx\ny,2\n',
      [
        'd/t: FAILED, a row does not match the catalog; nothing was published',
        '  line 2: the row has 1 value, and the header 2',
      ],
    ],
    [
      'a long row after a line break in quotes',
      'a,b\n"x\n\n",1\ny,2,3\n',
      [
        'd/t: FAILED, a row does not match the catalog; nothing was published',
        '  line 5: the row has 3 values, and the header 2: a value that contains "," must be enclosed in quotes',
      ],
    ],
    [
      'an open quote',
      'a,b\nx,1\n"y,2\n',
      [
        'd/t: FAILED, the source cannot be read as CSV; nothing was published',
        '  line 3: a quoted value is never closed: the file is cut off, or a quote is stray',
      ],
    ],
    [
      'a quote inside a value',
      'a,b\nx"y,1\n',
      [
        'd/t: FAILED, the source cannot be read as CSV; nothing was published',
        '  line 2: a quote is inside a value that does not start with one',
      ],
    ],
    [
      'text after a quote',
      'a,b\n"x" y,1\n',
      [
        'd/t: FAILED, the source cannot be read as CSV; nothing was published',
        '  line 2: text follows the closing quote of a value',
      ],
    ],
    [
      'Mac line ends',
      'a,b\rx,1\r',
      [
        'd/t: FAILED, the source cannot be read as CSV; nothing was published',
        '  line 1: a carriage return without a line feed: end lines with LF or CRLF, quote the value, or declare line_terminator: cr if all lines end this way',
      ],
    ],
    [
      'a carriage return at the end',
      'a,b\nx,1\r',
      [
        'd/t: FAILED, the source cannot be read as CSV; nothing was published',
        '  line 2: a carriage return without a line feed: end lines with LF or CRLF, quote the value, or declare line_terminator: cr if all lines end this way',
      ],
    ],
    [
      'a NUL byte',
      'a,b\nx,1\ny\0,2\n',
      [
        'd/t: FAILED, a row does not match the catalog; nothing was published',
        '  line 3: a NUL byte: this is not a text file, or it is damaged',
      ],
    ],
    [
      'Latin-1',
      Buffer.from('a,b\nx,1\nSão,2\n', 'latin1'),
      [
        'd/t: FAILED, a row does not match the catalog; nothing was published',
        '  line 3: the byte 0xe3 is not UTF-8: declare the encoding of the source as source.encoding, or save the file as UTF-8 (CSV UTF-8 in Excel)',
      ],
    ],
    [
      'UTF-16',
      Buffer.from('\uFEFFa,b\n', 'utf16le'),
      ['d/t: FAILED, t.csv is UTF-16 text: declare utf-16 as source.encoding'],
    ],
    [
      'a zip named csv',
      Buffer.from('PK\u0003\u0004rest'),
      [
        'd/t: FAILED, t.csv is a zip or xlsx file: export the sheet as CSV, or rename an archive to end in .zip',
      ],
    ],
    ['a gzip named csv', gzipSync('a,b\n'), ['d/t: FAILED, t.csv is a gzip file: rename it to end in .gz']],
    [
      'a page in place of data',
      '<html>\n<body>not found</body>\n',
      ['d/t: FAILED, t.csv is a page of HTML or XML, perhaps an error page: fetch the CSV itself'],
    ],
    [
      'a column twice',
      'a,b,a\nx,1,y\n',
      [
        'd/t: FAILED, the header in line 1 does not match the catalog: the column "a" appears twice. Remedy: change the source, or the fields (or source.rename, source.ignore) of the table in the catalog',
      ],
    ],
    [
      'a misspelt column',
      'a,bb\nx,1\n',
      [
        'd/t: FAILED, the header in line 1 does not match the catalog: the column "b" is missing; the column "bb" is not a field of d/t (did you mean "b"?). Remedy: change the source, or the fields (or source.rename, source.ignore) of the table in the catalog; `acervo ingest --accept-drift d/t` publishes it, with nulls for missing columns and without unknown ones',
      ],
    ],
  ])('%s', async (_what, content, lines) => {
    await expect(failureOf(content)).resolves.toEqual(lines)
  })

  const packed = gzipSync('a,b\nx,1\n'.repeat(5000))
  testSampled<[title: string, content: Uint8Array, line: RegExp]>([
    [
      'cut off',
      packed.subarray(0, packed.length - 5),
      /t\.csv\.gz is damaged or cut off \(unexpected end of file\): fetch it again/,
    ],
    [
      'with a flipped bit',
      packed.map((byte, at) => (at === packed.length - 6 ? byte ^ 1 : byte)),
      /t\.csv\.gz is damaged or cut off \(incorrect .* check\)/,
    ],
    [
      'that is plain text',
      Buffer.from('a,b\nx,1\n'),
      /t\.csv\.gz is not a gzip file, although its name says so: rename it, or compress it again$/m,
    ],
    [
      'that fills the disk',
      gzipSync(Buffer.from('a,b\n'.repeat(20 * 1024 * 1024))),
      /t\.csv\.gz unpacks to more than 500 times its size, perhaps a zip bomb: if that is intended, unpack it yourself/,
    ],
  ])('a gzip file %s', async (_what, content, line) => {
    expect((await failureOf(content, 'd/t.csv.gz')).join('\n')).toMatch(line)
  })

  test('and with a suggestion of another delimiter', async () => {
    expect((await failureOf('a;b\nx;1\n')).join()).toContain(
      'The delimiter may be ";": declare it as source.delimiter.',
    )
  })

  test('in a short message even if the header has many unknown names', async () => {
    const names = Array.from({ length: 5000 }, (_, index) => `n${index}`)
    const [line = ''] = await failureOf(`${names.join(',')}\n`)
    expect(line).toMatch(
      /^d\/t: FAILED, the header in line 1 does not match the catalog: the column "a" is missing; .* "n7" is not a field of d\/t; and 4992 more\. Remedy/,
    )
  })

  test.each<[source: object, texts: readonly string[], place: string]>([
    [{}, ['a,bb\nx,1\n', 'a,bb\ny,2\n'], ' of 1.csv in line 1'],
    [{ union_by_name: true }, ['a,b\nx,1\n', '\nc,b\ny,2\n'], ' of 2.csv in line 2'],
    // No file has the column.
    [{ union_by_name: true }, ['a\nx\n', 'a\ny\n'], ' in line 1'],
  ])(
    'and with the file whose header does not match, if there are several: %j',
    async (source, texts, place) => {
      const table = tinyCatalog({
        fields: ['a:string', 'b:integer'],
        source: { files: 'd/*.csv', ...source },
      })
      const shop = await workshop(
        table,
        Object.fromEntries(texts.map((text, index) => [`d/${index + 1}.csv`, text])),
      )
      const [outcome] = await shop.ingest()
      expect(outcomeLines(outcome as Outcome)[0]).toContain(
        `FAILED, the header${place} does not match the catalog: the column`,
      )
    },
  )

  test('two files that the catalog may mean', async () => {
    const shop = await workshop(catalog, { 'd/t.csv': 'a,b\n', 'd/t.csv.gz': gzipSync('a,b\n') })
    const [outcome] = await shop.ingest()
    expect(outcomeLines(outcome as Outcome)[0]).toMatch(
      /both .*t\.csv and .*t\.csv\.gz exist: keep only one of them/,
    )
  })

  testAll(
    'of many rejects the first thousand are reported in detail, in source order, and all are counted',
    async () => {
      const lines = Array.from({ length: 3000 }, (_, index) => (index % 2 === 0 ? `x,${index}` : 'y,bad'))
      const shop = await workshop(catalog, { 'd/t.csv': `a,b\n${lines.join('\n')}\n` })
      const [outcome] = await shop.ingest()
      if (outcome?.status !== 'failed') throw new Error('expected a failure')
      expect(outcome.failure.rejectCount).toBe(1500)
      expect(outcome.failure.rejects.map((reject) => reject.line)).toEqual(
        Array.from({ length: 1000 }, (_, index) => 3 + 2 * index),
      )
      const report = JSON.parse(await readFile(outcome.report, 'utf8')) as {
        rejects: number
        first_rejects: unknown[]
      }
      expect([report.rejects, report.first_rejects.length]).toEqual([1500, 1000])
      expect(outcomeLines(outcome).at(-3)).toBe('  and 1,490 more')
    },
  )
})

const behind = (file: string): string =>
  `failed: SOURCES/${file} leads outside SOURCES through a link: move the file into SOURCES, or ` +
  'set SOURCES to a folder that contains it'

describe('links in SOURCES', () => {
  const secret = 'root:x:0:0'
  const inside = 'a,b\nx,1\n'
  const files = { files: 'd/x*.csv' }
  const listed = { files: ['d/t.csv'], checksums: 'SHA256SUMS' }

  /** Links by path under SOURCES, with relative targets. */
  testSampled<[title: string, source: object, links: Record<string, string>, came: string]>([
    ['a link to a file inside', {}, { 'd/t.csv': '../kept/good.csv' }, 'published'],
    ['two links in a row to a file inside', {}, { 'd/t.csv': 'y', 'd/y': '../kept/good.csv' }, 'published'],
    ['a link to a folder inside', { files: 'l/good.csv' }, { l: 'kept' }, 'published'],
    ['a link to a folder inside, in a pattern', { files: 'l/g*.csv' }, { l: 'kept' }, 'published'],
    [
      'a link that leads out of SOURCES and in again',
      {},
      { 'd/t.csv': '../../sources/kept/good.csv' },
      'published',
    ],
    ['a link to a missing file', {}, { 'd/t.csv': '../kept/gone.csv' }, 'skipped'],
    ['a link to a file outside', {}, { 'd/t.csv': '../../passwd' }, behind('d/t.csv')],
    [
      'a link that is named .csv.gz to a file outside',
      {},
      { 'd/t.csv.gz': '../../passwd' },
      behind('d/t.csv.gz'),
    ],
    [
      'two links in a row to a file outside',
      {},
      { 'd/t.csv': 'y', 'd/y': '../../passwd' },
      behind('d/t.csv'),
    ],
    [
      'a link into a folder outside with a similar name',
      {},
      { 'd/t.csv': '../../sources-old/t.csv' },
      behind('d/t.csv'),
    ],
    [
      'a link to a file inside whose name starts with two points',
      {},
      { 'd/t.csv': '../..good.csv' },
      'published',
    ],
    ['a link to a folder outside', {}, { d: '../sources-old' }, behind('d/t.csv')],
    [
      'a link to a file outside, in source.files',
      { files: ['d/y.csv'] },
      { 'd/y.csv': '../../passwd' },
      behind('d/y.csv'),
    ],
    [
      'a link to a file outside that a pattern matches',
      files,
      { 'd/x1.csv': '../kept/good.csv', 'd/x2.csv': '../../passwd' },
      behind('d/x2.csv'),
    ],
    [
      'a link to a folder outside, in a path of source.files',
      { files: 'l/t.csv' },
      { l: '../sources-old' },
      behind('l/t.csv'),
    ],
    ['a link to a folder outside, in a pattern', { files: 'l/*.csv' }, { l: '../sources-old' }, behind('l')],
    [
      'a link to a folder outside, in a pattern that matches no file',
      { files: 'l/z*.csv' },
      { l: '../sources-old' },
      behind('l'),
    ],
    [
      'a list of checksums that is a link to a file outside',
      listed,
      { 'd/t.csv': '../kept/good.csv', 'd/SHA256SUMS': '../../passwd' },
      behind('d/SHA256SUMS'),
    ],
    [
      'a list of checksums that is a link to a file inside',
      listed,
      { 'd/t.csv': '../kept/good.csv', 'd/SHA256SUMS': '../kept/sums' },
      'published',
    ],
    [
      'a list of checksums whose declared path is outside',
      { ...listed, checksums: '../../passwd' },
      { 'd/t.csv': '../kept/good.csv' },
      'failed: passwd is outside SOURCES: move the file into SOURCES, or set SOURCES to a folder that contains it',
    ],
  ])('are followed only within SOURCES: %s', async (_what, source, links, came) => {
    const shop = await workshop(tinyCatalog({ fields: ['a:string', 'b:integer'], source }), {
      'kept/good.csv': inside,
      'kept/sums': `${createHash('sha256').update(inside).digest('hex')}  t.csv\n`,
      '../passwd': `${secret}\n`,
      '..good.csv': inside,
      '../sources-old/t.csv': inside,
    })
    for (const [name, target] of Object.entries(links)) {
      await mkdir(path.dirname(path.join(shop.sources, name)), { recursive: true })
      await symlink(target, path.join(shop.sources, name))
    }
    const behindLink = `${shop.sources}-link`
    await symlink(shop.sources, behindLink)
    for (const sources of [shop.sources, behindLink]) {
      const [outcome] = await shop.ingest({ sources })
      const output = outcomeLines(outcome as Outcome).join('\n')
      const failure = outcome?.status === 'failed' ? `: ${outcome.failure.message}` : ''
      const status = outcome?.status === 'unchanged' ? 'published' : String(outcome?.status)
      const shown = `${status}${failure}`.replaceAll(`${sources}/`, 'SOURCES/')
      expect(shown.replaceAll(`${path.dirname(sources)}/`, '')).toBe(came)
      expect(output).not.toContain(secret)
    }
    const published = came === 'published' ? await rowsOf(shop) : []
    expect(published).toEqual(came === 'published' ? [['x', 1]] : [])
  })
})

const cellText = fc.string({
  unit: fc.constantFrom('a', ',', '"', '\n', '\r', 'é', '😀', ' ', ';', '0'),
  maxLength: 6,
})

function quoted(text: string, always: boolean): string {
  return always || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

test('every output of an RFC 4180 writer is read exactly, however its bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cellText, cellText), { minLength: 1, maxLength: 30 }),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      async (cells, lineEnd, always) => {
        // A wholly empty line is no row in a file of two columns, so the first value is always there.
        const text = [['a', 'b'], ...cells.map(([a, b]) => [`k${a}`, b])]
          .map((row) => row.map((cell) => quoted(cell, always)).join(','))
          .join(lineEnd)
        const shop = await workshop(tinyCatalog({ fields: ['a:string', 'b:text'] }), { 'd/t.csv': text })
        const [outcome] = await shop.ingest()
        if (!isPublished(outcome)) throw new Error(outcomeLines(outcome as Outcome).join('\n'))
        expect(await rowsOf(shop)).toEqual(cells.map(([a, b]) => [`k${a}`, b === '' ? null : b]))
      },
    ),
    { seed, numRuns: runsOf('WRITTEN') },
  )
})

function scan(chunks: readonly Buffer[]) {
  const scanner = new CsvScanner({
    delimiter: ',',
    quote: '"',
    skipLines: 0,
    header: null,
    encoding: 'utf-8',
    hidesRows: false,
    comment: null,
    stopAt: null,
    headerInFile: null,
    headerLines: 1,
    skipRepeatedHeaders: false,
    dropEmptyExtraCells: false,
    maskOf: () => null,
    locate: new Set([0, 1, 2, 3]),
  })
  const plain = Buffer.concat([...chunks.map((chunk) => scanner.push(chunk)), scanner.end()]).toString()
  const { header, columns, counts, lines } = scanner
  return { plain, header, columns, counts, lines: [...lines] }
}

test('the scanner makes far fewer searches than a chunk has records, however long the records are', () => {
  const search = jest.spyOn(Buffer.prototype, 'indexOf')
  const records = 1000
  for (let longer = 0; longer <= 8; longer += 1) {
    const { counts } = scan([Buffer.from(`a,b\n${`x,${'1'.repeat(1 + longer)}\n`.repeat(records)}`)])
    expect([longer, counts.records]).toEqual([longer, records])
  }
  expect(search.mock.calls.length).toBeLessThan(100)
})

test('the scanner gives the same counts however the bytes are cut', () => {
  const text = Buffer.from('a,b\r\n"x ""é""\r\n😀",1\r\n\r\n,\n"",é\nlast,"2"')
  const whole = scan([text])
  expect(whole).toEqual({
    plain: '"x ""é""\r\n😀",1\n"",é\nlast,"2"\n',
    header: ['a', 'b'],
    columns: [
      { filled: 2, bytes: 16 },
      { filled: 3, bytes: 4 },
    ],
    counts: {
      ...noSourceCounts,
      members: 1,
      records: 3,
      textBytes: 20,
      total: 7,
      header: 1,
      breaks: 1,
      blank: 2,
    },
    lines: [
      [0, 2],
      [1, 6],
      [2, 7],
    ],
  })
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
      const ends = [...new Set([...cuts, text.length])].toSorted((a, b) => a - b)
      expect(scan(ends.map((end, index) => text.subarray(ends[index - 1] ?? 0, end)))).toEqual(whole)
    }),
  )
})

test('an ingest leaves the scratch folder empty, even after a failure', async () => {
  const shop = await workshop(catalog, { 'd/t.csv': 'a,b\nx,bad\n' })
  await shop.ingest()
  await shop.write('d/t.csv', 'a,b\nx,1\n')
  await shop.ingest()
  await expect(readdir(path.join(shop.warehouse, '.scratch'))).resolves.toEqual([])
  const { app } = await serve(shop)
  await request(app).get('/api/v1/dataset/d/t/data/').expect(200)
})
