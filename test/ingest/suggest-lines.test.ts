import fc from 'fast-check'
import { outcomeLines } from '../../ingest/job/report.ts'
import type { LineCounts } from '../../ingest/source/source-counts.ts'
import { TableFailure } from '../../ingest/base/rejects.ts'
import { declared, rows as came } from './support/declared.ts'
import { workshop } from '../support/workshop.ts'
import { isQuick, runsOf, seed, testSampled } from '../support/runs.ts'
import { noticeLines } from '../../ingest/suggest/notices.ts'
import { entryOf, ingested, linesOf, suggestion } from './support/suggested.ts'

/** Every line of a file is published, or named as something else, or the file is refused with the line. */

const header = ['day', 'station', 'rain', 'note']
const cellsOf = (n: number): string[] => [
  `2024-${String(1 + (Math.floor(n / 28) % 12)).padStart(2, '0')}-${String(1 + (n % 28)).padStart(2, '0')}`,
  `S${n % 7}`,
  `${n % 30}.${n % 9}1`,
  n % 5 === 0 ? '' : `note ${n}`,
]

interface File {
  readonly delimiter: string
  readonly rows: number
  /** Rows before the deviating line. */
  readonly before: number
}

type Deviation = (file: File, cells: readonly string[]) => string

/** One line that is unlike the others. */
const deviations: Readonly<Record<string, Deviation>> = {
  'a cell too many': ({ delimiter }, cells) => [...cells, 'more'].join(delimiter),
  'a cell too few': ({ delimiter }, cells) => cells.slice(1).join(delimiter),
  'empty cells too many': ({ delimiter }, cells) => [...cells, '', ''].join(delimiter),
  'a NUL byte': ({ delimiter }, cells) => ['\0\0', ...cells.slice(1)].join(delimiter),
  'another delimiter': ({ delimiter }, cells) => cells.join(delimiter === ';' ? '|' : ';'),
  'a stray quote': ({ delimiter }, cells) => [...cells.slice(0, 3), 'a "b" c'].join(delimiter),
  'a backslash before a quote': ({ delimiter }, cells) =>
    [...cells.slice(0, 3), String.raw`"a \"b\" c"`].join(delimiter),
  'the header again': ({ delimiter }) => header.join(delimiter),
  'the header again after a mark': ({ delimiter }) => `\ufeff${header.join(delimiter)}`,
  'a mark': ({ delimiter }, cells) => `\ufeff${cells.join(delimiter)}`,
  'a total': ({ delimiter }) => ['Total', '', '123.45', ''].join(delimiter),
  'a word': () => 'continued',
  'a blank line': () => '',
  'a line break in a value': ({ delimiter }, cells) => [...cells.slice(0, 3), '"a\nb"'].join(delimiter),
}

function contentOf(file: File, deviation: string): { content: string; line: number } {
  const lines = Array.from({ length: file.rows }, (_, n) => cellsOf(n).join(file.delimiter))
  const odd = deviations[deviation]?.(file, cellsOf(file.before)) ?? ''
  lines.splice(file.before, 0, odd)
  return { content: linesOf(header.join(file.delimiter), ...lines), line: 2 + file.before }
}

type Intake =
  | { readonly output: string; readonly lines: LineCounts; readonly refusal: null }
  | { readonly output: string; readonly lines: null; readonly refusal: string }

/** Suggests an entry for a file and ingests the file by it. */
async function intake(content: string | Buffer): Promise<Intake> {
  try {
    const { output, entry } = await entryOf(content)
    const catalog = declared({ ...entry, name: 't' })
    const [outcome] = await (await workshop(catalog, { 'd/t.csv': content })).ingest()
    if (outcome === undefined) throw new Error('nothing was ingested')
    if (outcome.status === 'published') return { output, lines: outcome.report.lines, refusal: null }
    return { output, lines: null, refusal: outcomeLines(outcome).join('\n') }
  } catch (error) {
    if (!(error instanceof TableFailure)) throw error
    return { output: '', lines: null, refusal: error.message }
  }
}

const files = fc.record({
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  rows: fc.integer({ min: 4, max: isQuick ? 60 : 2000 }),
  before: fc.double({ min: 0, max: 1, noNaN: true }),
  deviation: fc.constantFrom(...Object.keys(deviations)),
})

const plain = new Set(['a blank line', 'a line break in a value'])

/** Returns what is wrong with the intake of a file with one deviating line; null where every line is accounted for. */
async function silenceIn(sort: string, file: File): Promise<string | null> {
  const { content, line } = contentOf(file, sort)
  const { output, lines, refusal } = await intake(content)
  const isNamed = new RegExp(String.raw`\bline ${line}\b`).test(refusal ?? output)
  if (lines === null) return isNamed ? null : `is refused without line ${line}: ${refusal}`
  const { all: total, ...counts } = lines
  const sum = Object.values(counts).reduce((sumSoFar, count) => sumSoFar + count, 0)
  if (total !== content.split('\n').length - 1 || sum !== total) return `counts ${JSON.stringify(lines)}`
  // Nothing but the deviating line may be something else than a row.
  const { header: headerLines, rows: published, breaks, blank } = counts
  if (sum - headerLines - published - breaks - blank > 1 || headerLines !== 1)
    return `loses ${JSON.stringify(lines)}`
  if (published < file.rows) return `publishes ${published} rows`
  return isNamed || plain.has(sort) ? null : `does not name line ${line}: ${output}`
}

test('random files with one deviating line lose no line without a notice', async () => {
  await fc.assert(
    fc.asyncProperty(files, async ({ deviation, before, ...file }) => {
      const fault = await silenceIn(deviation, { ...file, before: Math.round(before * file.rows) })
      expect(fault).toBeNull()
    }),
    { seed, numRuns: runsOf('DEVIATIONS') },
  )
}, 3_600_000)

/** Deviations of several lines, with the numbers of the deviating lines. */
type Block = (file: File, lines: readonly string[]) => { lines: readonly string[]; odd: readonly number[] }

const numbersFrom = (start: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => start + index)

const blockDeviations: Readonly<Record<string, Block>> = {
  'another delimiter from some line on': ({ delimiter, before }, lines) => ({
    lines: lines.map((line, index) =>
      index <= before ? line : line.replaceAll(delimiter, delimiter === ';' ? ',' : ';'),
    ),
    odd: before + 1 < lines.length ? [before + 2] : [],
  }),
  'a line of units': ({ delimiter }, [head = '', ...lines]) => ({
    lines: [head, ['', '', '[mm]', ''].join(delimiter), ...lines],
    odd: [2],
  }),
  'labels below the header': ({ delimiter }, [head = '', ...lines]) => ({
    lines: [head, ['Day', 'Station', 'Rain', 'Note'].join(delimiter), ...lines],
    odd: [2],
  }),
  'a second table': ({ delimiter, before }, lines) => ({
    lines: [
      ...lines.slice(0, before + 2),
      '',
      ['code', 'place', 'since', 'kind'].join(delimiter),
      ...lines.slice(before + 2),
    ],
    odd: [before + 4],
  }),
  'a total at the end': ({ delimiter }, lines) => ({
    lines: [...lines, ['Total', '', '123.45', ''].join(delimiter)],
    odd: [lines.length + 1],
  }),
  'a total that is a sum': ({ delimiter }, [head = '', ...lines]) => ({
    lines: [
      head,
      ...lines,
      ['Total', '', sumOf(lines.map((line) => line.split(delimiter)[2] ?? '')), ''].join(delimiter),
    ],
    odd: [lines.length + 2],
  }),
  'notes at the end': (_file, lines) => ({
    lines: [...lines, '', 'Source: the survey of 2024', 'Notes:', '1. preliminary'],
    odd: numbersFrom(lines.length + 2, 3),
  }),
  'notes at the end, after no blank line': (_file, lines) => ({
    lines: [...lines, 'Source: the survey of 2024', 'Updated: 2024'],
    odd: numbersFrom(lines.length + 1, 2),
  }),
  'a total and notes at the end': ({ delimiter }, lines) => ({
    lines: [...lines, ['Total', '', '5', ''].join(delimiter), '', 'Source: a survey'],
    odd: [lines.length + 1, lines.length + 3],
  }),
  'empty rows and rules': ({ delimiter, before }, lines) => ({
    lines: [
      ...lines.slice(0, before + 1),
      ['', '', '', ''].join(delimiter),
      ['---', '---', '---', '---'].join(delimiter),
      ...lines.slice(before + 1),
    ],
    odd: numbersFrom(before + 2, 2),
  }),
  comments: ({ before }, lines) => ({
    lines: ['# made by a logger', ...lines.slice(0, before + 1), '# a break', ...lines.slice(before + 1)],
    odd: [1, before + 3],
  }),
  'a title and a blank line': (_file, lines) => ({ lines: ['Rain by station', '', ...lines], odd: [1] }),
  'a lone quote that a backslash escapes': ({ delimiter, before }, lines) => ({
    lines: lines.with(before + 1, [...cellsOf(before).slice(0, 3), String.raw`"a 5\" pipe"`].join(delimiter)),
    odd: [before + 2],
  }),
}

const sumOf = (texts: readonly string[]): string =>
  (texts.reduce((sum, text) => sum + Math.round(100 * Number(text)), 0) / 100).toFixed(2)

/** Returns the lines of a file that are neither published nor named. */
async function unnamedLines(sort: string, file: File): Promise<unknown> {
  const plainLines = [header, ...Array.from({ length: file.rows }, (_, n) => cellsOf(n))].map((cells) =>
    cells.join(file.delimiter),
  )
  const { lines, odd } = blockDeviations[sort]?.(file, plainLines) ?? { lines: [], odd: [] }
  const { output, lines: counts, refusal } = await intake(linesOf(...lines))
  const phrases = (refusal ?? output).match(/\blines? \d+(?:(?:, | and )\d+)*/g) ?? []
  const named = new Set(phrases.flatMap((phrase) => phrase.match(/\d+/g) ?? []).map(Number))
  for (const [, from, to] of output.matchAll(/lines (\d+) to (\d+)/g))
    for (let line = Number(from); line <= Number(to); line += 1) named.add(line)
  if (counts === null) return odd.some((line) => named.has(line)) ? null : { refusal, odd }
  const unnamed = odd.filter((line) => !named.has(line))
  return unnamed.length === 0 && counts.rows >= file.rows ? null : { output, unnamed, counts }
}

test('random files with several deviating lines lose no line without a notice', async () => {
  await fc.assert(
    fc.asyncProperty(
      files.chain((file) =>
        fc.record({ file: fc.constant(file), sort: fc.constantFrom(...Object.keys(blockDeviations)) }),
      ),
      async ({ sort, file: { before, rows: count, delimiter } }) => {
        const file = { delimiter, rows: count, before: Math.min(count - 1, Math.round(before * count)) }
        expect([sort, await unnamedLines(sort, file)]).toEqual([sort, null])
      },
    ),
    { seed, numRuns: runsOf('DEVIATIONS') },
  )
}, 3_600_000)

const pair = (...rows: readonly string[]): string => linesOf('day,amount', ...rows)

testSampled<[title: string, content: string | Buffer, source: object, notice: RegExp]>([
  [
    'a header that is repeated, once after a byte order mark',
    pair('day,amount', '2024-01-01,1', '\ufeffday,amount', '2024-02-01,2'),
    { skip_repeated_headers: true },
    /lines 2, 4 repeat the header, and are left out/,
  ],
  [
    'empty cells beyond the header',
    pair('2024-01-01,1,,', '2024-02-01,2'),
    { drop_empty_extra_cells: true },
    /line 2 has more cells than the header; the extra ones are empty, and are dropped/,
  ],
  [
    'units below the header',
    pair(',[mm]', '2024-01-01,1', '2024-02-01,2'),
    { header_lines: 2, rename: { 'amount [mm]': 'amount' } },
    /lines 1 and 2 are the header, and joined: day, amount \[mm\]/,
  ],
  [
    'UTF-16 without a byte order mark',
    Buffer.from(pair('2024-01-01,1', '2024-02-01,2'), 'utf16le'),
    { encoding: 'utf-16le' },
    /every other byte is NUL, which suggests utf-16/,
  ],
])('the suggestion declares %s, with a notice', async (_what, content, source, notice) => {
  const { entry, output } = await entryOf(content)
  expect([entry.source, output]).toEqual([source, expect.stringMatching(notice)])
  await expect(ingested(content)).resolves.toEqual(came(['2024-01-01', 1], ['2024-02-01', 2]))
})

testSampled<[title: string, content: string, types: string[]]>([
  ['parentheses for a minus in the first row', 'profit,loss\n(5),(3)\n4,2\n6,7\n', ['integer', 'integer']],
  ['a word for nothing in the first row', 'name,note\n(Anon),\nb,5\nc,6\n', ['string', 'integer']],
  ['lists', 'tags,n\n[],5\n"[""a""]",6\n', ['list', 'integer']],
  ['a title above rows without a header', 'Report of X\n1,2\n3,4\n', ['integer', 'integer']],
  [
    'a title above columns of years',
    'Report\nname,2010,2020\na,1,2\nb,4,5\n',
    ['string', 'integer', 'integer'],
  ],
  ['an empty cell at the end of every row', 'a,b\n1,2,\n3,4,\n', ['integer', 'integer']],
  ['a range of years with an open end', 'v,from\n1,2001\n2,2019-\n', ['integer', 'string']],
])('a file with %s loses no row', async (_what, content, types) => {
  const { entry } = await entryOf(content)
  expect(entry.fields.map(({ type }) => type)).toEqual(types)
  const { lines } = await intake(content)
  expect({ ...lines, skipped: 0, header: 0 }).toMatchObject({ comments: 0, rejected: 0, last: 0 })
  expect(lines?.rows).toBe(
    content.split('\n').length - 2 - (lines?.skipped ?? 0) + (lines?.header === 0 ? 1 : 0),
  )
})

testSampled<[title: string, content: string | Buffer, refusal: RegExp]>([
  [
    'a second table',
    linesOf('device,seen,signal', 'D1,2024-01-01,-40', ',,', 'Node,Joined,Quality', 'N1,2024-01-03,80'),
    /^line 4: a second table \(header "Node,Joined,Quality"\) begins after an empty row/,
  ],
  [
    'another delimiter further down',
    pair(...Array.from({ length: 5 }, (_, n) => `2024-01-0${n + 1},${n}`), '2024-01-06;6', '2024-01-07;7'),
    /line 7: the row has 1 value, and the header 2: its values are separated by ";" instead of ","/,
  ],
  [
    'a comma in a text without quotes',
    pair('2024-01-01,1', '2024-01-02,1, perhaps 2', '2024-01-03,3'),
    /line 3: the row has 3 values, and the header 2: a value that contains "," must be enclosed in quotes/,
  ],
  [
    'a line in another encoding than the others',
    Buffer.concat([Buffer.from('n,city\n1,São Tomé\n2,Cura'), Buffer.from([0xe7, 0xe1]), Buffer.from('\n')]),
    /line 3: the byte 0xe7 is not UTF-8/,
  ],
  ['a NUL byte', pair('2024-01-01,1', '\0\0\0\0', '2024-01-03,3'), /line 3: a NUL byte/],
  ['a second table after a blank line', pair('2024-01-01,1', '', 'city,name'), /^line 4: a second table/],
])('%s is refused with its line, and no line is taken for a preamble', async (_what, content, refusal) => {
  expect(await intake(content)).toMatchObject({ lines: null, refusal: expect.stringMatching(refusal) })
})

test.each([
  ['birth_date', 'say whether "birth_date" holds dates of birth, since the last one is 2088-01-02'],
  ['due', null],
])('a date in the future leads to a question only in a column of birth dates: %s', async (name, question) => {
  const { output } = await entryOf(linesOf(`id,${name}`, 'a,1968-01-02', 'b,2088-01-02'))
  expect(/say whether [^:\n]*/.exec(output)?.[0] ?? null).toBe(question)
})

test('a total in the last row leads to a question', async () => {
  const { output } = await intake(pair('2024-01-01,1', '2024-01-02,2', 'Total,4'))
  expect(output).toContain(
    'say whether line 4 sums up other rows, as "Total" suggests: source.drop: {"day":["Total"]} leaves it out',
  )
})

test('notices about a file are separate lines, and questions are numbered', async () => {
  const content = linesOf(
    'day,length,code,empty',
    ...['15/03/2024', '45366', '16/03/2024', '17/03/2024'].map((day, n) => `${day},3:4${n},${n},`),
    'Total,9:59,5,',
  )
  expect(noticeLines(await suggestion('x.csv', content))).toEqual([
    '  x.csv: 5 rows, 4 columns',
    '  field   type    first values                         nulls',
    '  day     string  "15/03/2024", "45366", "16/03/2024"  0',
    '  length  string  "3:40", "3:41", "3:42"               0',
    '  code    string  "0", "1", "2"                        0',
    '  empty   string                                       5',
    '  all bytes are ASCII, so utf-8 fits',
    '  "," gives 4 columns in 100.0 % of the sample',
    '  tried on all rows: every value fits the suggested entry, in which 2 fields are texts until you answer a question',
    '  field "empty": all values are null, so any type would do',
    'questions; answer each by a change of the entry in the catalog:',
    '  1. field "day", a text until you answer: all but 2 of 5 are written dd/mm/yyyy; the others: "45366" (line 3), "Total" (line 6); to give the field this type, leave the total out, correct the others in the file, and declare type: date, format: "dd/mm/yyyy"',
    '  2. field "length", a text until you answer: say what "3:40" means: for hours and minutes, declare type: time, format: h:mm; minutes and seconds stay texts',
    '  3. say whether line 6 sums up other rows, as "Total" suggests: source.drop: {"day":["Total"]} leaves it out',
  ])
})

testSampled<[values: readonly string[], title: string]>([
  [['1', '2', '-3', 'x'], 'whole numbers'],
  [['1.234.567', '7.654.321', '2.000.000', 'x'], 'whole numbers'],
  [['€ 1', '€ 25', '€ 3', 'x'], 'whole numbers'],
  [['1.5', '2', '-3.25', 'x'], 'numbers with a decimal point'],
  [['R$ 1.234,50', 'R$ 2,00', 'R$ 10,05', 'x'], 'numbers with a decimal comma'],
  [['2024-01-02', '2024-01-03', '2024-02-04', 'x'], 'written yyyy-mm-dd'],
])('the deviating value of %p is named', async (values, note) => {
  const { output } = await entryOf(linesOf('n|note', ...values.map((value) => `${value}|a`)))
  expect(output).toContain(`all but 1 of 4 are ${note}; the others: "x" (line 5)`)
})

test.each([
  [
    ['2024-01', '2024-02'],
    '  field "month": all 2 values are written yyyy-mm, which means the first day of a month; type: string keeps the text',
  ],
  [['2024-01-05', '2024-02-05'], null],
])('a notice appears if months without a day become dates: %p', async (values, line) => {
  const lines = noticeLines(
    await suggestion('x.csv', linesOf('month|n', ...values.map((text) => `${text}|a`))),
  )
  expect(lines.find((warning) => warning.includes('field "month"')) ?? null).toBe(line)
})

/** Rows of a report with blocks, each with its sum. */
const blocks = (...totals: readonly string[]): string =>
  linesOf(
    'Region;UF;Works;Value',
    'North;AC;3;1.000,5',
    'North;AM;5;250',
    ...totals.slice(0, 1),
    ';;;',
    'South;PR;-;(9)',
    ...totals.slice(1),
  )

testSampled<[title: string, content: string, drop: object | undefined, said: string]>([
  [
    'sums of blocks and of all rows',
    blocks('Subtotal North;;8;1.250,50', 'Subtotal South;;0;-9', 'Total geral;;8;1.241,5'),
    { Region: ['Subtotal North', 'Subtotal South', 'Total geral'] },
    '# lines 4, 7, 8 sum up other rows, and are left out',
  ],
  [
    'a sum above its rows',
    'uf,n\nTotal,3\nAC,1\nAM,2\n',
    undefined,
    '# line 2 sums up other rows, as "Total" suggests: source.drop: {"uf":["Total"]} leaves it out',
  ],
  [
    'sums beside a filled cell',
    'uf,city,n,v\nBA,Alto,1,1.5\nBA,Novo,2,2.5\nBA,Total BA,3,4.0\nPE,Meio,5,7.5\nPE,Total PE,5,7.5\n',
    undefined,
    '# line 4, line 6 sum up other rows, as "Total BA" suggests: source.drop: {"city":["Total BA","Total PE"]} leaves them out',
  ],
  [
    'a sum of all rows without a word for it',
    'uf,n,v\nBrasil,6,9.5\nAC,1,1.5\nAM,2,2.5\nBA,3,5.5\n',
    undefined,
    '# line 2 sums up other rows, as "Brasil" suggests: source.drop: {"uf":["Brasil"]} leaves it out',
  ],
  [
    'a name that begins with a word for totals',
    'shop,n\nTotal Energies,5\nX,6\nY,9\n',
    undefined,
    'tried on all rows: every value fits the suggested entry\n',
  ],
  [
    'totals that are no sums of rows',
    blocks('Subtotal North;;8;1.250,50', 'Subtotal South;;0;-9', 'Total;;8;1.300'),
    { Region: ['Subtotal North', 'Subtotal South'] },
    'say whether line 8 sums up other rows, as "Total" suggests: source.drop: {"Region":["Total"]} leaves it out',
  ],
  [
    'equal words for a sum and for another number',
    'city,n\nAC,1\nAM,2\nTotal,3\nBA,4\nTotal,9\n',
    undefined,
    'say whether line 4, line 6 sum up other rows, as "Total" suggests: source.drop: {"city":["Total"]} leaves them out',
  ],
  [
    'a total of each year, which may be a class',
    'sex,year,n\nMen,2020,1\nWomen,2020,2\nTotal,2020,3\nMen,2021,4\nTotal,2021,7\n',
    undefined,
    'say whether line 4, line 6 sum up other rows',
  ],
  [
    'a single total, which may be a class',
    'sex,uf,n\nMen,AC,1\nWomen,AC,2\nTotal,AC,3\nMen,AM,4\n',
    undefined,
    'tried on all rows',
  ],
  [
    'names that begin like words for totals',
    'shop,n\nTotals Ltd,1\nSumatra,2\nTotals Ltd,3\n',
    undefined,
    'tried on all rows',
  ],
])('totals are left out, questioned or kept as rows: %s', async (_what, content, drop, said) => {
  const { output, entry } = await entryOf(content)
  expect([(entry.source as { drop?: object } | undefined)?.drop, output]).toEqual([
    drop,
    expect.stringContaining(said),
  ])
})

testSampled<[title: string, content: string, isHeader: boolean]>([
  ['years padded with spaces', 'geo\t2019 \t2020 \nAC\t4.5 \t5 \nAM\t4 \t: \n', true],
  ['years as decimals', 'geo,2019.0,2020.0\nAC,4,5\nAM,4,9\n', true],
  ['years with gaps above other numbers', '2000;2010;2020\n105;110;123\n99;102;100\n', true],
  ['falling years above texts', 'area,2021,2020\nEast,low,high\nWest,low,low\n', true],
  ['years above years', 'AC,1990,2005\nAM,1991,2001\nPA,1992,2004\n', false],
  ['days above numbers', 'state,1/22/20,1/23/20\nAC,3,4\nAM,5,6\n', true],
  ['days above days', 'AC,2020-01-22,1\nAM,2020-01-23,2\n', false],
  ['a text above numbers, beside rising numbers', 'depth,0.5,1.0\n10,3.1,4.1\n20,5.1,6.1\n', true],
  ['a text above numbers, beside a number', 'code,name,2022\n11,Alta,7\n12,Boa,9\n', true],
  ['a word for null above numbers', 'NA,1,2\n3,4,5\n6,7,8\n', false],
  ['a text beside months', 'station,1,2,3\nA1,120,345,201\nA2,410,300,290\n', true],
  [
    'years beside a text, above numbers like years',
    'geo,2019,2020,2021\nA,1990,2010,2020\nB,1950,2030,2090\n',
    true,
  ],
  ['numbers in order, as in other rows', 'A,1,2,3\nB,4,5,6\nC,7,8,9\n', false],
  ['numbers out of order', 'code,5,9,2\n3,4,5,6\n6,7,8,9\n', false],
  ['a text above texts, beside numbers', 'Ana,1,2\nBia,4,5\nCaio,7,8\n', false],
])('a first line with %s is correctly taken as a header or as a row', async (_what, content, isHeader) => {
  const { output, entry } = await entryOf(content)
  const [line = ''] = content.split('\n')
  const result = await ingested(content)
  const rows = content.split('\n').length - (isHeader ? 2 : 1)
  expect(['rows' in result && result.rows.length, 'header' in (entry.source ?? {})]).toEqual([
    rows,
    !isHeader,
  ])
  expect(output).toContain(
    isHeader
      ? 'line 1 is the header, since'
      : `declare source.header_in_file: ${JSON.stringify(line.split(','))}`,
  )
})

testSampled<[title: string, content: string, loaded: unknown[][], said: string]>([
  [
    'blanks before quotes',
    'n, name\n1, "a, b"\n2, c\n',
    [
      [1, 'a, b'],
      [2, 'c'],
    ],
    '# line 2 has blanks or = beside quotes, which are left out',
  ],
  [
    'texts that a spreadsheet keeps',
    'id;name\n="01";x\n="7";"y;z" \n',
    [
      ['01', 'x'],
      ['7', 'y;z'],
    ],
    '# lines 2, 3 have blanks or = beside quotes, which are left out',
  ],
  [
    'a quoted word beside a quote within a value',
    'item;maker\n"Big" Joe;Lima\nSofa;"Casa"\n',
    [
      ['"Big" Joe', 'Lima'],
      ['Sofa', '"Casa"'],
    ],
    `say whether the quotes of "Casa" (line 3) are part of the value, as they are now; otherwise correct line 2, in which a quote is within a value, and declare source.quote: '"'`,
  ],
])('the suggestion reads %s, with a notice', async (_what, content, loaded, said) => {
  expect((await entryOf(content)).output).toContain(said)
  await expect(ingested(content)).resolves.toEqual(came(...loaded))
})

test('a column whose only odd value is the total gets its type once the total is left out', async () => {
  const { output } = await entryOf(linesOf('day|n', '13/01/2026|1', '14/01/2026|2', 'Total|4'))
  expect(output).toContain(
    'the others: "Total" (line 4); to give the field this type, leave the total out, and declare type: date, format: "dd/mm/yyyy"\n',
  )
})

test('the odd values of a column are named with their lines', async () => {
  const days = Array.from({ length: 20 }, (_, n) => (n % 3 === 2 ? '30/02/2026' : `${n + 10}/01/2026`))
  const { output } = await entryOf(linesOf('day|n', ...days.map((day, n) => `${day}|${n}`), '?|20'))
  expect(output).toContain('the others: "30/02/2026" 6 times (lines 4, 7, 10, 13, 16, ...), "?" (line 22)')
  expect(output).toContain('correct the others in the file, and declare type: date, format: "dd/mm/yyyy"\n')
})

test('a text that may mean null is counted with and without blanks around it', async () => {
  const { output } = await entryOf(
    linesOf('a|b', ...[' x', 'N/A', ' y', 'N/A', ' N/A', ' z'].map((text, n) => `${n}|${text}`)),
  )
  expect(output).toContain('say whether "N/A" (3 times) are texts or mean null')
})

test('a decimal comma does not separate values, even if a footer has another count of semicolons', async () => {
  const rows = Array.from({ length: 12 }, (_, n) => `BA;Alto ${n};${n};7${n},5`)
  const { output, entry } = await entryOf(linesOf('UF;City;N;Value', ...rows, 'Source: IBGE, 2023; updated'))
  expect(entry.fields.map(({ name }) => name)).toEqual(['uf', 'city', 'n', 'value'])
  expect(output).toContain('a row cannot be read: line 14: the row has 2 values, and the header 4')
})

test('rows with a value only in their first cell are named, since they may be headings', async () => {
  const content = 'Place,Births,Deaths\nNorth,,\nLeeds,6,7\nYork,7,4\nSouth,,\nBath,2,6\n'
  expect((await entryOf(content)).output).toContain(
    '# lines 2, 5 have their first cell alone, so may be headings: source.drop: {"Place":["North","South"]} leaves them out',
  )
})

test.each(['latitude', 'lon'])(
  'a field named %s, whose values have more digits than degrees, leads to a question',
  async (name) => {
    const { output } = await entryOf(linesOf(`a;${name}`, 'x;-25.434.296', 'y;-9.488.972'))
    expect(output).toContain(
      'say what "-25.434.296" means, since degrees have at most three digits before the point',
    )
  },
)

test('a row that is cut in two by a line break is named by both lines', async () => {
  const { output } = await entryOf('a;b;c\r\n1;x;2\r\n2;first line\nsecond line;3\r\n3;y;4\r\n4;z;5\r\n')
  expect(output).toContain('lines 3 and 4 seem to be one row, broken by a line break')
})

test('a cell or a name that reads like a question is not taken for one', async () => {
  const content = linesOf('say what,note', 'say whether; all but 1 of 2 are,say what it is', 'a,b')
  const lines = noticeLines(await suggestion('say whether.csv', content))
  expect(lines.filter((line) => !line.startsWith('  '))).toEqual([])
  expect(lines).toContain('  say whether.csv: 2 rows, 2 columns')
})

test('an ingest counts the lines of each kind, such as comments and repeated headers', async () => {
  const content = [
    'a title',
    'a,b',
    '1,x',
    '# a comment',
    '',
    'a,b',
    '2,"y',
    'z"',
    '3,u,"v',
    'w"',
    'four,t',
    'Total: 3',
  ].join('\n')
  const catalog = declared({
    fields: ['a:integer', 'b:string'],
    max_rejects: 2,
    source: { skip_lines: 1, comment: '#', skip_repeated_headers: true, skip_last: 1 },
  })
  const [outcome] = await (await workshop(catalog, { 'd/t.csv': content })).ingest()
  expect(outcome).toMatchObject({
    status: 'published',
    report: {
      lines: {
        // oxlint-disable-next-line id-denylist -- Key of report.json.
        all: 12,
        skipped: 1,
        header: 1,
        rows: 2,
        breaks: 1,
        rejected: 3,
        blank: 1,
        comments: 1,
        repeatedHeaders: 1,
        last: 1,
      },
    },
  })
})
