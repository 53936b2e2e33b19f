import { isUtf8 } from 'node:buffer'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { parse } from 'yaml'
import { silentProgress } from '../../ingest/progress.ts'
import { suggest, suggestionText } from '../../ingest/suggest/suggest.ts'
import { fileOf, value, type WrittenFile } from '../support/csv-texts.ts'
import { rows as cameAs, whatCame } from '../support/declared.ts'
import { runsOf, seed } from '../support/runs.ts'
import { placed, temporaryFolder } from '../support/workshop.ts'

async function suggested(name: string, content: string | Buffer): Promise<string[]> {
  const folder = await temporaryFolder()
  const file = path.join(folder, name)
  await writeFile(file, content)
  const suggestion = await suggest([placed(file, name, Buffer.byteLength(content))], {
    scratch: await temporaryFolder(),
    limits: { unpackedBytesMax: 1e9 },
    progress: silentProgress,
    source: {},
  })
  return suggestionText(suggestion).trimEnd().split('\n')
}

const separators = [',', ';', '\t', '|']
const cellText = fc.oneof(
  { weight: 4, arbitrary: value },
  { weight: 2, arbitrary: fc.json({ maxDepth: 2 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('"', '""', "'", ', ', '; ', '|', '\t', 'a', '0', '\n'), { maxLength: 8 })
      .map((pieces) => pieces.join('')),
  },
)

interface Case {
  readonly delimiter: string
  readonly columns: number
  readonly file: WrittenFile
}

/** Of two columns or more: of one column, another delimiter may as well be meant. */
function written(quote: '"' | "'", quotes?: 'always'): fc.Arbitrary<Case> {
  return fc
    .record({ delimiter: fc.constantFrom(...separators), columns: fc.integer({ min: 2, max: 5 }) })
    .chain((form) =>
      fc.record({
        delimiter: fc.constant(form.delimiter),
        columns: fc.constant(form.columns),
        file: fileOf({ ...form, quote }, cellText, quotes),
      }),
    )
}

/** What an entry says of the dialect, and the remark on how much was read. */
async function dialectSuggested(text: string): Promise<object> {
  const lines = await suggested('x.csv', text)
  const [{ source = {}, fields }] = parse(lines.join('\n')) as [{ source?: object; fields: unknown[] }]
  const { delimiter = ',', quote = '"', skip_lines: skipLines = 0 } = source as Record<string, unknown>
  return { delimiter, quote, skipLines, columns: fields.length, read: lines[0] }
}

const meant = ({ delimiter, columns, file }: Case, quote: string): object => ({
  delimiter,
  quote,
  skipLines: 0,
  columns,
  read: `# x.csv: ${file.rows.length} rows, ${columns} columns`,
})

test('whatever is enclosed in ", or nothing is: the dialect is the one of the writer', async () => {
  await fc.assert(
    fc.asyncProperty(written('"'), async (one) => {
      // Where no " is needed, a ' at both ends of a value may as well enclose it.
      fc.pre(one.file.text.includes('"') || !one.file.text.includes("'"))
      expect(await dialectSuggested(one.file.text)).toEqual(meant(one, '"'))
    }),
    { numRuns: 60 },
  )
}, 60_000)

test("what is enclosed in ' is suggested with it, whatever the values hold", async () => {
  await fc.assert(
    fc.asyncProperty(written("'", 'always'), async (one) => {
      expect(await dialectSuggested(one.file.text)).toEqual(meant(one, "'"))
    }),
    { numRuns: 30 },
  )
}, 60_000)

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('')

test.each<[what: string, text: string, dialect: object]>([
  [
    'JSON in every row',
    `id,data\n${times(60, (n) => `${n},"{""a"": ${n}, ""b"": 'x', ""c"": ""y, z""}"`)}`,
    { delimiter: ',', quote: '"', skipLines: 0, columns: 2 },
  ],
  [
    'a doubled quote beside a delimiter',
    `id,size\n${times(60, (n) => `${n},"a, ""b"" ${n}"`)}`,
    { delimiter: ',', quote: '"', skipLines: 0, columns: 2 },
  ],
  [
    'one column of enclosed sentences',
    `"what"\n${times(60, (n) => `"one, 'two', ${n}"`)}`,
    { delimiter: ',', quote: '"', skipLines: 0, columns: 1 },
  ],
  [
    "one column of sentences in '",
    `'what'\n${times(60, (n) => `'one, "two", ${n}'`)}`,
    { delimiter: ',', quote: "'", skipLines: 0, columns: 1 },
  ],
  [
    "a few values in '",
    `a,b\n${times(60, (n) => (n === 7 ? `'x',${n}` : `x,${n}`))}`,
    { delimiter: ',', quote: '"', skipLines: 0, columns: 2 },
  ],
  [
    'decimal commas below a header',
    `a;b\n${times(60, (n) => `1,${n};2,${n}`)}`,
    { delimiter: ';', quote: '"', skipLines: 0, columns: 2 },
  ],
  [
    'inches',
    `a,b,c\n${times(60, (n) => `${n},12" pipe,'${n}`)}`,
    { delimiter: ',', quote: 'none', skipLines: 0, columns: 3 },
  ],
  [
    'a title in quotes',
    `"Report, 2020"\n${times(60, () => 'a;b;c')}`,
    { delimiter: ';', quote: '"', skipLines: 1, columns: 3 },
  ],
  [
    'lines in values, of which the end of the sample cuts one',
    `a,b\n${times(9000, (n) => `${n},"${'line, of a text\n'.repeat(n % 2 === 0 ? 1 : 20)}"`)}`,
    { delimiter: ',', quote: '"', skipLines: 0, columns: 2 },
  ],
])('%s', async (_what, text, dialect) => {
  expect(await dialectSuggested(text)).toMatchObject(dialect)
})

test('a file of a government: encoding, delimiter, decimal comma, dates, null words, codes and types, tried on all rows', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => {
    const [day, code] = [String((n % 28) + 1).padStart(2, '0'), String(n).padStart(5, '0')]
    return `"${day}/02/2020";"${code}";"Preço nº ${n} – São Paulo";"${n},5";"${n % 7 === 0 ? '#NULO#' : n}";"${n % 2 === 0 ? 'S' : 'N'}"`
  })
  const text = `Relatório gerado em 2020\r\n\r\n"DT_COMPRA";"CD_ITEM";"Descrição";"VR_ITEM";"Qtd. itens";"ATIVO"\r\n${rows.join('\r\n')}\r\n`
  expect(await suggested('compras 2020.csv.gz', gzipSync(iconv.encode(text, 'windows-1252')))).toEqual([
    '# compras 2020.csv.gz: 200 rows, 6 columns',
    '# it is not UTF-8, and has bytes from 0x80 to 0x9f: windows-1252',
    '# ";" gives 6 columns in 100.0 % of the sample',
    '# 1 lines stand before the header',
    '# tried on all rows: every value is as declared here',
    '# of the dataset that it belongs to, for whoever harvests it; all of it may be left out:',
    '#   temporal: { start: 2020-02-01, end: 2020-02-28 } # the days of "dt_compra"',
    '#   frequency: daily # a new "dt_compra" follows most often after 1 day',
    '#   publisher, contact, themes, keywords, language and the unit of a field: no file tells them',
    '- name: compras_2020',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  source:',
    '    encoding: "windows-1252"',
    '    delimiter: ";"',
    '    skip_lines: 1',
    '    rename: {"DT_COMPRA":"dt_compra","CD_ITEM":"cd_item","Descrição":"descricao","VR_ITEM":"vr_item","Qtd. itens":"qtd_itens","ATIVO":"ativo"}',
    '    decimal: ","',
    '    nulls: ["","#NULO#"]',
    '    booleans: {"true":["S"],"false":["N"]}',
    '    date: "dd/mm/yyyy"',
    '  fields:',
    '    - { name: dt_compra, type: date } # all 200 values are written dd/mm/yyyy',
    '    - { name: cd_item, type: string } # digits, some with a leading zero, which a number would lose',
    '    - { name: descricao, type: string } # 200 texts of at most 24 characters, such as "Preço nº 0 – São Paulo"',
    '    - { name: vr_item, type: decimal, scale: 1 } # all 200 values are numbers with at most 1 digits after the comma',
    '    - { name: qtd_itens, type: integer } # all 171 values are whole numbers of at most 3 digits',
    '    - { name: ativo, type: bool } # all 200 values are S or N',
  ])
})

test('the place and the days of a file are proposed as a catalog takes them', async () => {
  const lines = await suggested(
    'a.csv',
    `uf,mes\n${times(24, (n) => `${n % 2 === 0 ? 'SP' : 'AC'},2020-${String((n % 12) + 1).padStart(2, '0')}-01`)}`,
  )
  const proposed = lines.filter((line) => line.startsWith('#   ')).map((line) => line.slice(4))
  expect(parse(proposed.filter((line) => !line.startsWith('publisher')).join('\n'))).toEqual({
    temporal: { start: '2020-01-01', end: '2020-12-01' },
    frequency: 'monthly',
    spatial: { name: 'Brazil', uri: 'https://sws.geonames.org/3469034/' },
  })
})

test('a plain file without a header, whose faults are told', async () => {
  const rows = Array.from(
    { length: 50 },
    (_, n) => `${n},${n === 40 ? 'x' : n * 1.25},2020-01-01 10:00:00,123.456.789-0${n % 10}`,
  )
  expect(await suggested('1.txt', `${rows.join('\n')}\n51,2\n`)).toEqual([
    '# 1.txt: 51 rows, 4 columns',
    '# all bytes are ASCII, so the encoding is open: utf-8',
    '# "," gives 4 columns in 98.0 % of the sample',
    '# the first line holds numbers, dates or nothing, so it is taken for a row: name the columns',
    '# 1 rows cannot be read: line 51: the row has 2 values, and the header 4',
    '# an ingest refuses them; max_rejects: 1 leaves them out',
    '# tried on all rows: every value is as declared here',
    '# of the dataset that it belongs to, for whoever harvests it; all of it may be left out:',
    '#   temporal: { start: 2020-01-01, end: 2020-01-01 } # the days of "column_3"',
    '#   publisher, contact, themes, keywords, language and the unit of a field: no file tells them',
    '- name: "1"',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  source:',
    '    header: ["column_1","column_2","column_3","column_4"]',
    '  fields:',
    '    - { name: column_1, type: integer } # all 50 values are whole numbers of at most 2 digits',
    '    - { name: column_2, type: string } # 50 texts of at most 5 characters, such as "0"; all but 1 of 50 are numbers with a decimal point: "x" (line 41)',
    '    - { name: column_3, type: datetime } # all 50 values are written yyyy-mm-dd hh:mm:ss',
    '    - { name: column_4, type: string } # 50 texts of at most 14 characters, such as "123.456.789-00"',
  ])
})

test.each<[name: string, content: string | Buffer, message: RegExp]>([
  ['x.csv', '<html></html>', /^x\.csv is a page of HTML/],
  ['x.csv', Buffer.from('PK\u0003\u0004'), /^x\.csv is a zip or xlsx file/],
  ['x.csv', '', /^no delimiter splits it/],
])('%s that is no CSV is refused', async (name, content, message) => {
  await expect(suggested(name, content)).rejects.toThrow(message)
})

const lines = (...all: string[]): string => `${all.join('\n')}\n`

/** The entry as YAML has it, and all that is said beside it. */
async function entryOf(content: string | Buffer, name = 'x.csv') {
  const told = await suggested(name, content)
  const [entry] = parse(told.join('\n')) as [
    {
      source?: { nulls?: string[] }
      fields: { name: string; type: string; nulls?: string[] }[]
    },
  ]
  return { told: told.join('\n'), entry }
}

/** What comes of a file that is declared as it was suggested. */
async function ingested(content: string | Buffer, name = 'x.csv') {
  const { entry } = await entryOf(content, name)
  const declaration = {
    ...entry,
    name: 't',
    source: { ...entry.source, files: `d/${name}` },
    may_be_empty: true,
  }
  return whatCame(declaration, { [`d/${name}`]: content })
}

describe('what is suggested of a column', () => {
  test.each<[what: string, texts: string[], keys: object, values: unknown[] | null, said?: RegExp]>([
    ['groups of digits', ['1,234', '12,345,678', '5'], { type: 'integer', groups: ',' }, [1234, 12345678, 5]],
    [
      'groups and a decimal comma',
      ['1.234,56', '7,5', '1.234.567,00'],
      { type: 'decimal', scale: 2, groups: '.', decimal: ',' },
      [1234.56, 7.5, 1234567],
    ],
    [
      'money',
      ['R$ 1.234,56', 'R$ 7,50', '-R$ 0,25'],
      { type: 'decimal', scale: 2, groups: '.', decimal: ',', marks: ['R$'] },
      [1234.56, 7.5, -0.25],
    ],
    ['percent', ['12.5%', '100%'], { type: 'decimal', scale: 1, marks: ['%'] }, [12.5, 100]],
    ['a plus', ['+5', '-7', '3'], { type: 'integer', marks: ['+'] }, [5, -7, 3]],
    [
      'what could be grouped or have a fraction',
      ['1.234', '12.345'],
      { type: 'string' },
      null,
      /say what "1\.234" is/,
    ],
    ['what could be so with a comma', ['1,234', '999,999'], { type: 'string' }, null, /say what "1,234" is/],
    ['a fraction of three digits', ['0.234', '12.345'], { type: 'decimal', scale: 3 }, [0.234, 12.345]],
    ['padded numbers', ['  12', '   5'], { type: 'integer', trim: true }, [12, 5]],
    [
      'words for null among numbers',
      ['1', '-', 'n/a', '.', 'NA', '\\N', '7'],
      { type: 'integer', nulls: ['', 'n/a', '\\N', '-', '.', 'NA'] },
      [1, null, null, null, null, null, 7],
    ],
    ['the same among texts', ['a', '-', 'NA'], { type: 'string' }, ['a', '-', 'NA']],
    ['texts with sure ones', ['a', '\\N', 'b'], { type: 'string', nulls: ['', '\\N'] }, ['a', null, 'b']],
    ['years', ['2018', '2019'], { type: 'integer' }, [2018, 2019]],
    ['eight digits that are no days', ['59125792', '20200101'], { type: 'integer' }, [59125792, 20200101]],
    ['few days of eight digits', ['20200131', '20200101'], { type: 'integer' }, [20200131, 20200101]],
    [
      'days and months',
      ['31/12/2020', '01/02/2020'],
      { type: 'date', format: 'dd/mm/yyyy' },
      ['2020-12-31', '2020-02-01'],
    ],
    [
      'months and days',
      ['12/31/2020', '01/02/2020'],
      { type: 'date', format: 'mm/dd/yyyy' },
      ['2020-12-31', '2020-01-02'],
    ],
    [
      'what could be both',
      ['01/02/2020', '03/04/2020'],
      { type: 'string' },
      null,
      /say what "01\/02\/2020" is: .*dd\/mm\/yyyy or mm\/dd\/yyyy/,
    ],
    [
      'one or two digits',
      ['1/2/2020', '31/12/2020'],
      { type: 'date', format: 'd/m/yyyy' },
      ['2020-02-01', '2020-12-31'],
    ],
    ['months', ['04-2018', '12-2019'], { type: 'date', format: 'mm-yyyy' }, ['2018-04-01', '2019-12-01']],
    [
      'months by name',
      ['1-Jan-2020', '15-fev-2020'],
      { type: 'date', format: 'd-mmm-yyyy' },
      ['2020-01-01', '2020-02-15'],
    ],
    [
      'two formats',
      ['31/12/2020', '2020-01-02', '2020-12-31'],
      { type: 'date', format: ['yyyy-mm-dd', 'dd/mm/yyyy'] },
      ['2020-12-31', '2020-01-02', '2020-12-31'],
    ],
    [
      'days with times',
      ['31/12/2020 10:20', '01/02/2020 00:00'],
      { type: 'datetime', format: 'dd/mm/yyyy hh:mm' },
      ['2020-12-31T10:20:00', '2020-02-01T00:00:00'],
    ],
    [
      'times with an offset and a fraction',
      ['2020-12-31T10:20:30.5Z', '2020-12-31T10:20:30.25+03:00'],
      { type: 'datetime', format: 'yyyy-mm-ddThh:mm:ss.fz' },
      ['2020-12-31T10:20:30.5', '2020-12-31T07:20:30.25'],
    ],
    [
      'halves of a day',
      ['12/31/2020 12:00:00 AM', '12/30/2020 01:05:00 PM'],
      { type: 'datetime', format: 'mm/dd/yyyy hh:mm:ss am' },
      ['2020-12-31T00:00:00', '2020-12-30T13:05:00'],
    ],
    ['times of day', ['25:10:00', '5:05:00'], { type: 'time' }, ['25:10:00', '05:05:00']],
    ['hours and minutes', ['10:20', '23:59'], { type: 'time', format: 'hh:mm' }, ['10:20:00', '23:59:00']],
    ['eleven digits', ['12345678901', '10987654321'], { type: 'integer' }, [12345678901, 10987654321]],
    [
      'numbers of people',
      ['52998224725', '11144477735'],
      { type: 'string' },
      ['52998224725', '11144477735'],
      /check digits of a CPF, which is personal: mask: cpf hides it/,
    ],
    [
      'words for true',
      ['Sim', 'Não', 'Sim'],
      { type: 'bool', booleans: { true: ['Sim'], false: ['Não'] } },
      [true, false, true],
    ],
    ['a letter alone', ['N', 'N'], { type: 'string' }, ['N', 'N']],
    [
      'more digits than a number has',
      ['12345678901234567890', '1'],
      { type: 'string' },
      ['12345678901234567890', '1'],
    ],
    ['codes with zeros', ['00123', '10234'], { type: 'string' }, ['00123', '10234']],
    ['exponents', ['1e5', '2.5E-3'], { type: 'float' }, [100000, 0.0025]],
  ])('%s', async (_what, texts, keys, values, ...[said = /./]) => {
    const quoted = texts.map((text) => (/[,"\n]/.test(text) ? `"${text}"` : text))
    const content = lines('n;v', ...quoted.map((text, n) => `${n};${text}`))
    const { entry, told } = await entryOf(content)
    const [, field] = entry.fields
    const { name: _name, ...own } = field ?? { name: '' }
    const ofTable = (entry.source ?? {}) as Record<string, unknown>
    const type = (own as { type: string }).type
    const hoisted = Object.entries({
      decimal: ofTable['decimal'],
      nulls: ofTable['nulls'],
      booleans: ofTable['booleans'],
      trim: ofTable['trim'],
      format: ['date', 'datetime', 'time'].includes(type) ? ofTable[type] : undefined,
    }).filter(([, declared]) => declared !== undefined)
    expect({ ...own, ...Object.fromEntries(hoisted) }).toEqual(keys)
    expect(told).toMatch(said)
    const due = values ?? texts
    await expect(ingested(content)).resolves.toEqual(cameAs(...due.map((one, n) => [n, one])))
  })

  test('what comes late in a file is met: other kinds, more digits, another encoding', async () => {
    const many = Array.from(
      { length: 400_000 },
      (_, n) => `${n},${n}.5,2020-01-0${1 + (n % 9)},some text to fill the file`,
    )
    const late = ['x,1.12345,03/02/2020,São Paulo', 'y,2,13/02/2020,b']
    const content = `a,b,c,d\n${[...many, ...late].join('\n')}\n`
    const { told, entry } = await entryOf(iconv.encode(content, 'latin1'))
    expect(entry.fields).toEqual([
      { name: 'a', type: 'string' },
      { name: 'b', type: 'decimal', scale: 5 },
      { name: 'c', type: 'date' },
      { name: 'd', type: 'string' },
    ])
    expect(entry.source).toEqual({ encoding: 'latin-1', date: ['yyyy-mm-dd', 'dd/mm/yyyy'] })
    expect(told).toContain('all but 2 of 400,002 are whole numbers: "x" (line 400002), "y" (line 400003)')
    expect(told).toContain('a byte further down is not utf-8: latin-1')
  }, 60_000)

  test.each<[what: string, content: string, source: object, names: string[]]>([
    ['twice', 'a,a,b\n1,2,3\n', { skip_lines: 1, header: ['a', 'a_2', 'b'] }, ['a', 'a_2', 'b']],
    ['blank', 'a,,b\n1,2,3\n', { skip_lines: 1, header: ['a', 'column_2', 'b'] }, ['a', 'column_2', 'b']],
    [
      'over two lines',
      'a,"b\nc",a\n1,2,3\n',
      { skip_lines: 2, header: ['a', 'b_c', 'a_3'] },
      ['a', 'b_c', 'a_3'],
    ],
  ])('a header with a name %s', async (_what, content, source, names) => {
    const { entry, told } = await entryOf(content)
    expect(entry.source).toEqual(source)
    expect(entry.fields.map(({ name }) => name)).toEqual(names)
    expect(told).toContain('the header has a name twice, or none')
    await expect(ingested(content)).resolves.toEqual(cameAs([1, 2, 3]))
  })

  test('lines at the end that are no rows, and years for names', async () => {
    const content =
      '"Data",\n\n"Country","Code","1960","1961",\n"Aruba","ABW","546","5.5",\n"Africa","AFE","","",\n\n"Source: a, b"\nUpdated 2024\n'
    const { entry, told } = await entryOf(content)
    expect(entry.source).toEqual({
      skip_lines: 3,
      skip_last: 2,
      header: ['country', 'code', 'column_3_1960', 'column_4_1961', 'column_5'],
    })
    expect(told).toContain('2 lines at the end hold one value: no rows')
    await expect(ingested(content)).resolves.toEqual({
      rows: [
        ['Aruba', 'ABW', 546, 5.5, null],
        ['Africa', 'AFE', null, null, null],
      ],
      told: [
        '  left out at the end of x.csv: "Source: a, b"',
        '  left out at the end of x.csv: Updated 2024',
      ],
    })
  })

  test('one byte that is no UTF-8 makes no other encoding of a file that is', async () => {
    const rows = Array.from({ length: 200_000 }, (_, n) => `${n},São Paulo e mais\n`)
    const { told, entry } = await entryOf(
      Buffer.concat([Buffer.from(`a,b\n${rows.join('')}`), Buffer.from('7,S\u00e3o\n', 'latin1')]),
    )
    expect(entry.source).toBeUndefined()
    expect(told).toContain('1 rows cannot be read: line 200002: the byte 0xe3 is not UTF-8')
  })

  test.each(['Total', '3', 'Bra'])('a last row that is cut off is none of them: %s', async (end) => {
    const { told } = await entryOf(`a,b\n${'x,1\n'.repeat(99)}${end}\n`)
    expect(told).toContain('1 rows cannot be read: line 101: the row has 1 values, and the header 2')
  })

  test('quotes that are escaped by backslashes are refused', async () => {
    await expect(
      suggested('x.csv', lines('a,b', ...Array.from({ length: 30 }, (_, n) => `${n},"a \\"b\\", c"`))),
    ).rejects.toThrow(/backslash/)
  })
})

/** A column of a file: how each value is written, and what it is then. */
interface Made {
  readonly header: string
  readonly cells: readonly { readonly text: string; readonly value: unknown }[]
}

const rowsMade = 25
const cellsOf = (cell: fc.Arbitrary<{ text: string; value: unknown }>): fc.Arbitrary<Made['cells']> =>
  fc.array(cell, { minLength: rowsMade, maxLength: rowsMade })
const two = (number: number): string => String(number).padStart(2, '0')

const wholeIn = (groups: string) =>
  fc.integer({ min: -9_999_999, max: 9_999_999 }).map((number) => {
    const digits = String(Math.abs(number)).replaceAll(/\B(?=(\d{3})+$)/g, groups)
    return { text: `${number < 0 ? '-' : ''}${digits}`, value: number }
  })
const fractionIn = (groups: string, point: string, beside: string) =>
  fc.tuple(wholeIn(groups), fc.integer({ min: 0, max: 99 })).map(([{ text, value: number }, cents]) => ({
    text: `${beside}${text.replace('-', '')}${point}${two(cents)}`,
    value: Number(`${Math.abs(number)}.${two(cents)}`),
  }))
const dayIn = (write: (year: string, month: string, day: string) => string, tail = '') =>
  fc
    .tuple(
      fc.integer({ min: 1990, max: 2030 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 28 }),
    )
    .map(([year, month, day]) => ({
      text: `${write(String(year), two(month), two(day))}${tail}`,
      value: `${year}-${two(month)}-${two(day)}${tail === '' ? '' : 'T10:20:00'}`,
    }))
const madeText = fc
  .oneof({ weight: 3, arbitrary: value }, { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) })
  .filter((text) => text !== '' && isUtf8(Buffer.from(text)) && Buffer.from(text).toString() === text)
  .map((text) => ({ text, value: text }))
const madeCells = fc.oneof(
  ...['', '.', ',', ' '].map((groups) => cellsOf(wholeIn(groups))),
  ...[
    ['', '.', ''],
    ['', ',', ''],
    ['.', ',', 'R$ '],
    [',', '.', ''],
    [' ', ',', ''],
  ].map(([groups = '', point = '', beside = '']) => cellsOf(fractionIn(groups, point, beside))),
  cellsOf(dayIn((year, month, day) => `${year}-${month}-${day}`)),
  cellsOf(dayIn((year, month, day) => `${day}/${month}/${year}`)),
  cellsOf(dayIn((year, month, day) => `${month}/${day}/${year}`)),
  cellsOf(dayIn((year, month, day) => `${day}.${month}.${year}`)),
  cellsOf(dayIn((year, month, day) => `${day}/${month}/${year}`, ' 10:20')),
  cellsOf(fc.boolean().map((truth) => ({ text: truth ? 'Sim' : 'Não', value: truth }))),
  cellsOf(madeText),
)
const madeFile = fc.record({
  delimiter: fc.constantFrom(...separators),
  columns: fc.array(
    fc.record({
      header: fc.constantFrom('Ano', 'VALOR (R$)', 'a', 'a', 'Descrição', '', 'x y', 'Data'),
      cells: madeCells,
      nulls: fc.constantFrom('', '', '', '-', 'NA', '\\N'),
      nullAt: fc.uniqueArray(fc.nat({ max: rowsMade - 1 }), { maxLength: 5 }),
    }),
    { minLength: 2, maxLength: 5 },
  ),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  encoding: fc.constantFrom('utf8', 'windows-1252'),
  blankAt: fc.option(fc.nat({ max: rowsMade })),
})

test('whatever is suggested gives what was written, or asks', async () => {
  let typed = 0
  await fc.assert(
    fc.asyncProperty(madeFile, async ({ delimiter, columns, lineEnd, encoding, blankAt }) => {
      // A line of more blanks than names is no header to anybody.
      fc.pre(columns.filter(({ header }) => header !== '').length >= columns.length / 2)
      const cell = (text: string): string =>
        [delimiter, '"', '\n', '\r'].some((sign) => text.includes(sign))
          ? `"${text.replaceAll('"', '""')}"`
          : text
      const made = columns.map(({ cells, nulls, nullAt }) =>
        cells.map((one, index) => (nullAt.includes(index) ? { text: nulls, value: null } : one)),
      )
      const records = Array.from({ length: rowsMade }, (_, n) =>
        made.map((cells) => cell(cells[n]?.text ?? '')).join(delimiter),
      )
      const all = [columns.map(({ header }) => cell(header)).join(delimiter), ...records]
      if (blankAt !== null) all.splice(blankAt + 1, 0, '')
      const text = `${all.join(lineEnd)}${lineEnd}`
      const bytes = encoding === 'utf8' ? Buffer.from(text) : iconv.encode(text, encoding)
      // What the encoding does not have, and lines of nothing but one value that is none.
      fc.pre(encoding === 'utf8' || iconv.decode(bytes, encoding) === text)
      const { entry } = await entryOf(bytes)
      const came = await ingested(bytes)
      const due = Array.from({ length: rowsMade }, (_, n) =>
        made.map((cells, column) => {
          const { text: raw = '', value: own = null } = cells[n] ?? {}
          const { type = '', nulls = entry.source?.nulls ?? [''] } = entry.fields[column] ?? {}
          typed += Number(!['string', 'text'].includes(type))
          if (!['string', 'text'].includes(type)) return own
          return nulls.includes(raw) ? null : raw
        }),
      )
      expect(came).toEqual(cameAs(...due))
    }),
    { numRuns: runsOf('SUGGESTED'), seed },
  )
  // What asks always would pass as well.
  expect(typed).toBeGreaterThan(rowsMade * runsOf('SUGGESTED') * 0.5)
}, 3_600_000)
