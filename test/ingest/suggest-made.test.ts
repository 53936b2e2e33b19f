import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { isNoRow, value } from './support/csv-texts.ts'
import { rows as cameAs } from './support/declared.ts'
import { runsOf, seed } from '../support/runs.ts'
import { entryOf, ingested } from './support/suggested.ts'

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
  delimiter: fc.constantFrom(',', ';', '\t', '|'),
  columns: fc.array(
    fc.record({
      header: fc.constantFrom('Ano', 'VALOR (R$)', 'a', 'a', 'Descrição', '', 'x y', 'Data'),
      cells: madeCells,
      nulls: fc.constantFrom('', '', '', '-', 'NA', '\\N'),
      nullAt: fc.uniqueArray(fc.nat({ max: rowsMade - 1 }), { maxLength: 5 }),
    }),
    { minLength: 2, maxLength: 5 },
  ),
  lineEnd: fc.constantFrom('\n', '\n', '\r\n', '\r'),
  encoding: fc.constantFrom('utf8', 'windows-1252'),
  blankAt: fc.option(fc.nat({ max: rowsMade })),
})

test('every suggestion gives the written values, or asks', async () => {
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
        cells.map((shifted, index) => (nullAt.includes(index) ? { text: nulls, value: null } : shifted)),
      )
      const records = Array.from({ length: rowsMade }, (_, n) =>
        made.map((cells) => cell(cells[n]?.text ?? '')).join(delimiter),
      )
      // There is nothing else to end a line within a value with.
      fc.pre(lineEnd !== '\r' || !records.some((record) => /[\r\n]/.test(record)))
      const lines = [columns.map(({ header }) => cell(header)).join(delimiter), ...records]
      if (blankAt !== null) lines.splice(blankAt + 1, 0, '')
      const text = `${lines.join(lineEnd)}${lineEnd}`
      const bytes = encoding === 'utf8' ? Buffer.from(text) : iconv.encode(text, encoding)
      // Excludes characters missing in the encoding, and lines of a single null.
      fc.pre(encoding === 'utf8' || iconv.decode(bytes, encoding) === text)
      const { entry } = await entryOf(bytes)
      const came = await ingested(bytes)
      const due = Array.from({ length: rowsMade }, (_, n) =>
        made.map((cells, column) => {
          const { text: raw = '', value: dueCells = null } = cells[n] ?? {}
          const { type = '', nulls = entry.source?.nulls ?? [''] } = entry.fields[column] ?? {}
          const { trim = false } = { ...entry.source, ...entry.fields[column] } as { trim?: boolean }
          const read = trim ? raw.trim() : raw
          typed += Number(!['string', 'text'].includes(type))
          if (!['string', 'text'].includes(type)) return dueCells
          return nulls.includes(read) ? null : read
        }),
      ).filter((_, n) => !isNoRow(made.map((cells) => cells[n]?.text ?? '')))
      expect(came).toEqual(cameAs(...due))
    }),
    { numRuns: runsOf('SUGGESTED'), seed },
  )
  // A suggestion that always asks would pass as well. Two files may have texts alone.
  const runs = runsOf('SUGGESTED')
  expect(typed).toBeGreaterThan(runs < 6 ? -1 : rowsMade * runs * 0.5)
}, 3_600_000)
