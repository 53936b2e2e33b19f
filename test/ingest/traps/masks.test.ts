import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { outcomeLines } from '../../../ingest/job/report.ts'
import {
  declared,
  faultLines,
  misfit,
  refused,
  rows,
  whatCame,
  type Declaration,
} from '../support/declared.ts'
import { fieldOf, workshop } from '../../support/workshop.ts'
import { testSampled } from '../../support/runs.ts'

/** Masked values are written nowhere, and allowed rejects are reported. */

const ab = ['a:string', 'b:integer']
const notInteger = 'is not a whole number of 64 bits, digits only, such as 1200 or -7'

const masked: Declaration = { fields: [{ name: 'cpf', type: 'string', mask: 'cpf' }, 'b:string'] }
const notCpf =
  'a CPF (11 digits, or 000.000.000-00), a masked CPF or a CNPJ; the value is not shown, since it may be personal'

/** Every byte below a folder, unpacked where it is packed. */
async function everythingIn(folder: string): Promise<string> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const contents = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => {
        const content = await readFile(path.join(file.parentPath, file.name))
        return `${file.name}\n${(file.name.endsWith('.gz') ? gunzipSync(content) : content).toString('latin1')}`
      }),
  )
  return contents.join('\n')
}

describe('masks', () => {
  test('hide personal values and nothing else', async () => {
    const content =
      'b,cpf\n1,123.456.789-01\n2,12345678901\n3,***456789**\n4,***.456.789-**\n5,12.345.678/0001-95\n' +
      '6,12345678000195\n7,\n8,"12345678901"\n9,#NULO\n'
    await expect(whatCame({ ...masked, source: { nulls: ['', '#NULO'] } }, content)).resolves.toEqual(
      rows(
        ...[
          '***456789**',
          '***456789**',
          '***456789**',
          '***.456.789-**',
          '12.345.678/0001-95',
          '12345678000195',
          null,
          '***456789**',
          null,
        ].map((cpf, index) => [cpf, String(index + 1)]),
      ),
    )
  })

  const secret = '9876543210'
  testSampled<
    [title: string, name: string, content: string, messages: string[], also?: Partial<Declaration>]
  >([
    [
      '10 digits',
      'd/t.csv',
      `cpf,b\n${secret},x\n`,
      [
        'a row does not match the catalog; nothing was published',
        `  line 2: the value of "cpf" is not ${notCpf}`,
      ],
    ],
    [
      'a space after the number',
      'd/t.csv',
      `cpf,b\n${secret}9 ,x\n`,
      [
        'a row does not match the catalog; nothing was published',
        `  line 2: the value of "cpf" is not ${notCpf}`,
      ],
    ],
    [
      'a row too long',
      'd/t.csv',
      `cpf,b\n${secret}9,x,y\n`,
      [
        'a row does not match the catalog; nothing was published',
        '  line 2: the row has 3 values, and the header 2: a value that contains "," must be enclosed in quotes',
      ],
    ],
    [
      'a quote inside',
      'd/t.csv',
      `cpf,b\n${secret}9",x\n`,
      [
        'the source cannot be read as CSV; nothing was published',
        '  line 2: a quote is inside a value that does not start with one',
      ],
    ],
    [
      'a bad value beside the number',
      'd/t.csv',
      `cpf,b\n${secret}9,x\n`,
      [
        'a row does not match the catalog; nothing was published',
        `  line 2, field "b": the value ${notInteger}`,
      ],
      { fields: [{ name: 'cpf', type: 'string', mask: 'cpf' }, 'b:integer'] },
    ],
  ])('show no value of an unknown form anywhere: %s', async (_what, name, content, messages, also = {}) => {
    const shop = await workshop(declared({ ...masked, ...also }), { [name]: content })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'failed') throw new Error('expected a failure')
    const lines = faultLines(outcome)
    expect(lines).toEqual([`d/t: FAILED, ${messages[0] ?? ''}`, ...messages.slice(1)])
    const text = await everythingIn(shop.warehouse)
    expect(text).toContain('"problem"')
    expect(text).not.toContain(secret)
  })

  // Here the text of rows gets into the sentence that tells what is wrong.
  testSampled<[title: string, contents: Record<string, string>, source?: object]>([
    ['no header line', { 'd/t.csv': `${secret}9,x\n` }],
    ['no header line, and one column', { 'd/t.csv': `x;${secret}9\n` }],
    [
      'no header line in the second file',
      { 'd/1.csv': 'cpf,b\n,x\n', 'd/2.csv': `${secret}9,y\n` },
      { files: 'd/*.csv' },
    ],
    ['a file that is named .gz but not packed', { 'd/t.csv.gz': `cpf\n${secret}9,x\n` }],
  ])(
    'hide a number even within the sentence of an error message: %s',
    async (_what, contents, source = {}) => {
      const shop = await workshop(declared({ ...masked, source }), contents)
      const [outcome] = await shop.ingest()
      if (outcome?.status !== 'failed') throw new Error('expected a failure')
      expect(outcomeLines(outcome).join('\n')).not.toContain(secret)
      expect(await everythingIn(shop.warehouse)).not.toContain(secret)
    },
  )

  test.each([
    ['', 0],
    [`Total,${secret}9\n${secret}\n`, 2],
    [`Total,${secret}9\n${secret}`, 2],
  ])('leave nothing of a hidden number in the published files or the report: %j', async (end, skip) => {
    const content = `cpf,b\n${secret}9,x\n${secret},y\n,z\n${end}`
    const source = { skip_last: skip }
    const shop = await workshop(declared({ ...masked, max_rejects: 1, source }), { 'd/t.csv': content })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error('expected it to be published')
    const { rows_in, rows_out, rejected_rows, first_rejects } = outcome.report
    expect({ rows_in, rows_out, rejected_rows, first_rejects }).toEqual({
      rows_in: 3,
      rows_out: 2,
      rejected_rows: 1,
      first_rejects: [{ line: 3, field: null, text: null, reason: `the value of "cpf" is not ${notCpf}` }],
    })
    const text = await everythingIn(shop.warehouse)
    expect(text).toContain('***654321**')
    expect(text).not.toContain(secret)
  })

  test('hide personal values even if the header lacks the name of the masked column, or repeats it', async () => {
    for (const content of [`b\n${secret}9,x\n"`, `${secret}9,${secret}9\n`]) {
      const shop = await workshop(declared(masked), { 'd/t.csv': content })
      const [outcome] = await shop.ingest()
      if (outcome?.status !== 'failed') throw new Error('expected a failure')
      expect(outcomeLines(outcome).join('\n')).not.toContain(secret)
      expect(await everythingIn(shop.warehouse)).not.toContain(secret)
    }
  })

  test('cannot be declared for a constant, which they would not hide', async () => {
    const constant = { ...masked, source: { constants: { cpf: `${secret}9` } } }
    await expect(whatCame(constant, 'b\nx\n')).rejects.toThrow(
      'a value from "constants" or "from_name" cannot be masked: remove the mask, and write a constant as it should be shown',
    )
  })
})

describe('a column that source.ignore leaves out', () => {
  testSampled<[title: string, line: string, source?: object]>([
    ['is in the last line, which is left out', 'Total,,SECRET', { skip_last: 1 }],
    ['is in the first line after the rows', 'Total,,SECRET\nmore,,SECRET', { stop_at: 'Total' }],
    ['is in a row with a cell too many', 'x,1,a,SECRET'],
    ['is in a row with a cell too few', 'x,SECRET'],
    ['has a byte of another encoding', 'x,1,SECRET\xe3'],
    ['is beside an invalid value', 'x,bad,SECRET'],
    ['has a NUL', 'x,1,SECRET\0'],
    ['is in a repeated header with a cell more', 'k,n,note,SECRET'],
    [
      'is shifted to another field by a delimiter without quotes',
      'x,y,SECRET,1',
      { drop_empty_extra_cells: true },
    ],
    ['is shifted to the left', 'x,SECRET,'],
    ['is in a total without the cells before it', 'Total,SECRET,9'],
    ['is in a row of several lines', '"x\ny",SECRET,SECRET'],
  ])('appears nowhere, even if it %s', async (_what, line, settings = {}) => {
    const content = Buffer.from(`k,n,note\na,1,SECRET\nb,2,SECRET\n${line}\n`, 'latin1')
    for (const most of [0, 9]) {
      const fields = ['k:string', 'n:integer']
      const table = { fields, max_rejects: most, source: { ignore: ['note'], ...settings } }
      const shop = await workshop(declared(table), { 'd/t.csv': content })
      const [checked] = await shop.check()
      const [outcome] = await shop.ingest()
      expect(outcome?.status).toBe(
        most === 9 || 'skip_last' in settings || 'stop_at' in settings ? 'published' : 'failed',
      )
      expect(JSON.stringify(checked)).not.toContain('SECRET')
      expect(outcome === undefined ? [] : outcomeLines(outcome).join('\n')).not.toContain('SECRET')
      expect(await everythingIn(shop.warehouse)).not.toContain('SECRET')
    }
  })
})

testSampled<[title: string, files: Record<string, string>, table?: object]>([
  ['a quote is not closed', { 'd/1.csv': 'k,n,note\na,1,SECRET\nx,"1,SECRET\n' }],
  ['a value is too long', { 'd/1.csv': `k,n,note\nx,"${'SECRET'.repeat(6_000_000)}",1\n` }],
  [
    'a shifted value breaks a rule',
    { 'd/1.csv': 'k,n,note\nb,1,SECRET\nSECRET,1,\n' },
    { fields: [{ name: 'k', type: 'string', expect: { matches: '[a-z]' } }, fieldOf('n:integer')] },
  ],
  [
    'a shifted value is one of the partition',
    { 'd/1.csv': 'k,n,note\na,1,SECRET\nSECRET,1,\n' },
    { partition: 'k', order: ['k'] },
  ],
  ['there is no header line', { 'd/1.csv': 'SECRETA,1,SECRET\n' }],
  ['the first line has a name of a field as a value', { 'd/1.csv': 'k,SECRET,note\na,1,x\n' }],
  ['the second file has no header line', { 'd/1.csv': 'note,k,n\n,a,1\n', 'd/2.csv': 'SECRET,a,1\n' }],
])(
  'if %s, no message or report shows the values of a column that the catalog ignores',
  async (_what, files, settings = {}) => {
    const source = { ignore: ['note'], files: 'd/*.csv' }
    const shop = await workshop(declared({ fields: ['k:string', 'n:integer'], source, ...settings }), files)
    const [checked] = await shop.check()
    const [outcome] = await shop.ingest()
    expect(JSON.stringify(checked)).not.toContain('SECRET')
    if (outcome?.status !== 'failed') throw new Error('expected a failure')
    expect(outcomeLines(outcome).join('\n')).not.toContain('SECRET')
    expect(await everythingIn(shop.warehouse)).not.toContain('SECRET')
  },
)

describe('rejects that are allowed', () => {
  const content = 'a,b\nx,1\ny,?\nz\nv,2\nw,!\n'
  const rejects = [
    { line: 4, field: null, text: 'z', reason: 'the row has 1 value, and the header 2' },
    { line: 3, field: 'b', text: '?', reason: notInteger },
    { line: 6, field: 'b', text: '!', reason: notInteger },
  ]

  test('are left out and reported', async () => {
    const shop = await workshop(declared({ fields: ab, max_rejects: 3 }), { 'd/t.csv': content })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'published') throw new Error('expected it to be published')
    const { rows_in, rows_out, rejected_rows, first_rejects } = outcome.report
    expect({ rows_in, rows_out, rejected_rows, first_rejects }).toEqual({
      rows_in: 5,
      rows_out: 2,
      rejected_rows: 3,
      first_rejects: rejects,
    })
    await expect(whatCame({ fields: ab, max_rejects: 3 }, content)).resolves.toEqual({
      rows: [
        ['x', 1],
        ['v', 2],
      ],
      notices: [
        '  3 rows were rejected and left out, as max_rejects allows:',
        '  line 4: the row has 1 value, and the header 2',
        `  line 3, field "b": "?" ${notInteger}`,
        `  line 6, field "b": "!" ${notInteger}`,
      ],
    })
  })

  test('fail the table once their number exceeds max_rejects, and the report has all of them', async () => {
    const shop = await workshop(declared({ fields: ab, max_rejects: 2 }), { 'd/t.csv': content })
    const [outcome] = await shop.ingest()
    if (outcome?.status !== 'failed') throw new Error('expected a failure')
    expect(JSON.parse(await readFile(outcome.report, 'utf8'))).toEqual({
      dataset: 'd',
      table: 't',
      at: '2026-01-02T03:04:05.678Z',
      problem: '3 rows do not match the catalog, and max_rejects allows only 2; nothing was published',
      remedy: 'correct these lines of the source, or the type and spelling of the fields in the catalog',
      rejects: 3,
      first_rejects: rejects,
    })
  })

  test('do not include broken structure', async () => {
    await expect(whatCame({ fields: ab, max_rejects: 9 }, 'a,b\nx\ny",1\nz,2\n')).resolves.toEqual(
      refused(
        'the source cannot be read as CSV; nothing was published',
        '  line 2: the row has 1 value, and the header 2',
        '  line 3: a quote is inside a value that does not start with one',
      ),
    )
  })

  test('do not include the header', async () => {
    await expect(whatCame({ fields: ab, max_rejects: 9 }, 'a\nx\n')).resolves.toEqual(
      misfit('the column "b" is missing'),
    )
  })

  test('are counted by row, not by value', async () => {
    const declaration = { fields: ['a:integer', 'b:integer'], max_rejects: 1 }
    await expect(whatCame(declaration, 'a,b\n?,!\n1,2\n')).resolves.toEqual({
      rows: [[1, 2]],
      notices: [
        '  1 row was rejected and left out, as max_rejects allows:',
        `  line 2, field "a": "?" ${notInteger}`,
        `  line 2, field "b": "!" ${notInteger}`,
      ],
    })
  })
})
