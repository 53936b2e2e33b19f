import { counted } from '../../core/text.ts'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { fileOf, value, type WrittenFile } from './support/csv-texts.ts'
import { rows as cameAs, whatCame } from './support/declared.ts'
import { parse } from 'yaml'
import { entryOf, ingested, linesOf, suggested, suggestion } from './support/suggested.ts'
import { runsOf, seed, testSampled } from '../support/runs.ts'

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

/** Two columns or more: with a single one, another delimiter is possible. */
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

/** Returns the dialect of a suggested entry, and the remark about the rows that were read. */
async function dialectSuggested(text: string): Promise<object> {
  const lines = await suggested('x.csv', text)
  const [{ source = {}, fields }] = parse(lines.join('\n')) as [{ source?: object; fields: unknown[] }]
  const { delimiter = ',', quote = '"', skip_lines: skipLines = 0 } = source as Record<string, unknown>
  return { delimiter, quote, skipLines, columns: fields.length, read: lines[0] }
}

/** A last row with one value may be a note. */
const endsWithValues = ({ file }: Case): boolean =>
  (file.rows.at(-1) ?? []).filter((cell) => cell.trim() !== '').length > 1

const meant = ({ delimiter, columns, file }: Case, quote: string): object => ({
  delimiter,
  quote,
  skipLines: 0,
  columns,
  read: `# x.csv: ${counted(file.rows.length, 'row')}, ${counted(columns, 'column')}`,
})

test('the suggestion for a file has the dialect of its writer if the writer quotes with " or not at all', async () => {
  await fc.assert(
    fc.asyncProperty(written('"'), async (example) => {
      // Without a necessary ", a ' at both ends of a value may be a quote.
      fc.pre(example.file.text.includes('"') || !example.file.text.includes("'"))
      fc.pre(endsWithValues(example))
      expect(await dialectSuggested(example.file.text)).toEqual(meant(example, '"'))
    }),
    { seed, numRuns: runsOf('DIALECTS') },
  )
}, 60_000)

test("the suggestion for a file that is quoted with ' has this quote, even if the values contain other quotes", async () => {
  await fc.assert(
    fc.asyncProperty(written("'", 'always'), async (example) => {
      fc.pre(endsWithValues(example))
      expect(await dialectSuggested(example.file.text)).toEqual(meant(example, "'"))
    }),
    { seed, numRuns: Math.ceil(runsOf('DIALECTS') / 2) },
  )
}, 60_000)

const times = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('')

testSampled<[title: string, text: string, dialect: object]>([
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
    'a row that begins with #, and with a line break in it',
    'c0;c1;c2;c3\n#;"\n";;\n;;;\n;;;\n',
    { delimiter: ';', quote: '"', skipLines: 0, columns: 4 },
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
])('the dialect of %s is suggested', async (_what, text, dialect) => {
  expect(await dialectSuggested(text)).toMatchObject(dialect)
})

test('the suggestion for a government file finds its encoding, delimiter, decimal comma, dates, nulls and types', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => {
    const [day, code] = [String((n % 28) + 1).padStart(2, '0'), String(n).padStart(5, '0')]
    return `"${day}/02/2020";"${code}";"Preço nº ${n} – São Paulo";"${n},5";"${n % 7 === 0 ? '#NULO#' : n}";"${n % 2 === 0 ? 'S' : 'N'}"`
  })
  const text = `Relatório gerado em 2020\r\n\r\n"DT_COMPRA";"CD_ITEM";"Descrição";"VR_ITEM";"Qtd. itens";"ATIVO"\r\n${rows.join('\r\n')}\r\n`
  expect(await suggested('compras 2020.csv.gz', gzipSync(iconv.encode(text, 'windows-1252')))).toEqual([
    '# compras 2020.csv.gz: 200 rows, 6 columns',
    '# it is not UTF-8, and its bytes from 0x80 to 0x9f suggest windows-1252',
    '# ";" gives 6 columns in 100.0 % of the sample',
    '# line 1, before the header, is left out',
    '# tried on all rows: every value fits the suggested entry',
    '# optional keys of the dataset, for harvesters:',
    '#   temporal: { start: 2020-02-01, end: 2020-02-28 } # the first and the last value of "dt_compra"',
    '#   frequency: daily # "dt_compra" usually advances by 1 day',
    '#   publisher, contact, themes, keywords, language and the units of fields, which the file does not show',
    '- name: compras_2020',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  # key: [cd_item] # all 200 rows differ in it; if it identifies a row, remove the first #',
    '  source:',
    '    encoding: "windows-1252"',
    '    delimiter: ";"',
    '    skip_lines: 1',
    '    rename: {"DT_COMPRA":"dt_compra","CD_ITEM":"cd_item","Descrição":"descricao","VR_ITEM":"vr_item","Qtd. itens":"qtd_itens","ATIVO":"ativo"}',
    '    decimal: ","',
    '    booleans: {"true":["S"],"false":["N"]}',
    '    date: "dd/mm/yyyy"',
    '  fields:',
    '    - { name: dt_compra, type: date } # all 200 values are written dd/mm/yyyy',
    '    - { name: cd_item, type: string } # digits, some with a leading zero, which a number would lose',
    '    - { name: descricao, title: "Descrição", type: string } # 200 texts of at most 24 characters, such as "Preço nº 0 – São Paulo"',
    '    - { name: vr_item, type: decimal, scale: 1 } # all 200 values are numbers with at most 1 digit after the comma',
    '    - { name: qtd_itens, title: "Qtd. itens", type: integer, nulls: ["","#NULO#"] } # all 171 values are whole numbers of at most 3 digits; "#NULO#" becomes null',
    '    - { name: ativo, title: "ATIVO", type: bool } # all 200 values are S or N, which become true or false',
  ])
})

test.each(['\n', '\r', '\u0085', '\u2028', '\t# '])(
  'no name or value ends a comment or adds a line: %j',
  async (between) => {
    const text = `x${between}- evil: 1${between}`
    const { output } = await entryOf(`"${text}","b${between}"\n"${text}",1\n"${text}",2\n`, `${text}.csv`)
    expect(parse(output)).toEqual([
      expect.objectContaining({ fields: [expect.anything(), expect.anything()] }),
    ])
    expect(output.split('\n').filter((line) => /^- evil|^# .*[\r\u0085\u2028]/.test(line))).toEqual([])
  },
)

test('the area and the period that a file covers are proposed as the catalog writes them', async () => {
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

test('a plain file without a header gives an entry and notices', async () => {
  const rows = Array.from(
    { length: 50 },
    (_, n) => `${n},${n === 40 ? 'x' : n * 1.25},2020-01-01 10:00:00,123.456.789-0${n % 10}`,
  )
  expect(await suggested('1.txt', `${rows.join('\n')}\n51,2\n`)).toEqual([
    '# 1.txt: 51 rows, 4 columns',
    '# all bytes are ASCII, so utf-8 fits',
    '# "," gives 4 columns in 98.0 % of the sample',
    '# line 1 has numbers, dates or empty cells, so it seems to be a row, and header names the columns; if it is the header, declare source.header_in_file: ["0","0","2020-01-01 10:00:00","123.456.789-00"]',
    '# a row cannot be read: line 51: the row has 2 values, and the header 4',
    '# an ingest refuses the file: correct these lines (max_rejects of the table would leave them out)',
    '# tried on the other rows: every value fits the suggested entry, in which a field is a text until you answer a question',
    '# optional keys of the dataset, for harvesters:',
    '#   temporal: { start: 2020-01-01, end: 2020-01-01 } # the first and the last value of "column_3"',
    '#   publisher, contact, themes, keywords, language and the units of fields, which the file does not show',
    '- name: "1"',
    '  order: [] # such as [date desc, state]; without it the rows keep the order of the source',
    '  # key: [column_1] # all 50 rows differ in it; if it identifies a row, remove the first #',
    '  source:',
    '    header: ["column_1","column_2","column_3","column_4"]',
    '  fields:',
    '    - { name: column_1, type: integer } # all 50 values are whole numbers of at most 2 digits',
    '    - { name: column_2, type: string } # 50 texts of at most 5 characters, such as "0"; all but 1 of 50 are numbers with a decimal point; the others: "x" (line 41); to give the field this type, with null for the others, declare type: float, nulls: ["","x"]',
    '    - { name: column_3, type: datetime } # all 50 values are written yyyy-mm-dd hh:mm:ss',
    '    - { name: column_4, type: string } # 50 texts of at most 14 characters, such as "123.456.789-00"; some values have the check digits of a CPF, a personal identifier of Brazil: source.ignore leaves the column out; mask: cpf needs a column without other texts',
  ])
})

testSampled<[name: string, content: string | Buffer, message: RegExp]>([
  ['x.csv', '<html></html>', /^x\.csv is a page of HTML/],
  ['x.csv', Buffer.from('PK\u0003\u0004'), /^x\.csv is a zip or xlsx file/],
  [
    'x.csv',
    'Not Found\n',
    /^the file is a message, perhaps an error, instead of a table: "Not Found": fetch/,
  ],
  ['x.csv', 'Error 404\nno file, sorry\n', /^the file is a message, perhaps an error/],
  [
    'x.csv',
    'Arquivo não encontrado, tente de novo',
    /^the file is a message, perhaps an error, instead of a table/,
  ],
  ['x.csv', '', /^the file is empty: it needs at least a header/],
  [
    'x.csv',
    'id||nome||valor\n1||Ana||2\n2||Bia||\n',
    /^values are separated by "\|\|": write the file with one of/,
  ],
  ['x.csv', 'a::b\n1::2\n3::4\n', /^values are separated by "::"/],
  ['x.csv', 'a;;b\n1;;2\n3;;4\n', /^values are separated by ";;"/],
  ['x.csv', 'id#|#n#|#v\n1#|#Rua 0; casa#|#0.5\n2#|#Rua 1; casa#|#1\n', /^values are separated by "#\|#"/],
  ['x.csv', 'id\t|\tn\n1\t|\ta\n2\t|\tb\n', /^values are separated by "\\t\|\\t"/],
  ['x.csv', 'id^name\n1^a\n2^b\n', /^values are separated by "\^"/],
  [
    'x.csv',
    'NAME   VALUE\nx      1\nlong y 2\nz      3\n',
    /^columns are aligned by blanks, and nothing separates/,
  ],
  [
    'x.csv',
    '| id | n |\n|---:|---|\n| 1 | a |\n',
    /^every line begins and ends with "\|", as in a table of Markdown/,
  ],
  [
    'x.csv',
    '"a","b"\n"1","2"\n"1","2" x\n"3","4"\n',
    /^line 3: text follows the closing quote .* most values/,
  ],
  ['cut.csv', 'a,b\n1,"x"\n1,"x"\n1,"x"\n2,"y\n', /^line 5: a quoted value is never closed.* most values/],
  [
    'cut.csv',
    `id,note\n${Array.from({ length: 100 }, (_, n) => `${n},"text, ${n}"\n`).join('')}100,"cut off he`,
    /^line 102: a quoted value is never closed/,
  ],
])('a file %s that is not CSV is refused', async (name, content, message) => {
  await expect(suggested(name, content)).rejects.toThrow(message)
})

test.each([
  [
    `id,note\n${Array.from({ length: 100 }, (_, n) => `${n},a\\, b ${n}\n`).join('')}`,
    'line 1 is a header of 2 columns, and the rows below have 3: a backslash before "," is not an escape in CSV (RFC 4180)',
  ],
  [
    `id,d\n${Array.from({ length: 30 }, (_, n) => `${n},Jan 5, 2020\n`).join('')}`,
    'line 1 is a header of 2 columns, and the rows below have 3: enclose values that contain "," in "',
  ],
])('a header that lacks names is refused, with an entry for all columns', async (content, reason) => {
  const { refusal, fields } = await suggestion('x.csv', content)
  expect(refusal).toBe(
    `${reason}; fix the file, or declare source.skip_lines: 1, source.header: ["column_1","column_2","column_3"], with names of your own`,
  )
  expect(fields.map(({ name }) => name)).toEqual(['column_1', 'column_2', 'column_3'])
})

test.each([
  ['a fraction beside others', 'a;b\n1.234;5.5\n6.789;7.5\n', ['decimal', 'decimal']],
  ['groups beside a decimal comma', 'a;b\n1.234;5,5\n6.789;7,5\n', ['integer', 'decimal']],
  ['groups beside degrees', 'a;latitude\n1.234;-5.5\n6.789;-7.5\n', ['string', 'decimal']],
  [
    'a text beside decimal commas and decimal points',
    'a;b;c\n1.234;5,5;5.5\n6.789;7,5;7.5\n',
    ['string', 'decimal', 'decimal'],
  ],
])(
  'a number with two readings gets the type that the other columns suggest: %s',
  async (_what, content, types) => {
    expect((await entryOf(content)).entry.fields.map(({ type }) => type)).toEqual(types)
  },
)

test.each<[title: string, texts: string, type: string, output: RegExp]>([
  [
    'days first',
    '27/09/2018',
    'date',
    / date: "dd\/mm\/yyyy"[^]*"07\/10\/2018" is read with the day first, as in the other columns/,
  ],
  ['months first', '09/27/2018', 'date', / date: "mm\/dd\/yyyy"[^]* is read with the month first, as in/],
  ['no dates', 'x', 'string', /say how "07\/10\/2018" is written/],
  ['dates that leave it open', '01/02/2018', 'string', /say how "07\/10\/2018" is written/],
  ['both orders', '27/09/2018;09/27/2018', 'string', /say how "07\/10\/2018" is written/],
  ['years first', '2018/09/27', 'string', /say how "07\/10\/2018" is written/],
])('a date with two readings is read as other columns with %s show', async (_what, texts, type, expected) => {
  const header = ['day', ...texts.split(';').map((_, index) => `other_${index}`)].join(';')
  const { output, entry } = await entryOf(linesOf(header, `07/10/2018;${texts}`, `07/10/2018;${texts}`))
  expect(entry.fields[0]?.type).toBe(type)
  expect(output).toMatch(expected)
})

const suggestedFor = async (texts: readonly string[]): Promise<string> =>
  (await entryOf(linesOf('n,v', ...texts.map((text, index) => `${index + 1}.5,${text}`)))).output

test.each<[title: string, texts: readonly string[], note: RegExp]>([
  [
    'CPFs',
    ['529.982.247-25', '111.444.777-35'],
    /all 2 values have .* of a CPF.*: mask: cpf hides a part of each$/m,
  ],
  ['CPFs without signs', ['52998224725', '11144477735'], /all 2 values have .* of a CPF/],
  [
    'CPFs and CNPJs',
    ['05.914.650/0001-66', '529.982.247-25'],
    /such as "05\.914\.650\/0001-66"; some values have .*: mask: cpf hides a part of each, and keeps those of companies \(CNPJ\)$/m,
  ],
  ['both without signs', ['05914650000166', '52998224725'], /some values have .* keeps those of companies/],
  [
    'CPFs and other texts',
    ['CPF desconhecido', '529.982.247-25'],
    /such as "CPF desconhecido"; some values have .*: source\.ignore leaves the column out; mask: cpf needs a column without other texts$/m,
  ],
])('a column of %s is pointed out without its personal numbers', async (_what, texts, note) => {
  const output = await suggestedFor(texts)
  expect(output).toMatch(note)
  expect(output).not.toMatch(/529\D?982/)
})

test.each([
  ['phone numbers', ['11987654321', '52998224725', '21912345678']],
  ['wrong check digits', ['529.982.247-26', 'x']],
  ['CNPJs', ['05.914.650/0001-66']],
])('a column of %s is not taken for one of personal numbers', async (_what, texts) => {
  expect(await suggestedFor(texts)).not.toContain('CPF')
})

test.each([
  ['times', 'times\n10:30\n11:20\n', 1],
  ['prose', 'The title of x\nline one here\nline two here\n', 1],
  ['names of two words', 'city name\nSanta Rita\nPorto Real\n', 1],
  ['blanks after a delimiter', 'a;\tb\n1;\t"x;y"\n2;\t"z"\n', 2],
  ['a currency before a delimiter', 'n €;v\n1 €;2\n3 €;4\n', 2],
  ['a column without a name', 'a||b\n1|x|2\n3|y|4\n', 3],
  ['a table of psql', ' id | name \n----+------\n  1 | Ana\n  2 | Bia B\n', 2],
])('nothing in %s is mistaken for a separator', async (_what, content, columns) => {
  expect((await entryOf(content)).entry.fields).toHaveLength(columns)
})

test.each(['error\n5\n', 'id,error\n1,not found\n'])(
  '%j is read as a table, although it mentions errors',
  async (content) => {
    expect((await suggested('x.csv', content))[0]).toContain('1 row, ')
  },
)

test('a line that names the separator is left out above two columns', async () => {
  await expect(ingested('sep=;\r\nname;n\r\nA;1,5\r\nB;2,5\r\n')).resolves.toMatchObject({
    rows: [
      ['A', 1.5],
      ['B', 2.5],
    ],
  })
})

test.each([
  ['id,note\n1,"two\nlines"\n2,3/4" pipe\n3,"a ""b"""\n', 4, '"a ""b"""'],
  ['id;note;n\n1;1/2" pipe;1\n2;"a ""b""";2\n3;c;3\n', 2, '"a ""b"""'],
])('the first loose quote of %j is on line %d, and leads to a question', async (content, line, enclosed) => {
  const { output } = await entryOf(content)
  expect(output).toContain(`line ${line}: a '"' is within a value, so values are not quoted`)
  expect(output).toContain(`say whether the quotes of ${enclosed} (line `)
})

test('dates of two orders in one column must be written alike', async () => {
  const { output, entry } = await entryOf('id,day\n1,01/02/2024\n2,13/04/2024\n3,02/13/2024\n')
  expect(output).toContain(
    '"01/02/2024" may be dd/mm/yyyy or mm/dd/yyyy, and other values are only one or the other: write all values alike in the file, or leave the field a text',
  )
  expect(entry.fields[1]).toMatchObject({ name: 'day', type: 'string' })
})

test.each(['telefone', 'nis', 'pis_pasep', 'renavam', 'matricula', 'codigo_inep', 'celular'])(
  'digits of a column %s are a text, since a later file may have leading zeros',
  async (name) => {
    const { entry } = await entryOf(`${name},n\n12345678901,1\n10987654321,2\n`)
    expect(entry.fields.map(({ type }) => type)).toEqual(['string', 'integer'])
  },
)

describe('in a suggestion,', () => {
  testSampled<[title: string, content: string, source: object, names: string[]]>([
    [
      'a repeated name',
      'a,a,b\n1,2,3\n',
      { header_in_file: ['a', 'a', 'b'], header: ['a', 'a_2', 'b'] },
      ['a', 'a_2', 'b'],
    ],
    [
      'a blank name',
      'a,,b\n1,2,3\n',
      { header_in_file: ['a', '', 'b'], header: ['a', 'column_2', 'b'] },
      ['a', 'column_2', 'b'],
    ],
    [
      'a blank name at its end',
      'a,b,\n1,2,3\n',
      { header_in_file: ['a', 'b', ''], header: ['a', 'b', 'column_3'] },
      ['a', 'b', 'column_3'],
    ],
    [
      'a name that no key of JSON can have',
      '__proto__,b,c\n1,2,3\n',
      { header_in_file: ['__proto__', 'b', 'c'], header: ['proto', 'b', 'c'] },
      ['proto', 'b', 'c'],
    ],
    [
      'a repeated name, and a name over two lines',
      'a,"b\nc",a\n1,2,3\n',
      { header_in_file: ['a', 'b\nc', 'a'], header: ['a', 'b_c', 'a_3'] },
      ['a', 'b_c', 'a_3'],
    ],
  ])('a header with %s gets a unique name for each column', async (_what, content, source, names) => {
    const { entry, output } = await entryOf(content)
    expect(entry.source).toEqual(source)
    expect(entry.fields.map(({ name }) => name)).toEqual(names)
    expect(output).toContain('the header has a repeated, blank or reserved name')
    await expect(ingested(content)).resolves.toEqual(cameAs([1, 2, 3]))
  })

  test.each<[title: string, footer: string, source: object]>([
    ['a name and a colon', 'Fonte: INMET,,\nNota: preliminar', { stop_at: 'Fonte:' }],
    ['words before a date', 'Atualizado em 03/01/2026', { stop_at: 'Atualizado em' }],
    ['a short sentence', '(preliminary data)', { stop_at: '(preliminary data)' }],
    [
      'a long sentence',
      'The values of stations without telemetry are estimates',
      { stop_at: 'The values of stations without telemetry' },
    ],
    ['a number', '1) preliminary data', { skip_last: 1 }],
    ['the start of a row', 'Natal', { skip_last: 1 }],
  ])(
    'a footer that starts with %s ends the rows of a later file with more rows',
    async (_what, footer, source) => {
      const { entry } = await entryOf(`city,day,n\nNatal,1,2\nBelo Horizonte,2,3\n\n${footer}\n`)
      expect(entry.source).toEqual(source)
      const rows = Array.from({ length: 5 }, (_, n) => `Natal,${n},2\n`).join('')
      const came = await whatCame({ ...entry, name: 't' }, `city,day,n\n${rows}\n${footer}\n`)
      expect(came).toMatchObject({ rows: [0, 1, 2, 3, 4].map((n) => ['Natal', n, 2]) })
    },
  )

  test('final lines that are no rows are left out, and years in a header become names such as column_3_1960', async () => {
    const content =
      '"Data",\n\n"Country","Code","1960","1961",\n"Aruba","ABW","546","5.5",\n"Africa","AFE","","",\n\n"Source: a, b"\nUpdated 2024\n'
    const { entry, output } = await entryOf(content)
    expect(entry.source).toEqual({
      skip_lines: 1,
      stop_at: '"Source:',
      drop_empty_extra_cells: true,
      rename: { Country: 'country', Code: 'code', 1960: 'column_3_1960', 1961: 'column_4_1961' },
    })
    expect(output).toContain('lines 7, 8 at the end have one value each, and are no rows')
    await expect(ingested(content)).resolves.toEqual({
      rows: [
        ['Aruba', 'ABW', 546, 5.5],
        ['Africa', 'AFE', null, null],
      ],
      notices: ['  left out at the end of x.csv: 2 lines from: "Source: a, b"'],
    })
  })

  test.each<[title: string, end: string[], rowCount: number]>([
    ['after an empty line', [';;', 'IBGE;;', 'preliminary;;'], 3],
    ['after a total', ['Total;60;', ';;', 'Source: IBGE;;', 'preliminary;;'], 3],
    ['below the rows, with a colon', ['Source: IBGE;;'], 3],
    ['without an empty line or a colon, which may be rows', ['IBGE;;'], 4],
    [
      'below rows with the first cell alone, which may be rows',
      ['Manaus;;', 'Belo;1;2020', 'Source: IBGE;;'],
      6,
    ],
  ])(
    'the right rows are published of a file with notes that empty cells follow: %s',
    async (_what, end, rowCount) => {
      const came = await ingested(
        linesOf('city;value;year', 'Recife;10;2020', 'Olinda;20;2021', 'Natal;30;2022', ...end),
      )
      if ('refused' in came) throw new Error(came.refused.join('\n'))
      expect([came.rows.length, came.rows[2]]).toEqual([rowCount, ['Natal', 30, 2022]])
    },
  )

  test.each(['Total', '3', 'Bra'])('a truncated last row does not become a footer: %s', async (end) => {
    const { output } = await entryOf(`a,b\n${'x,1\n'.repeat(99)}${end}\n`)
    expect(output).toContain('a row cannot be read: line 101: the row has 1 value, and the header 2')
  })

  test('quotes that are escaped by backslashes are refused', async () => {
    await expect(
      suggested('x.csv', linesOf('a,b', ...Array.from({ length: 30 }, (_, n) => `${n},"a \\"b\\", c"`))),
    ).rejects.toThrow(/backslash/)
  })

  test('rows that do not fit the header do not make the file a single column', async () => {
    const { output, entry } = await entryOf('a,b,c\n1,2\n1,2,3\n1,2,3,4\n')
    expect(entry.fields.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(output).toContain(
      '2 rows cannot be read: line 2: the row has 2 values, and the header 3; line 4: the row has 4',
    )
  })
})
