import fc from 'fast-check'
import { isQuick, runsOf, seed, testSampled } from '../support/runs.ts'
import { entryOf, ingested, linesOf } from './support/suggested.ts'

/** A column gets a type only if its values, written as the catalog declares, are the texts of the source. */

interface Keys {
  readonly type: string
  readonly decimal?: string
  readonly groups?: string
  readonly marks?: readonly string[]
  readonly minus?: readonly string[]
  readonly format?: string | readonly string[]
  /** Formats of the source, by type. */
  readonly date?: string | readonly string[]
  readonly datetime?: string | readonly string[]
  readonly time?: string | readonly string[]
}

const rowCount = 12
const digits = fc.stringMatching(/^[0-9]{1,6}$/)
const grouped = (separator: string) =>
  fc
    .integer({ min: 1000, max: 9_999_999 })
    .map((number) => String(number).replaceAll(/\B(?=(\d{3})+$)/g, separator))
const fraction = (point: string) =>
  fc.tuple(digits, fc.stringMatching(/^[0-9]{1,3}$/)).map((parts) => parts.join(point))

/** Ways to write something that looks like a number. */
const spellings: readonly fc.Arbitrary<string>[] = [
  digits,
  fc.integer({ min: 1, max: 99_999 }).map(String),
  fc.integer({ min: 1, max: 99_999 }).map((number) => String(number).padStart(5, '0')),
  fraction('.'),
  fraction(','),
  grouped(','),
  grouped('.'),
  grouped(' '),
  fc.tuple(digits, fc.constantFrom('E', 'e', 'e-', 'E+'), fc.nat({ max: 30 })).map((parts) => parts.join('')),
  fc.tuple(fraction('.'), fc.constantFrom('e', 'E-'), fc.nat({ max: 9 })).map((parts) => parts.join('')),
]
const around = fc.constantFrom(
  '#',
  '-#',
  '+#',
  '(#)',
  '$#',
  '-$#',
  '$-#',
  '($#)',
  '€#',
  '# €',
  'R$ #',
  '#%',
  '# %',
  'US$ #',
  '#-',
  '−#',
  '$(#)',
  '-# €',
  '–#',
  ' #',
  '# ',
)

const twoDigits = (most: number, least = 0) =>
  fc.integer({ min: least, max: most }).map((number) => String(number).padStart(2, '0'))
const day = fc.record({
  yyyy: fc.integer({ min: 1990, max: 2030 }).map(String),
  yy: twoDigits(99),
  mm: twoDigits(12, 1),
  dd: twoDigits(28, 1),
  hh: twoDigits(23),
  MM: twoDigits(59),
  ss: twoDigits(59),
})
/** Ways to write something that looks like a day, a time of day or a duration. */
const moments = [
  'yyyy-mm-dd',
  'dd/mm/yyyy',
  'mm/dd/yyyy',
  'dd.mm.yyyy',
  'dd/mm/yy',
  'yyyymmdd',
  'hh:MM',
  'hh:MM:ss',
  'yyyy-mm-dd hh:MM:ss',
  'dd/mm/yyyy hh:MM',
].map((form) =>
  day.map((parts) => Object.entries(parts).reduce((text, [part, digit]) => text.replace(part, digit), form)),
)
const words = [
  fc.constantFrom('a', 'N/A', '1a', 'Água', '#1', '1-2', '12E04x'),
  fc.string({ minLength: 1, maxLength: 5, unit: fc.constantFrom('a', 'b', ' ', '1', '-', '.') }),
]

/** Maximum number of cells are written in one way; some columns have a few in another. */
const numbers = fc
  .record({
    usual: fc.record({
      digits: fc.constantFrom(...spellings),
      around: fc.uniqueArray(around, { minLength: 1, maxLength: 2 }),
    }),
    odd: fc.record({ digits: fc.constantFrom(...spellings), around }),
    oddAt: fc.uniqueArray(fc.nat({ max: rowCount - 1 }), { maxLength: 2 }),
  })
  .chain(({ usual, odd, oddAt }) =>
    fc.tuple(
      ...Array.from({ length: rowCount }, (_, row) => {
        const way = oddAt.includes(row)
          ? { digits: odd.digits, around: fc.constant(odd.around) }
          : { digits: usual.digits, around: fc.constantFrom(...usual.around) }
        return fc.tuple(way.digits, way.around).map(([text, form]) => form.replace('#', text))
      }),
    ),
  )

const columns = (count: number) =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: numbers },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...moments, ...words)
          .chain((cell) => fc.tuple(...Array.from({ length: rowCount }, () => cell))),
      },
    ),
    { minLength: count, maxLength: count },
  )

/** The text of a number without what the catalog declares beside it, and without zeros at the end of its fraction. */
function plain(text: string, { decimal = '.', groups, marks = [], minus = [] }: Keys): string {
  const isEnclosed = marks.includes('()') && /^[^\d()]*\([^()]*\)[^\d()]*$/.test(text)
  const isBehind = minus.includes('5-') && text.endsWith('-')
  const isNegative = isEnclosed || isBehind
  let rest = isEnclosed ? text.replace(/[()]/g, '') : isBehind ? text.slice(0, -1) : text
  for (const form of minus) if (form.endsWith('5')) rest = rest.replace(form.slice(0, -1), '-')
  for (const mark of marks) if (mark !== '()') rest = rest.replace(mark, '')
  rest = rest.replaceAll(/\s/g, '')
  if (groups !== undefined) rest = rest.replaceAll(groups === ' ' ? /\s/g : groups, '')
  rest = rest.replace(decimal, '.').toLowerCase()
  if (rest.includes('.') && !rest.includes('e')) rest = rest.replace(/\.?0+$/, '')
  const signed = isNegative ? `-${rest}` : rest
  return signed === '-0' ? '0' : signed
}

/** A day or time of day as it is in an answer, written in a format of the catalog. */
function inFormat(value: string, format: string): string {
  const [, yyyy = '', month = '', dd = '', hh = '', minutes = '', ss = ''] =
    /^(?:(\d{4})-(\d\d)-(\d\d))?T?(?:(\d\d):(\d\d):(\d\d))?$/.exec(value) ?? []
  // `mm` beside hours are minutes.
  return format
    .replace('hh:mm', `${hh}:${minutes}`)
    .replace(/\bh:mm/, `${Number(hh)}:${minutes}`)
    .replace('ss', ss)
    .replace('yyyy', yyyy)
    .replace('yy', yyyy.slice(2))
    .replace('mm', month)
    .replace('dd', dd)
}

const isoFormats = {
  date: ['yyyy-mm-dd'],
  datetime: ['yyyy-mm-ddThh:mm:ss', 'yyyy-mm-dd hh:mm:ss'],
  time: ['hh:mm:ss'],
}

const numeric = new Set(['integer', 'decimal', 'float'])
const marksIn = (text: string): string => (text.match(/US\$|R\$|[$€£%]/g) ?? []).join('')

/** Why values of a column are not its texts; null where they are. */
function lossIn(texts: readonly string[], values: readonly unknown[], keys: Keys): unknown {
  const { type } = keys
  if (type === 'date' || type === 'datetime' || type === 'time') {
    const formats = [keys.format ?? keys[type] ?? isoFormats[type]].flat()
    const different = texts.filter(
      (text, row) =>
        text.trim() !== '' && !formats.some((format) => inFormat(String(values[row]), format) === text),
    )
    return different.length === 0 ? null : [keys, different, values]
  }
  if (!numeric.has(keys.type))
    return texts.every((text, row) => text.trim() === ((values[row] ?? '') as string).trim())
      ? null
      : [keys, texts, values]
  const [first = ''] = texts
  if (texts.some((text) => marksIn(text) !== marksIn(first))) return ['marks', keys, texts]
  const different = texts.filter((text, row) => {
    const [written, value] = [plain(text, keys), values[row]]
    if (written.includes('e'))
      return !/^-?(0|[1-9]\d*)(\.\d+)?e[-+]?\d+$/.test(written) || Number(written) !== value
    return written !== String(value)
  })
  const hasMinus = texts.some((text) => /^[^\d]*[-(\u2212\u2013]|-$/.test(text))
  const plus = texts.filter((text) => text.includes('+') && !/e\+/i.test(text) && !hasMinus)
  return [...different, ...plus].length === 0 ? null : [keys, different, plus, values]
}

const keysOf = (entry: Awaited<ReturnType<typeof entryOf>>['entry']): Keys[] =>
  entry.fields.map(({ name: _name, ...keys }) => ({ ...entry.source, ...keys }))

/** Returns losses of columns that are ingested as suggested. */
async function lossesIn(columnTexts: readonly (readonly string[])[]): Promise<unknown[]> {
  const content = linesOf(
    columnTexts.map((_, index) => `c${index}`).join(';'),
    ...Array.from({ length: rowCount }, (_, row) => columnTexts.map((texts) => texts[row]).join(';')),
  )
  const { entry } = await entryOf(content)
  const came = await ingested(content)
  if ('refused' in came) throw new Error(came.refused.join('\n'))
  const keys = keysOf(entry)
  return columnTexts.flatMap((texts, index) => {
    const values = came.rows.map((row) => row[index])
    const loss = lossIn(texts, values, keys[index] ?? { type: '' })
    return loss === null ? [] : [loss]
  })
}

test.each(isQuick ? [10] : [10, 1000])(
  '%d random columns lose nothing by the suggested types',
  async (count) => {
    await fc.assert(
      fc.asyncProperty(columns(count), async (lists) => {
        expect(await lossesIn(lists)).toEqual([])
      }),
      // Shrinking would ingest hundreds of files.
      { seed, numRuns: count > 10 ? 1 : runsOf('LOSSLESS'), endOnFailure: true },
    )
  },
  3_600_000,
)

/** Rows with different texts. The sample of a column keeps 3,000 texts, and the last row is not among them. */
const many = 3200

testSampled<[title: string, usual: (row: number) => string, last: string]>([
  ['a leading zero', (row) => String(row + 1), '007'],
  ['a leading zero before a fraction', (row) => `${row}.5`, '04.5'],
  ['a missing percent sign', (row) => `${row}%`, '58'],
  ['a missing currency', (row) => `$${row}`, '7'],
  ['another currency', (row) => `$${row}`, '€7'],
  ['a plus', (row) => String(row), '+5511'],
])('%s in the last of many rows keeps a column as texts', async (_what, usual, last) => {
  const content = linesOf(
    'n;v',
    ...Array.from({ length: many }, (_, row) => `${row};${usual(row)}`),
    `${many};${last}`,
  )
  const { entry } = await entryOf(content)
  expect(entry.fields.map(({ type }) => type)).toEqual(['integer', 'string'])
})
