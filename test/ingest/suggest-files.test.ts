import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { silentProgress } from '../../ingest/base/progress.ts'
import { suggest, suggestionText } from '../../ingest/suggest/suggest.ts'
import { placed, temporaryFolder } from '../support/workshop.ts'

/** Returns the suggestion for several files together. */
async function suggested(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await temporaryFolder()
  const answers = []
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(folder, name), text)
    answers.push(placed(path.join(folder, name), name, Buffer.byteLength(text)))
  }
  const suggestion = await suggest(answers, {
    scratch: await temporaryFolder(),
    limits: { unpackedBytesMax: 1e9 },
    progress: silentProgress,
    source: { files: Object.keys(files) },
  })
  return suggestionText(suggestion)
}

const fieldsOf = (text: string): unknown =>
  (parse(text) as [{ fields: unknown; source: unknown }]).map(({ fields, source }) => ({ fields, source }))

test('files with other columns, or in another order, are joined by their names', async () => {
  const text = await suggested({
    'a.csv': 'when,city\n2020-01-02,Rio\n',
    'b.csv': 'city,people,when\nJaú,5,2020-01-03\nIlhéus,7,2020-01-04\n',
    'c.csv': 'city,when,people\nItu,2020-02-01,1.5\n',
  })
  expect(text).toContain(
    '# the files have different columns, or the same ones in another order: missing columns are null (union_by_name)\n',
  )
  expect(fieldsOf(text)).toEqual([
    {
      source: { files: ['a.csv', 'b.csv', 'c.csv'], union_by_name: true },
      fields: [
        { name: 'when', type: 'date' },
        { name: 'city', type: 'string' },
        { name: 'people', type: 'decimal', scale: 1 },
      ],
    },
  ])
})

test('several files are refused if the header of one of them repeats a name', async () => {
  await expect(suggested({ 'a.csv': 'n,m\n1,2\n', 'b.csv': 'n,n\n1,2\n' })).rejects.toThrow(/appears twice/)
})

test.each<[names: string[], advice: string | null]>([
  [['yob1880.csv', 'yob1881.csv'], 'source.from_name: "yob{year}.csv" and a field "year"'],
  [['v2_1.csv', 'v2_10.csv'], 'source.from_name: "v2_{part}.csv" and a field "part"'],
  [['a1.csv', 'b1.csv'], null],
  [['a1.csv', 'a1x.csv'], null],
  [['one.csv', 'two.csv'], null],
])('a number that varies in the names of files is proposed as a field: %j', async (names, expected) => {
  const text = await suggested(Object.fromEntries(names.map((name) => [name, 'n,m\n1,2\n'])))
  const advice = /source\.from_name: .*(?= add it to each row)/.exec(text)?.[0] ?? null
  expect(advice).toBe(expected)
})
