import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import {
  bad,
  broken,
  misfit,
  titleHint,
  refused,
  rows,
  unended,
  whatCame,
  type Came,
} from './support/declared.ts'
import { describeWith, realFiles } from '../support/needs.ts'

/**
 * Small odd and broken files of others (csv-spectrum, csvkit, csvlint), where the setting names their folder. Each one
 * loads to exactly its rows, or is refused with a reason; no file is left out.
 */
const realData = process.env['ACERVO_REAL_DATA'] ?? ''
const folder = path.join(realData, 'nasty')
const describeWithData = describeWith(realData !== '' && existsSync(folder), realFiles)

interface Dialect {
  readonly from_line?: number
  readonly encoding?: BufferEncoding
}

/** Method to compute a long expected answer. */
type Reading =
  | Came
  /** The answer that the makers of the file put beside it. */
  | 'json'
  /** An independent parser with the same dialect; `typed` fields are numbers. */
  | { readonly parsed: Dialect; readonly typed?: readonly string[]; readonly notices?: readonly string[] }

type Case = readonly [file: string, source: object, fields: readonly string[], expected: Reading]

const abc = ['a:string', 'b:string', 'c:string']
const foo = ['Foo:string', 'Bar:string', 'Baz:string']
const fooBsr = ['Foo:string', 'Bsr:string', 'Baz:string']
const loneReturn =
  'a carriage return without a line feed: end lines with LF or CRLF, quote the value, or declare line_terminator: cr if all lines end this way'
const notUtf8 = (byte: string): string =>
  `the byte ${byte} is not UTF-8: declare the encoding of the source as source.encoding, or save the file as UTF-8 (CSV UTF-8 in Excel)`
const notA = (type: string): string =>
  ({
    date: 'is not a calendar date as YYYY-MM-DD, such as 2020-06-12',
    integer: 'is not a whole number of 64 bits, digits only, such as 1200 or -7',
    decimal: 'is not a decimal number with at most 3 digits before and 1 after the point, such as -12.5',
  })[type] ?? type

const ks = 'state county fips nsn item_name ui federal_supply_category federal_supply_category_name'.split(
  ' ',
)
const geo =
  'slug title artist description install_date address type photo_url photo_credit last_seen_date'.split(' ')
const education = [
  'State Name',
  'State Abbreviate',
  'Post-9/11GI Bill Program',
  'Montgomery GI Bill - Active Duty',
  'Montgomery GI Bill - Selective Reserve',
  "Dependents' Educational Assistance",
  'Reserve Educational Assistance Program',
  "Post-Vietnam Era Veteran's Educational Assistance Program",
]
const statement = [
  'Data',
  'Dependencia Origem',
  'Histórico',
  'Data do Balancete',
  'Número do documento',
  'Valor',
]
const texts = (names: readonly string[]): string[] => names.map((name) => `${name}:string`)

const noRow = (file: string): Came =>
  refused(
    `there is no row in ${file}. Check it; if the table may be empty, declare may_be_empty: true for it in the catalog; \`acervo ingest --accept-drift d/t\` publishes it anyway`,
  )

const cases: readonly Case[] = [
  ['csv-spectrum/csvs/comma_in_quotes.csv', {}, texts(['first', 'last', 'address', 'city', 'zip']), 'json'],
  ['csv-spectrum/csvs/empty.csv', {}, abc, 'json'],
  ['csv-spectrum/csvs/empty_crlf.csv', {}, abc, 'json'],
  ['csv-spectrum/csvs/escaped_quotes.csv', {}, texts(['a', 'b']), 'json'],
  ['csv-spectrum/csvs/json.csv', {}, texts(['key', 'val']), 'json'],
  ['csv-spectrum/csvs/newlines.csv', {}, abc, 'json'],
  // The answer beside it has CRLF in the value, which copies of the file may have lost.
  ['csv-spectrum/csvs/newlines_crlf.csv', {}, abc, { parsed: {} }],
  ['csv-spectrum/csvs/quotes_and_newlines.csv', {}, texts(['a', 'b']), 'json'],
  ['csv-spectrum/csvs/simple.csv', {}, abc, 'json'],
  ['csv-spectrum/csvs/simple.csv', {}, ['a:integer', 'b:float', 'c:decimal:4:1'], rows([1, 2, 3])],
  ['csv-spectrum/csvs/simple_crlf.csv', {}, abc, 'json'],
  ['csv-spectrum/csvs/utf8.csv', {}, abc, 'json'],
  [
    'csv-spectrum/csvs/utf8.csv',
    { encoding: 'latin-1' },
    abc,
    refused(
      'utf8.csv is UTF-8, but its table is read as latin-1: declare utf-8 as source.encoding, and save files of the table that are still latin-1 as UTF-8',
    ),
  ],
  [
    'csvkit/Datagov_FY10_EDU_recp_by_State.csv',
    { skip_lines: 2 },
    [...texts(education.slice(0, 2)), ...education.slice(2).map((name) => `${name}:integer`), 'TOTAL:string'],
    {
      parsed: { from_line: 3 },
      typed: education.slice(2),
      notices: [
        '  warning: line 58 of Datagov_FY10_EDU_recp_by_State.csv is published as a row, and has one value alone, "the total within this table should not be used to reflect the total number of beneficiaries during the fiscal year.", as a note has: source.drop or stop_at leaves it out',
      ],
    },
  ],
  [
    'csvkit/bad.csv',
    {},
    texts(['column_a', 'column_b', 'column_c']),
    bad(
      'line 2: the row has 4 values, and the header 3: a value that contains "," must be enclosed in quotes',
      'line 3: the row has 2 values, and the header 3',
    ),
  ],
  [
    'csvkit/bad_skip_lines.csv',
    {},
    texts(['column_a', 'column_b', 'column_c']),
    bad(
      'line 5: the row has 4 values, and the header 3: a value that contains "," must be enclosed in quotes',
      'line 6: the row has 2 values, and the header 3',
    ),
  ],
  [
    'csvkit/bad_skip_lines.csv',
    { skip_lines: 3 },
    texts(['column_a', 'column_b', 'column_c']),
    bad(
      'line 5: the row has 4 values, and the header 3: a value that contains "," must be enclosed in quotes',
      'line 6: the row has 2 values, and the header 3',
    ),
  ],
  [
    'csvkit/blanks.csv',
    {},
    texts(['a', 'b', 'c', 'd', 'e', 'f']),
    rows([null, 'NA', 'N/A', 'NONE', 'NULL', '.']),
  ],
  [
    'csvkit/blanks.csv',
    { nulls: ['', 'NA', 'N/A', 'NONE', 'NULL', '.'] },
    ['a:integer', 'b:float', 'c:decimal', 'd:date', 'e:datetime', 'f:bool'],
    rows([null, null, null, null, null, null]),
  ],
  ['csvkit/date_like_number.csv', {}, ['a:string'], rows(['4.5'])],
  ['csvkit/date_like_number.csv', {}, ['a:decimal:4:1'], rows([4.5])],
  ['csvkit/date_like_number.csv', {}, ['a:date'], bad(`line 2, field "a": "4.5" ${notA('date')}`)],
  ['csvkit/empty.csv', {}, ['a:string'], refused('empty.csv is empty: it needs at least a header')],
  [
    'csvkit/ks_1033_data.csv',
    { datetime: 'm/d/yyyy h:mm:ss' },
    [
      ...texts([...ks, 'federal_supply_class', 'federal_supply_class_name', 'ship_date']),
      'quantity:integer',
      'acquisition_cost:decimal:12:2',
      'total_cost:decimal:12:2',
    ],
    { parsed: {}, typed: ['quantity', 'acquisition_cost', 'total_cost'] },
  ],
  ['csvkit/mac_newlines.csv', {}, abc, broken(1, loneReturn)],
  [
    'csvkit/mac_newlines.csv',
    { line_terminator: 'cr' },
    abc,
    rows(['1', '2', '3'], ['Once upon\na time', '5', '6']),
  ],
  ['csvkit/no_header_row.csv', { header: ['a', 'b', 'c'] }, abc, rows(['1', '2', '3'])],
  [
    'csvkit/no_header_row.csv',
    {},
    abc,
    misfit(
      'the column "a" is missing; the column "b" is missing; the column "c" is missing; the column "1" is not a ' +
        'field of d/t (did you mean "a"?); the column "2" is not a field of d/t (did you mean "a"?); the column "3" ' +
        'is not a field of d/t (did you mean "a"?)',
    ),
  ],
  ['csvkit/null_byte.csv', {}, abc, bad('line 2: a NUL byte: this is not a text file, or it is damaged')],
  ['csvkit/optional_quote_characters.csv', {}, abc, rows(['1', '2', '3'])],
  ['csvkit/optional_quote_characters.csv', { quote: 'none' }, abc, rows(['"1"', '"2"', '"3"'])],
  [
    'csvkit/sort_ints_nulls.csv',
    {},
    ['a:integer', 'b:integer', 'c:integer'],
    rows([1, 2, 3], [4, null, 6], [5, 1, 7]),
  ],
  [
    'csvkit/test_empty_columns.csv',
    { ignore: [''] },
    abc,
    bad('line 3: the row has 4 values, and the header 5'),
  ],
  [
    'csvkit/test_empty_columns.csv',
    {},
    abc,
    misfit('the column "" appears twice; the column "" is not a field of d/t (did you mean "a"?)'),
  ],
  // Rows in which every cell is empty are no rows.
  ['csvkit/test_empty_columns_long_row.csv', {}, abc, noRow('test_empty_columns_long_row.csv')],
  ['csvkit/test_empty_columns_short_row.csv', {}, abc, noRow('test_empty_columns_short_row.csv')],
  [
    'csvkit/test_extra_header.csv',
    {},
    [...abc, 'd:string'],
    bad('line 2: the row has 3 values, and the header 4'),
  ],
  [
    'csvkit/test_geo.csv',
    {},
    [...texts(geo), 'latitude:float', 'longitude:float'],
    { parsed: {}, typed: ['latitude', 'longitude'] },
  ],
  [
    'csvkit/test_geo.csv',
    {},
    [...texts(geo), 'latitude:decimal:20:15', 'longitude:decimal:9:6'],
    bad(
      'line 4, field "longitude": "-95.31571447849274" is not a decimal number with at most 3 digits before and 6 ' +
        'after the point, such as -12.50',
    ),
  ],
  ['csvkit/test_geo.csv', {}, [...texts(geo), 'latitude:string', 'longitude:string'], { parsed: {} }],
  [
    'csvkit/test_header_newline.csv',
    { rename: { '\t\n\v\f\r start \t\n\v\f\r end \t\n\v\f\r': 'a' } },
    abc,
    rows(['d', 'e', 'f']),
  ],
  ['csvkit/test_latin1.csv', {}, abc, bad(`line 3: ${notUtf8('0xa9')}`)],
  [
    'csvkit/test_latin1.csv',
    { encoding: 'latin-1' },
    abc,
    unended('test_latin1.csv', ['1', '2', '3'], ['4', '5', '©']),
  ],
  ['csvkit/test_locale.csv', {}, abc, rows(['1,7', '200.000.000', null])],
  [
    'csvkit/test_locale.csv',
    { decimal: ',' },
    ['a:decimal:4:1', 'b:string', 'c:float'],
    rows([1.7, '200.000.000', null]),
  ],
  [
    'csvkit/test_locale.csv',
    { decimal: ',' },
    ['a:decimal:4:1', 'b:integer', 'c:float'],
    bad(`line 2, field "b": "200.000.000" ${notA('integer')}`),
  ],
  [
    'csvkit/test_locale.csv',
    {},
    ['a:decimal:4:1', 'b:string', 'c:float'],
    bad(`line 2, field "a": "1,7" ${notA('decimal')}`),
  ],
  ['csvkit/test_no_leading_zeroes.csv', {}, abc, rows(['01', '00.11', '0.1'])],
  ['csvkit/test_no_leading_zeroes.csv', {}, ['a:integer', 'b:decimal:4:2', 'c:float'], rows([1, 0.11, 0.1])],
  [
    'csvkit/test_utf16_big.csv',
    { encoding: 'utf-16' },
    abc,
    unended('test_utf16_big.csv', ['1', '2', '3'], ['4', '5', 'ʤ']),
  ],
  [
    'csvkit/test_utf16_big.csv',
    {},
    abc,
    refused('test_utf16_big.csv is UTF-16 text: declare utf-16 as source.encoding'),
  ],
  [
    'csvkit/test_utf16_little.csv',
    { encoding: 'utf-16' },
    abc,
    unended('test_utf16_little.csv', ['1', '2', '3'], ['4', '5', 'ʤ']),
  ],
  [
    'csvkit/test_utf16_little.csv',
    { encoding: 'utf-16be' },
    abc,
    refused('test_utf16_little.csv is UTF-16 text: declare utf-16 as source.encoding'),
  ],
  [
    'csvkit/test_utf8_bom.csv',
    {},
    ['foo:integer', 'bar:integer', 'baz:string'],
    rows([1, 2, '3'], [4, 5, 'ʤ']),
  ],
  ['csvlint/cr-line-endings.csv', {}, foo, broken(1, loneReturn)],
  [
    'csvlint/cr-line-endings.csv',
    { line_terminator: 'cr' },
    foo,
    unended('cr-line-endings.csv', ['Biff', 'Baff', 'Boff'], ['Qux', 'Teaspoon', 'Doge']),
  ],
  [
    'csvlint/inconsistent-line-endings-unquoted.csv',
    {},
    fooBsr,
    unended('inconsistent-line-endings-unquoted.csv', ['Biff', 'Baff', 'Boff'], ['Qux', 'Teaspoon', 'Doge']),
  ],
  [
    'csvlint/inconsistent-line-endings.csv',
    {},
    fooBsr,
    unended('inconsistent-line-endings.csv', ['Biff', 'Baff', 'Boff'], ['Qux', 'Teaspoon', 'Doge']),
  ],
  [
    'csvlint/invalid-byte-sequence.csv',
    { encoding: 'latin-1', ignore: [''] },
    texts(statement),
    { parsed: { encoding: 'latin1' } },
  ],
  ['csvlint/invalid-byte-sequence.csv', {}, texts(statement), broken(1, notUtf8('0xf3'))],
  ['csvlint/invalid_many_rows.csv', {}, foo, broken(4, 'text follows the closing quote of a value')],
  [
    'csvlint/title-row.csv',
    { skip_lines: 1 },
    fooBsr,
    unended('title-row.csv', ['Biff', 'Baff', 'Boff'], ['Qux', 'Teaspoon', 'Doge']),
  ],
  [
    'csvlint/title-row.csv',
    {},
    fooBsr,
    misfit(
      'the column "" appears twice; the column "Foo" is missing; the column "Bsr" is missing; the column "Baz" is ' +
        'missing; the column "This is a title row" is not a field of d/t; the column "" is not a field of d/t',
      titleHint,
    ),
  ],
  ['csvlint/white space in filename.csv', {}, foo, rows(['1', '2', '3'], ['3', '2', '1'])],
  ['csvlint/windows-line-endings.csv', {}, abc, rows(['d', 'e', 'f'])],
]

type Texts = Readonly<Record<string, string>>

async function expectedOf(file: string, fields: readonly string[], reading: Reading): Promise<Came> {
  if (typeof reading === 'object' && !('parsed' in reading)) return reading
  const names = fields.map((field) => field.split(':')[0] ?? '')
  const typed = typeof reading === 'object' ? (reading.typed ?? []) : []
  const cell = (name: string, text: string): unknown =>
    text === '' ? null : typed.includes(name) ? Number(text) : text
  const content = await readFile(path.join(folder, file))
  const output =
    reading === 'json'
      ? (JSON.parse(
          await readFile(path.join(folder, file.replace('csvs', 'json').replace(/csv$/, 'json')), 'utf8'),
        ) as Texts[])
      : parse<Texts>(content, { ...reading.parsed, columns: true, record_delimiter: ['\r\n', '\n'] })
  const cells = output.map((row) => names.map((name) => cell(name, row[name] ?? 'MISSING')))
  const came = content.at(-1) === 0x0a ? rows(...cells) : unended(path.basename(file), ...cells)
  return typeof reading === 'object' && reading.notices ? { rows: cells, notices: reading.notices } : came
}

describeWithData('among the test files of other CSV projects,', () => {
  test.each(cases)(
    '%s, read as %j, is published correctly or refused',
    async (file, source, fields, reading) => {
      const came = await whatCame({ fields, source: { ...source, files: file } }, {}, { sources: folder })
      expect(came).toEqual(await expectedOf(file, fields, reading))
    },
  )

  test('every file has a test', async () => {
    const names = await readdir(folder, { recursive: true })
    expect([...new Set(cases.map(([file]) => file))].toSorted()).toEqual(
      names.filter((name) => name.endsWith('.csv')).toSorted(),
    )
  })
})
