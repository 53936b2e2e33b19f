import fc from 'fast-check'

/** Dialect of a table's files. */
export interface Dialect {
  readonly columns: number
  readonly delimiter: string
  /** As the catalog declares it. */
  readonly quote: '"' | "'" | 'none'
}

/** A file as a writer of CSV has it in mind. */
export interface WrittenFile {
  /** Values as they are meant, the empty text where there is none. */
  readonly rows: readonly (readonly string[])[]
  readonly text: string
  readonly blankLines: number
  readonly isEnded: boolean
}

export const namesOf = ({ columns }: Dialect): string[] =>
  Array.from({ length: columns }, (_, index) => `c${index}`)

// Every character that some delimiter may be, what shapes lines and quotes, and what readers like to treat in a way of
// their own: comments, escapes, control characters, marks of byte order, white space that is none, other line ends.
const units = [
  ...Array.from(
    'aB0,;\t| :.-#^~/$""\'\n\n\réã€日😀\u{10FFFF}\u00A0\u0085\u2028\uFEFF\uFFFD\\\u0001\u001A\v\f\u007F',
  ),
  '\r\n',
  'e\u0301',
  '\\n',
  '\\"',
  '""',
  'NULL',
]
/** Arbitrary value of a cell. */
export const value = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  { weight: 12, arbitrary: fc.string({ unit: fc.constantFrom(...units), maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll('\0', '')),
  },
  { weight: 1, arbitrary: fc.nat({ max: 5000 }).map((length) => 'é"\n'.repeat(length / 3)) },
)

export const dialect: fc.Arbitrary<Dialect> = fc
  .record({
    columns: fc.integer({ min: 1, max: 5 }),
    delimiter: fc.constantFrom(
      ',',
      ';',
      '\t',
      '|',
      ' ',
      ':',
      '.',
      '-',
      '#',
      '^',
      "'",
      '~',
      '_',
      '/',
      '$',
      '{',
      '!',
      '@',
      '=',
    ),
    quote: fc.constantFrom('"', '"', "'", 'none'),
  })
  .filter(({ delimiter, quote }) => delimiter !== quote)

const style = fc.record({
  lineEnd: fc.constantFrom('\n', '\r\n', 'both'),
  isEnded: fc.boolean(),
  quotes: fc.constantFrom('needed', 'always', 'some'),
  hasBlankLines: fc.boolean(),
  // Choices of a style are taken from these, in turn.
  choices: fc.array(fc.boolean(), { minLength: 7, maxLength: 31 }),
})
type Style = typeof style extends fc.Arbitrary<infer T> ? T : never

/**
 * A valid file of a dialect, in any of the ways in which it may be written.
 * @param texts what values are made of
 * @param quotes when values are enclosed, where that is not left open
 */
export function fileOf(form: Dialect, texts = value, quotes?: Style['quotes']): fc.Arbitrary<WrittenFile> {
  const row = fc.array(texts, { minLength: form.columns, maxLength: form.columns })
  return fc
    .tuple(
      fc.array(
        row.filter((cells) => form.columns === 1 || !isNoRow(cells.map(possible(form)))),
        { maxLength: 6 },
      ),
      style,
    )
    .map(([values, how]) =>
      write(
        form,
        values.map((cells) => cells.map(possible(form))),
        { ...how, quotes: quotes ?? how.quotes },
      ),
    )
}

/** Returns whether a record of several columns is empty, or a rule such as `--,--`, and so left out. */
export function isNoRow(values: readonly (string | null)[]): boolean {
  const texts = values.map((text) => (text ?? '').replaceAll(/^[ \t]+|[ \t]+$/g, ''))
  return texts.every(
    (text) => text === '' || text === '\u001a' || /^:?([-=_~*+])\1+:?$|^[-+]{3,}$/.test(text),
  )
}

/** Without quotes there are texts that cannot be written. */
function possible({ delimiter, quote }: Dialect): (text: string) => string {
  return (text) => (quote === 'none' ? text.replaceAll(/[\r\n]/g, '').replaceAll(delimiter, '') : text)
}

function write(form: Dialect, rows: readonly (readonly string[])[], how: Style): WrittenFile {
  let at = 0
  const choose = (): boolean => how.choices[at++ % how.choices.length] === true
  const lineEnd = (): string => (how.lineEnd === 'both' ? (choose() ? '\n' : '\r\n') : how.lineEnd)
  let [text, blankLines] = ['', 0]
  // In a file of one column a blank line is a row.
  const blank = (): void => {
    if (!how.hasBlankLines || form.columns === 1 || !choose()) return
    text += lineEnd()
    blankLines += 1
  }
  const lines = [namesOf(form), ...rows].map((values) =>
    values.map((item) => cell(item, form, how.quotes === 'always' || (how.quotes === 'some' && choose()))),
  )
  // Nothing at the end would be no row.
  const isEnded = how.isEnded || lines.at(-1)?.join('') === ''
  for (const [index, line] of lines.entries()) {
    blank()
    text += line.join(form.delimiter)
    if (isEnded || index < lines.length - 1) text += lineEnd()
  }
  if (isEnded) blank()
  return { rows, text, blankLines, isEnded }
}

function cell(text: string, { delimiter, quote }: Dialect, always: boolean): string {
  if (quote === 'none') return text
  const needed = [delimiter, quote, '\r', '\n'].some((character) => text.includes(character))
  return needed || always ? quote + text.replaceAll(quote, quote + quote) + quote : text
}

/** Damage done to the bytes of a file, as `at` of its length and what is done there. */
export type Damage = readonly [
  at: number,
  kind: 'flip' | 'cut' | 'remove' | 'repeat' | 'insert' | 'swap',
  length: number,
]

export const damages: fc.Arbitrary<readonly Damage[]> = fc.array(
  fc.tuple(
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constantFrom('flip', 'flip', 'cut', 'remove', 'repeat', 'insert', 'insert', 'insert', 'swap' as const),
    fc.nat({ max: 1000 }),
  ),
  { minLength: 1, maxLength: 3 },
)

export function damaged(text: string, { delimiter, quote }: Dialect, damageList: readonly Damage[]): Buffer {
  const inserts = [
    quote,
    delimiter,
    '\r',
    '\n',
    '\r\n',
    '\0',
    '\\',
    ' ',
    '\uFEFF',
    'x',
    '#',
    quote + delimiter,
    '\n\n',
  ]
  const bytesInserted = [
    ...inserts.map((insert) => Buffer.from(insert)),
    Buffer.from([0xff]),
    Buffer.from([0xc3]),
    Buffer.from([0xed, 0xa0]),
  ]
  let bytes = Buffer.from(text)
  for (const [share, kind, inserted] of damageList) {
    const at = Math.floor(share * bytes.length)
    const length = 1 + (inserted % 5)
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
    const piece = after.subarray(0, length)
    const rest = after.subarray(length)
    if (kind === 'flip')
      bytes = Buffer.concat([
        before,
        piece.map((byte, index) => (index === 0 ? byte ^ (1 << (inserted % 8)) : byte)),
        rest,
      ])
    else if (kind === 'cut') bytes = Buffer.from(before)
    else if (kind === 'remove') bytes = Buffer.concat([before, rest])
    else if (kind === 'repeat') bytes = Buffer.concat([before, piece, after])
    else if (kind === 'insert')
      bytes = Buffer.concat([before, bytesInserted[inserted % bytesInserted.length] ?? piece, after])
    else bytes = Buffer.concat([before, piece.toReversed(), rest])
  }
  return bytes
}
