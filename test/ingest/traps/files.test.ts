import { readdir, rename } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { silentProgress } from '../../../ingest/base/progress.ts'
import { outcomeLines } from '../../../ingest/job/report.ts'
import { readSource } from '../../../ingest/source/read.ts'
import { bad, declared, misfit, refused, rows, whatCame, type Came } from '../support/declared.ts'
import { getPage, serve } from '../../support/service.ts'
import { workshop, placed } from '../../support/workshop.ts'
import { zipOf } from '../../support/zip.ts'
import { isQuick, sampled, testAll, testSampled } from '../../support/runs.ts'

/** Traps in several files and in packings. */

const ab = ['a:string', 'b:integer']
const notInteger = 'is not a whole number of 64 bits, digits only, such as 1200 or -7'

const named = (from_name: string, files: string | object[]) => ({ files, from_name })

describe('facts that files state by their names and content', () => {
  testSampled<[title: string, source: object, contents: Record<string, string | Buffer>, came: Came]>([
    [
      'a field from the file name',
      named('x{b}.csv', 'd/*'),
      { 'd/x7.csv': 'a\nk\nl\n', 'd/x10.csv.gz': gzipSync('a\nm\n') },
      rows(['m', 10], ['k', 7], ['l', 7]),
    ],
    [
      'fields from folders',
      named('{a}/*_{b}.csv', 'd/*/*.csv'),
      { 'd/SP/r_1.csv': 'c\nx\n', 'd/AC/rs_2.csv': 'c\ny\n', 'd/AC/r_3.csv': 'c\nz\n', 'd/r_4.csv': 'c\n' },
      {
        rows: [
          ['AC', 3],
          ['AC', 2],
          ['SP', 1],
        ],
        notices: [],
      },
    ],
    [
      'a field from the names in a zip',
      { ...named('{a}.txt', 'd/t.csv.zip'), member: '*.txt' },
      { 'd/t.csv.zip': zipOf({ name: 'in/p.txt', content: 'b\n1\n' }, { name: 'q.txt', content: 'b\n2\n' }) },
      rows(['p', 1], ['q', 2]),
    ],
    [
      'a part of a file name that has the wrong type',
      named('x{b}.csv', 'd/*'),
      { 'd/x1.csv': 'a\nk\n', 'd/xx.csv': 'a\nk\nl\n' },
      bad(`xx.csv, line 2, field "b": "x" ${notInteger}`, `xx.csv, line 3, field "b": "x" ${notInteger}`),
    ],
    [
      'a file name that does not match the pattern',
      named('x{b}.csv', 'd/*'),
      { 'd/x1.csv': 'a\nk\n', 'd/y1.csv': 'a\nk\n' },
      refused('y1.csv does not match source.from_name (x{b}.csv): rename the file, or correct the pattern'),
    ],
    [
      'a name that can be read in two ways',
      named('{a}_{b}.csv', 'd/*'),
      { 'd/p_q_1.csv': 'c\nk\n' },
      refused(
        'the name of p_q_1.csv matches source.from_name ({a}_{b}.csv) in more than one way: write more of the name into the pattern',
      ),
    ],
    [
      'constants of some files',
      { files: ['d/p.csv', { path: 'd/q*.csv', constants: { b: '9' } }], union_by_name: true },
      { 'd/p.csv': 'a,b\nk,1\n', 'd/q1.csv': 'a\nl\n', 'd/q2.csv': 'a\nm\n' },
      rows(['k', 1], ['l', 9], ['m', 9]),
    ],
    [
      'columns in another order, and some missing',
      { files: 'd/*.csv', union_by_name: true },
      { 'd/1.csv': 'a,b\nk,1\n', 'd/2.csv': 'b,a\n2,l\n', 'd/3.csv': 'b\n3\n', 'd/4.csv': 'a,b\nm,4\n' },
      {
        rows: [
          ['k', 1],
          ['l', 2],
          [null, 3],
          ['m', 4],
        ],
        notices: ['  3.csv lacks "a", so its rows have null there'],
      },
    ],
    [
      'a column that the first file lacks',
      { files: 'd/*.csv', union_by_name: true },
      { 'd/1.csv': 'b\n1\n', 'd/2.csv': 'b,a\n2,l\n' },
      {
        rows: [
          [null, 1],
          ['l', 2],
        ],
        notices: ['  1.csv lacks "a", so its rows have null there'],
      },
    ],
    [
      'a column that all files lack',
      { files: 'd/*.csv', union_by_name: true },
      { 'd/1.csv': 'b\n1\n', 'd/2.csv': 'b\n2\n' },
      misfit('the column "a" is missing'),
    ],
    [
      'a column that is no field',
      { files: 'd/*.csv', union_by_name: true },
      { 'd/1.csv': 'a,b\nk,1\n', 'd/2.csv': 'b,x\n2,y\n' },
      misfit('the column "x" is not a field of d/t (did you mean "a"?)', '', '2.csv'),
    ],
    [
      'a fault in a file after one with other columns',
      { files: 'd/*.csv', union_by_name: true },
      { 'd/1.csv': 'a,b\nk,1\n', 'd/2.csv': 'b,a\nz,l\n2,m\ny,n\n' },
      bad(`2.csv, line 2, field "b": "z" ${notInteger}`, `2.csv, line 4, field "b": "y" ${notInteger}`),
    ],
  ])('are read exactly, or refused: %s', async (_what, source, contents, came) => {
    const hasHeader = Object.values(contents).some((text) => String(text).startsWith('c\n'))
    const declaration = { fields: ab, source: { ...source, ...(hasHeader && { ignore: ['c'] }) } }
    await expect(whatCame(declaration, contents)).resolves.toEqual(came)
  })

  test('include the order of files and lines, which equal rows keep', async () => {
    const declaration = { fields: ab, order: ['b asc'], source: { files: 'd/*.csv' } }
    const contents = { 'd/1.csv': 'a,b\nk,1\nl,0\nm,1\n', 'd/2.csv': 'a,b\nn,1\no,0\np,1\n' }
    const due = rows(['l', 0], ['o', 0], ['k', 1], ['m', 1], ['n', 1], ['p', 1])
    await expect(whatCame(declaration, contents)).resolves.toEqual(due)
    // Each file cast by itself.
    await expect(whatCame(declaration, contents, { batchBytes: 1 })).resolves.toEqual(due)
  })

  testAll('many files keep their order, each row with the value of its file', async () => {
    const count = isQuick ? 30 : 200
    const contents = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`d/x${1000 + n}.csv`, `a\n${n}-1\n${n}-2\n`]),
    )
    const due = Array.from({ length: count }, (_, n) => [
      [`${n}-1`, 1000 + n],
      [`${n}-2`, 1000 + n],
    ]).flat()
    const declaration = { fields: ab, source: named('x{b}.csv', 'd/*.csv') }
    await expect(whatCame(declaration, contents)).resolves.toEqual(rows(...due))
    await expect(whatCame(declaration, contents, { batchBytes: 100 })).resolves.toEqual(rows(...due))
  })

  test('make a renamed file with the same bytes a new source', async () => {
    const shop = await workshop(declared({ fields: ab, source: named('x{b}.csv', 'd/*.csv') }), {
      'd/x1.csv': 'a\nk\n',
    })
    await shop.ingest()
    await rename(path.join(shop.sources, 'd/x1.csv'), path.join(shop.sources, 'd/x2.csv'))
    const [outcome] = await shop.ingest()
    expect(outcome?.status).toBe('published')
    const { results } = await getPage((await serve(shop)).app, '/api/v1/dataset/d/t/data/')
    expect(results).toEqual([{ a: 'k', b: 2 }])
  })
})

describe('several files', () => {
  testSampled<[title: string, files: string | string[], contents: Record<string, string>, came: Came]>([
    [
      'by a pattern, in the order of their names',
      'd/*.csv',
      { 'd/2.csv': 'a,b\ny,2\n', 'd/10.csv': 'a,b\nx,1', 'd/3.txt': 'a,b\nz,3\n' },
      {
        rows: [
          ['x', 1],
          ['y', 2],
        ],
        notices: ['  warning: the last line of 10.csv has no line ending: check that the file is complete'],
      },
    ],
    [
      'by a list, in its order',
      ['d/z.csv', 'd/a.csv'],
      { 'd/a.csv': 'a,b\ny,2\n', 'd/z.csv': 'a,b\r\nx,1\r\n' },
      rows(['x', 1], ['y', 2]),
    ],
    [
      'one of them a header alone',
      'd/*.csv',
      { 'd/1.csv': 'a,b\n', 'd/2.csv': 'a,b\nx,1\n' },
      { rows: [['x', 1]], notices: ['  warning: the file 1.csv of the source has no rows'] },
    ],
    [
      'one of them empty',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/2.csv': '' },
      refused('2.csv is empty: it needs at least a header'),
    ],
    [
      'columns in another order in one',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/2.csv': 'b,a\n1,x\n' },
      refused('the header of 2.csv differs from that of 1.csv: column 1 is "b" instead of "a"'),
    ],
    [
      'an additional column in one file',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/2.csv': 'a,b,c\nx,1,2\n' },
      refused('the header of 2.csv differs from that of 1.csv: column 3 is "c" instead of null'),
    ],
    [
      'a missing column in one file',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/2.csv': 'a\nx\n' },
      refused('the header of 2.csv differs from that of 1.csv: column 2 is null instead of "b"'),
    ],
    [
      'a bad value, whose file is named',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/2.csv': 'a,b\ny,2\nz,?\n' },
      bad(`2.csv, line 3, field "b": "?" ${notInteger}`),
    ],
    [
      'a short row, whose file is named',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx\n', 'd/2.csv': 'a,b\ny\n' },
      bad(
        '1.csv, line 2: the row has 1 value, and the header 2',
        '2.csv, line 2: the row has 1 value, and the header 2',
      ),
    ],
    [
      'an open quote in the first does not reach the second',
      'd/*.csv',
      { 'd/1.csv': 'a,b\n"x,1\n', 'd/2.csv': 'a,b\ny",2\n' },
      refused(
        'the source cannot be read as CSV; nothing was published',
        '  1.csv, line 2: a quoted value is never closed: the file is cut off, or a quote is stray',
      ),
    ],
    [
      'a broken file after one with a bad row',
      'd/*.csv',
      { 'd/1.csv': 'a,b\nx\n', 'd/2.csv': 'a,b\n"x,1\n' },
      refused(
        'the source cannot be read as CSV; nothing was published',
        '  1.csv, line 2: the row has 1 value, and the header 2',
        '  2.csv, line 2: a quoted value is never closed: the file is cut off, or a quote is stray',
      ),
    ],
    [
      'a folder whose name matches the pattern too',
      'd/*',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/old/0.csv': 'a,b\ny,2\n' },
      rows(['x', 1]),
    ],
    [
      'a file whose name starts with a point',
      'd/*',
      { 'd/1.csv': 'a,b\nx,1\n', 'd/._1.csv': '\0\0' },
      rows(['x', 1]),
    ],
    [
      'names with spaces and brackets',
      'd/dados (*).csv',
      { 'd/dados (1).csv': 'a,b\nx,1\n', 'd/dados (2).csv': 'a,b\ny,2\n' },
      rows(['x', 1], ['y', 2]),
    ],
    [
      'names with square brackets',
      'd/*[1].csv',
      { 'd/x[1].csv': 'a,b\nx,1\n', 'd/x1.csv': 'a,b\ny,2\n' },
      rows(['x', 1]),
    ],
  ])('are read as declared, or refused: %s', async (_what, files, contents, came) => {
    await expect(whatCame({ fields: ab, source: { files } }, contents)).resolves.toEqual(came)
    // Each file cast by itself, while the next one is read.
    await expect(whatCame({ fields: ab, source: { files } }, contents, { batchBytes: 1 })).resolves.toEqual(
      came,
    )
  })

  testAll(
    'leave no running work and no scratch files behind if damage is found after some batches',
    async () => {
      const packed = gzipSync(
        `a,b\n${Array.from({ length: 300_000 }, (_, row) => `${row},${row}`).join('\n')}\n`,
      )
      // The sum of the whole, next to last, and found wrong when all was unpacked.
      packed.writeUInt8(packed.readUInt8(packed.length - 8) ^ 1, packed.length - 8)
      const catalog = declared({ fields: ab })
      const table = catalog.datasets.get('d')?.tables.get('t')
      if (table === undefined) throw new Error('no table')
      const shop = await workshop(catalog, { 'd/t.csv.gz': packed })
      let running = 0
      const take = async (): Promise<void> => {
        running += 1
        await wait(100)
        running -= 1
      }
      const source = placed(path.join(shop.sources, 'd/t.csv.gz'), 't.csv.gz', packed.length)
      const reading = readSource([source], {
        table,
        progress: silentProgress,
        limits: { unpackedBytesMax: 1e9 },
        taker: { folder: shop.sources, bytes: 500_000, take },
      })
      await expect(reading).rejects.toThrow(
        't.csv.gz is damaged or cut off (incorrect data check): fetch it again',
      )
      expect(running).toBe(0)
      const [outcome] = await shop.ingest({ batchBytes: 500_000 })
      expect(outcome?.status).toBe('failed')
      await expect(readdir(shop.store.scratchFolder)).resolves.toEqual([])
    },
  )

  test('or one large file that is cast in batches keep each row in its place, and rejects have the right lines', async () => {
    const text = Array.from({ length: 60_000 }, (_, row) => {
      if (row === 30_000) return '"two\nlines",30000'
      return row === 59_000 ? 'x,5.5' : `${'value '.repeat(8)}${row},${row}`
    })
    const shop = await workshop(declared({ fields: ab, max_rejects: 1 }), {
      'd/t.csv': `a,b\n${text.join('\n')}\n`,
    })
    const [outcome] = await shop.ingest({ batchBytes: 1_000_000 })
    if (outcome?.status !== 'published') throw new Error('not published')
    const { rows_in, rows_out, first_rejects } = outcome.report
    expect({ rows_in, rows_out, first_rejects }).toEqual({
      rows_in: 60_000,
      rows_out: 59_999,
      // One more than its place, for the header, and one for the line break before it.
      first_rejects: [{ line: 59_003, field: 'b', text: '5.5', reason: notInteger }],
    })
    const { app, close } = await serve(shop)
    const { results } = await getPage(app, '/api/v1/dataset/d/t/data/?page=6&page_size=10000')
    await close()
    const expected = Array.from({ length: 10_000 }, (_, at) => 50_000 + at).filter((row) => row !== 59_000)
    expect(results.map(({ b }) => b)).toEqual(expected)
  })

  testSampled<[title: string, files: string[]]>([
    ['the last one named', ['d/1.csv', 'd/2.csv']],
    ['the first one named', ['d/2.csv', 'd/1.csv']],
    ['all of a pattern', ['d/1.csv', 'd/x*.csv']],
  ])('fail with a message if one of the files is missing: %s', async (_what, files) => {
    const shop = await workshop(declared({ fields: ab, source: { files } }), { 'd/1.csv': 'a,b\nx,1\n' })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'failed') throw new Error(`expected a failure, got ${String(outcome?.status)}`)
    expect(outcomeLines(outcome)[0]).toMatch(/missing|there is no/)
  })

  test('are refused if their headers differ only in the place of a line feed', async () => {
    const came = await whatCame(
      { fields: ['a:string', 'b:string'], source: { files: 'd/*.csv', rename: { 'p\nq': 'a', r: 'b' } } },
      { 'd/1.csv': '"p\nq",r\nx,1\n', 'd/2.csv': 'p,"q\nr"\ny,2\n' },
    )
    expect(came).toEqual(
      refused('the header of 2.csv differs from that of 1.csv: column 1 is "p" instead of "p\\nq"'),
    )
  })
})

const first = { name: 't.csv', content: 'a,b\nx,1\n' }
const two = { name: 'in/u.csv', content: 'a,b\ny,2\n' }
const text = Buffer.from('a,b\nx,1\n')
const damaged = (name: string, why: string): Came =>
  refused(`${name} is damaged or cut off (${why}): fetch it again`)

type PackedCase = [title: string, name: string, content: Uint8Array, source: object, came: Came]

/** As its end tells: it is on the second disk. */
function lastOfSeveral(zip: Buffer): Buffer {
  zip.writeUInt16LE(1, zip.length - 18)
  return zip
}

describe('compressed files', () => {
  const cases: PackedCase[] = [
    ['gz', 'd/t.csv.gz', gzipSync(text), {}, rows(['x', 1])],
    [
      'gz cut off',
      'd/t.csv.gz',
      gzipSync(text).subarray(0, -4),
      {},
      damaged('t.csv.gz', 'unexpected end of file'),
    ],
    [
      'gz with more after it',
      'd/t.csv.gz',
      Buffer.concat([gzipSync(text), Buffer.from('z,3\n')]),
      {},
      damaged('t.csv.gz', 'incorrect header check'),
    ],
    [
      'gz with more after padding',
      'd/t.csv.gz',
      Buffer.concat([gzipSync(text), Buffer.from('\0\0z,3\n')]),
      {},
      refused('t.csv.gz has data after the end of its compressed data: compress it again'),
    ],
    [
      'gz of nothing',
      'd/t.csv.gz',
      gzipSync(''),
      {},
      refused('t.csv.gz is empty: it needs at least a header'),
    ],
    [
      'gz of gz',
      'd/t.csv.gz',
      gzipSync(gzipSync(text)),
      {},
      refused('t.csv.gz is a gzip file: rename it to end in .gz'),
    ],
    ['gz named csv', 'd/t.csv', gzipSync(text), {}, refused('t.csv is a gzip file: rename it to end in .gz')],
    [
      'csv named gz',
      'd/t.csv.gz',
      text,
      {},
      refused('t.csv.gz is not a gzip file, although its name says so: rename it, or compress it again'),
    ],
    [
      'no bytes named gz',
      'd/t.csv.gz',
      Buffer.alloc(0),
      {},
      refused('t.csv.gz is not a gzip file, although its name says so: it is empty'),
    ],
    ['zip with one file', 'd/t.csv.zip', zipOf(first), {}, rows(['x', 1])],
    [
      'zip with one CSV and a note',
      'd/t.csv.zip',
      zipOf(first, { name: 'leia-me.pdf', content: '%PDF' }),
      {},
      rows(['x', 1]),
    ],
    [
      'zip with one CSV and a text about it',
      'd/t.csv.zip',
      zipOf(first, { name: 'doc/LEIAME.txt', content: 'Leia.' }),
      {},
      rows(['x', 1]),
    ],
    [
      'zip with several',
      'd/t.csv.zip',
      zipOf(two, first),
      {},
      refused(
        't.csv.zip contains several files (in/u.csv, t.csv): declare the one to read, such as source.member: "in/u.csv", or name it for `acervo add` by --member',
      ),
    ],
    ['zip with several, one named', 'd/t.csv.zip', zipOf(two, first), { member: 't.csv' }, rows(['x', 1])],
    [
      'zip with several, one named in its folder',
      'd/t.csv.zip',
      zipOf(two, first),
      { member: 'in/u.csv' },
      rows(['y', 2]),
    ],
    [
      'zip with several, by a pattern',
      'd/t.csv.zip',
      zipOf(first, two),
      { member: '*.csv' },
      rows(['y', 2], ['x', 1]),
    ],
    [
      'zip without the one named',
      'd/t.csv.zip',
      zipOf(first, two),
      { member: 'v*.csv' },
      refused('t.csv.zip contains no v*.csv, only: in/u.csv, t.csv'),
    ],
    [
      'zip with another header in one',
      'd/t.csv.zip',
      zipOf(first, { ...two, content: 'b,a\n1,x\n' }),
      { member: '*.csv' },
      refused(
        'the header of t.csv.zip/t.csv differs from that of t.csv.zip/in/u.csv: column 1 is "a" instead of "b"',
      ),
    ],
    [
      'zip with a wrong check sum',
      'd/t.csv.zip',
      zipOf({ ...first, crc: 1 }),
      {},
      damaged('t.csv.zip', 't.csv does not match its checksum'),
    ],
    [
      'zip with a wrong check sum of what is not packed',
      'd/t.csv.zip',
      zipOf({ ...first, crc: 1, method: 0 }),
      {},
      damaged('t.csv.zip', 't.csv does not match its checksum'),
    ],
    [
      'zip that is encrypted',
      'd/t.csv.zip',
      zipOf({ ...first, isEncrypted: true }),
      {},
      refused('t.csv.zip/t.csv is encrypted: unpack it'),
    ],
    ...[
      [1, 'with shrink (method 1)'],
      [2, 'by method 2'],
      [6, 'with implode (method 6)'],
      [9, 'with Deflate64 (method 9)'],
      [12, 'with bzip2 (method 12)'],
      [14, 'with LZMA (method 14)'],
      [20, 'with zstd (method 20)'],
      [93, 'with zstd (method 93)'],
      [95, 'with xz (method 95)'],
      [98, 'with PPMd (method 98)'],
      [65_535, 'by method 65535'],
    ].map(([method, how]): PackedCase => [
      `zip packed ${how}`,
      'd/t.csv.zip',
      zipOf({ ...first, method: Number(method) }),
      {},
      refused(
        `t.csv.zip/t.csv is compressed ${how}, which is not supported: compress it again with deflate, the default of zip ` +
          'programs, or as .csv.gz or .csv.zst',
      ),
    ]),
    ['zip that is not packed', 'd/t.csv.zip', zipOf({ ...first, method: 0 }), {}, rows(['x', 1])],
    [
      'zip with a file packed otherwise that is not read',
      'd/t.csv.zip',
      zipOf(first, { ...two, method: 12 }),
      { member: 't.csv' },
      rows(['x', 1]),
    ],
    [
      'zip encrypted by AES',
      'd/t.csv.zip',
      zipOf({ ...first, method: 99, isEncrypted: true }),
      {},
      refused('t.csv.zip/t.csv is encrypted: unpack it'),
    ],
    [
      'zip encrypted strongly',
      'd/t.csv.zip',
      zipOf({ ...first, isEncrypted: true, flags: 0x40 }),
      {},
      refused('t.csv.zip is encrypted: unpack it'),
    ],
    [
      'zip in several parts',
      'd/t.csv.zip',
      lastOfSeveral(zipOf(first)),
      {},
      refused('t.csv.zip is one part of a split zip file: join the parts, or unpack them'),
    ],
    [
      'zip cut off',
      'd/t.csv.zip',
      zipOf(first).subarray(0, -30),
      {},
      damaged(
        't.csv.zip',
        'End of central directory record signature not found. Either not a zip file, or file is truncated.',
      ),
    ],
    [
      'zip of a gz',
      'd/t.csv.zip',
      zipOf({ name: 't.csv', content: gzipSync(text) }),
      {},
      refused('t.csv.zip/t.csv is a gzip file: rename it to end in .gz'),
    ],
    [
      'zip that climbs out of its folder',
      'd/t.csv.zip',
      zipOf({ ...first, name: '../t.csv' }),
      {},
      damaged('t.csv.zip', 'invalid relative path: ../t.csv'),
    ],
    [
      'xlsx named zip',
      'd/t.csv.zip',
      zipOf({ name: '[Content_Types].xml', content: '<' }, { name: 'xl/workbook.xml', content: '<' }),
      {},
      refused('t.csv.zip contains no .csv file, only: [Content_Types].xml, xl/workbook.xml'),
    ],
    [
      'xlsx named csv',
      'd/t.csv',
      zipOf({ name: 'xl/workbook.xml', content: '<' }),
      {},
      refused('t.csv is a zip or xlsx file: export the sheet as CSV, or rename an archive to end in .zip'),
    ],
  ]
  test.each(sampled(cases, 3))(
    'are unpacked, or refused with a reason: %s',
    async (_what, name, content, source, came) => {
      await expect(whatCame({ fields: ab, source }, { [name]: content })).resolves.toEqual(came)
    },
  )
})
