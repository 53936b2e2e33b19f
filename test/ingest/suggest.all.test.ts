import iconv from 'iconv-lite'
import { entryOf } from './support/suggested.ts'

/** Files of several megabytes, of which suggestions first see a sample. */

test('a suggestion notices late changes in a file: other kinds of values, more digits, another encoding', async () => {
  // More than the sample of 4 MiB from which columns are detected.
  const rowsBefore = 400_000
  const many = Array.from(
    { length: rowsBefore },
    (_, n) => `${n},${n}.5,2020-01-0${1 + (n % 9)},some text to fill the file`,
  )
  const late = ['x,1.12345,03/02/2020,São Paulo', 'y,2,13/02/2020,b']
  const content = `a,b,c,d\n${[...many, ...late].join('\n')}\n`
  const { output, entry } = await entryOf(iconv.encode(content, 'latin1'))
  expect(entry.fields).toEqual([
    { name: 'a', type: 'string' },
    { name: 'b', type: 'decimal', scale: 5 },
    { name: 'c', type: 'date' },
    { name: 'd', type: 'string' },
  ])
  expect(entry.source).toEqual({ encoding: 'latin-1', date: ['yyyy-mm-dd', 'dd/mm/yyyy'] })
  expect(output).toContain(
    `all but 2 of ${(rowsBefore + 2).toLocaleString('en')} are whole numbers; the others: "x" (line ${rowsBefore + 2}), "y" (line ${rowsBefore + 3})`,
  )
  expect(output).toContain('it is not UTF-8, and the lack of bytes from 0x80 to 0x9f suggests latin-1')
}, 60_000)

test('a single invalid byte does not change the suggested encoding of a UTF-8 file', async () => {
  // More than the sample of 4 MiB from which the encoding is detected.
  const rowsBefore = 200_000
  const rows = Array.from({ length: rowsBefore }, (_, n) => `${n},São Paulo e mais\n`)
  const { output, entry } = await entryOf(
    Buffer.concat([Buffer.from(`a,b\n${rows.join('')}`), Buffer.from('7,S\u00e3o\n', 'latin1')]),
  )
  expect(entry.source).toBeUndefined()
  expect(output).toContain(`a row cannot be read: line ${rowsBefore + 2}: the byte 0xe3 is not UTF-8`)
})
