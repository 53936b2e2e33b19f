import { catalogAround, fieldOf, workshop } from '../support/workshop.ts'
import { testSampled } from '../support/runs.ts'

/** A check and an ingest of the same source end alike, since one function decides both. */

type Case = [title: string, fields: string, csv: string | Buffer, table?: object]

const broken: Case[] = [
  ['a day that does not exist', 'a:date', 'a\n2020-02-30\n'],
  ['a month that does not exist', 'a:date', 'a\n2020-13-01\n'],
  ['a fraction of an integer', 'a:integer', 'a\n1.5\n'],
  ['an integer above 64 bits', 'a:integer', 'a\n9223372036854775808\n'],
  ['a word among integers', 'a:integer', 'a\n1\nx\n'],
  ['a total below the rows', 'a:integer b:string', 'a,b\n1,x\nTotal,1\n'],
  ['too many decimals', 'a:decimal', 'a\n1.255\n'],
  ['too many digits', 'a:decimal', 'a\n12345678901234567.5\n'],
  ['an infinite number', 'a:float', 'a\n1e999\n'],
  ['a word for true', 'a:bool', 'a\nsim\n'],
  ['a minute that does not exist', 'a:time', 'a\n10:61:00\n'],
  ['a moment without seconds', 'a:datetime', 'a\n2020-01-01 10\n'],
  ['text that is not JSON', 'a:json', 'a\n{a}\n'],
  ['a list that is not JSON', 'a:list', 'a\n[1\n'],
  ['a latitude above 90', 'a:point', 'a\n"91,2"\n'],
  ['a value too many', 'a:integer b:string', 'a,b\n2,y,z\n'],
  ['a value too few', 'a:integer b:string', 'a,b\n1,x\n2\n'],
  ['a quote that is never closed', 'a:integer b:string', 'a,b\n1,x\n2,"y\n3,z\n'],
  ['text after a closing quote', 'a:string b:string', 'a,b\n1,x\n"2"3,y\n'],
  ['another encoding', 'a:string', Buffer.from('a\nS\u00e3o\n', 'latin1')],
  ['a NUL', 'a:string', 'a\n\0\n'],
  ['a repeated header', 'a:integer', 'a\n1\na\n2\n'],
  ['another header', 'a:integer b:string', 'aa,b\n1,x\n'],
  ['a column twice', 'a:integer b:string', 'a,a,b\n1,1,x\n'],
  ['another delimiter', 'a:integer b:string', 'a;b\n1;x\n'],
  ['an unknown column', 'a:integer', 'a,c\n1,x\n'],
  ['a missing column', 'a:integer b:string', 'a\n1\n'],
  ['an empty file', 'a:integer', ''],
  ['a header alone', 'a:integer', 'a\n'],
  ['a page of HTML', 'a:integer', '<!DOCTYPE html>\n'],
  ['a text that begins like a ZIP', 'a:integer', 'PK\u0003\u0004not a zip'],
  ['UTF-16 that is not declared', 'a:string', Buffer.from('\ufeffa\n1\n', 'utf16le')],
  ['more rejects than allowed', 'a:integer', 'a\nx\ny\n', { max_rejects: 1 }],
  ['a null that is not allowed', '', 'a,b\n,1\n', expecting({ not_null: true })],
  ['a value twice', '', 'a,b\nx,1\nx,2\n', expecting({ unique: true })],
  ['a value that does not match', '', 'a,b\nx1,1\n', expecting({ matches: '[a-z]' })],
  ['a value out of bounds', '', 'a,b\nz,1\n', expecting({ between: ['a', 'c'] })],
  ['keys that occur twice', 'a:string b:integer', 'a,b\nx,1\nx,1\n', { expect: { unique: [['a', 'b']] } }],
  [
    'a header that is declared below the end of the file',
    'a:integer',
    'a\n1\n',
    { source: { skip_lines: 5 } },
  ],
  [
    'a header in the file that differs',
    'a:integer',
    'B\n1\n',
    { source: { header: ['a'], header_in_file: ['A'] } },
  ],
]

const sound: Case[] = [
  ['integers', 'a:integer', 'a\n1\n-2\n'],
  ['texts with quotes and line breaks', 'a:string', 'a\n"x ""y""\nz"\n'],
  ['nulls', 'a:integer b:string', 'a,b\n,\n1,\n'],
  ['decimals', 'a:decimal', 'a\n1.50\n-0.25\n'],
  ['doubles', 'a:float', 'a\n1e-7\n0.1\n'],
  ['words for true and false', 'a:bool', 'a\ntrue\nFalse\n'],
  ['days', 'a:date', 'a\n2020-02-29\n'],
  ['moments', 'a:datetime', 'a\n2020-02-29T10:11:12\n'],
  ['times after midnight', 'a:time', 'a\n25:10:00\n'],
  ['JSON', 'a:json', 'a\n"{""b"": [1, 2.50]}"\n'],
  ['lists', 'a:list', 'a\n"[""b"",""c""]"\n'],
  ['points', 'a:point', 'a\n"-23.5,-46.6"\n'],
  ['columns in another order', 'a:integer b:string', 'b,a\nx,1\n'],
  ['line ends of Windows', 'a:integer b:string', 'a,b\r\n1,x\r\n'],
  ['a byte order mark', 'a:integer', '\ufeffa\n1\n'],
  ['no line end at the end', 'a:integer', 'a\n1'],
  ['an empty table that may be empty', 'a:integer', 'a\n', { may_be_empty: true }],
  ['rejects that are allowed', 'a:integer', 'a\n1\nx\n2\n', { max_rejects: 1 }],
  [
    'another delimiter and encoding',
    'a:string b:integer',
    Buffer.from('a;b\nS\u00e3o;1\n', 'latin1'),
    { source: { delimiter: ';', encoding: 'latin-1' } },
  ],
  [
    'lines that are left out',
    'a:integer',
    '# c\na\n1\nTotal 1\n',
    { source: { comment: '#', stop_at: 'Total' } },
  ],
]

function expecting(expect: object): object {
  return { fields: [{ ...fieldOf('a:string'), expect }, fieldOf('b:integer')] }
}

async function shopWith([, fields, csv, table = {}]: Case) {
  const entry = { name: 't', order: [], fields: fields.split(' ').filter(Boolean).map(fieldOf), ...table }
  return workshop(catalogAround([entry]), { 'd/t.csv': csv })
}

testSampled(broken)('check and ingest fail on %s with the same message and rows', async (...input) => {
  const shop = await shopWith(input)
  const [checked] = await shop.check()
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'failed') throw new Error(`the ingest ended as ${outcome?.status ?? 'nothing'}`)
  const { message, rejects, rejectCount, remedy } = outcome.failure
  expect(checked).toMatchObject({
    result: 'failed',
    problem: message.replace('; nothing was published', '').replaceAll(shop.sources, 'sources'),
    remedy,
    reject_count: rejectCount,
  })
  expect(checked?.rejects).toEqual(rejects.map((reject) => ({ ...reject, file: 'sources/d/t.csv' })))
})

testSampled(sound)('check and ingest report %s as new, then as unchanged', async (...input) => {
  const shop = await shopWith(input)
  const [checked] = await shop.check()
  const [outcome] = await shop.ingest()
  if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
  const { rows_out: rows, rejected_rows: rejected, warnings } = outcome.report
  expect(checked).toMatchObject({ result: 'new', rows, rejected_rows: rejected, warnings, problem: null })
  expect(await shop.check()).toMatchObject([{ result: 'unchanged', rows }])
  expect(await shop.ingest()).toMatchObject([{ status: 'unchanged' }])
})
