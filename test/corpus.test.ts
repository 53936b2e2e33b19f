import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'yaml'
import { silentProgress } from '../ingest/base/progress.ts'
import { suggest, suggestionText } from '../ingest/suggest/suggest.ts'
import { whatCame, type Declaration } from './ingest/support/declared.ts'
import { placed, temporaryFolder } from './support/workshop.ts'
import { isQuick } from './support/runs.ts'

const corpus = path.resolve('test/corpus')

/** Reads a folder of the corpus; see its README. */
async function read(name: string) {
  const folder = path.join(corpus, name)
  const inside = await readdir(path.join(folder, 'files'), { recursive: true, withFileTypes: true })
  const files: Record<string, Buffer> = {}
  for (const entry of inside.filter((item) => item.isFile())) {
    const place = path.join(entry.parentPath, entry.name)
    files[path.relative(path.join(folder, 'files'), place)] = await readFile(place)
  }
  const table = parse(await readFile(path.join(folder, 'table.yaml'), 'utf8')) as Declaration
  const open = await readFile(path.join(folder, 'open.md'), 'utf8').catch(() => null)
  const rows = JSON.parse(await readFile(path.join(folder, 'rows.json'), 'utf8')) as unknown[][]
  return { folder, files, table, rows, open }
}

const names = (await readdir(corpus, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .filter((_, index) => !isQuick || index % 6 === 0)

/** Without `files`, sources have the name of the table. */
const placedAs = (files: Record<string, Buffer>, { source }: Declaration): Record<string, Buffer> =>
  source !== undefined && 'files' in source
    ? files
    : Object.fromEntries(
        Object.entries(files).map(([name, bytes]) => [name === 't.csv' ? 'd/t.csv' : name, bytes]),
      )

/** The value that is due, its digits, or the text that it was. */
const isRight = (value: unknown, due: unknown): boolean =>
  typeof value === 'string' || JSON.stringify(value) === JSON.stringify(due) || String(value) === due

describe.each(names.map((name) => [name]))('%s', (name) => {
  test('is read as declared', async () => {
    const { files, table, rows } = await read(name)
    const came = await whatCame(table, placedAs(files, table))
    expect('rows' in came ? came.rows : came).toEqual(rows)
  })

  test('gets a suggestion whose values are right or kept as texts', async () => {
    const { folder, files, table, rows, open } = await read(name)
    const given = Object.keys(files).toSorted()
    const papers = await Promise.all(
      given.map(async (file) => {
        const place = path.join(folder, 'files', file)
        return placed(place, file, (await stat(place)).size)
      }),
    )
    const suggestion = await suggest(papers, {
      scratch: await temporaryFolder(),
      limits: { unpackedBytesMax: 1e9 },
      progress: silentProgress,
      source: given.length === 1 ? {} : { files: given },
    })
    const text = suggestionText(suggestion)
    const [entry] = parse(text) as [Declaration]
    const came = await whatCame({ ...entry, name: 't' }, placedAs(files, entry))
    if (!('rows' in came)) throw new Error(`what is suggested is refused: ${JSON.stringify(came)}\n${text}`)
    const fields = entry.fields.length
    const wrong = came.rows.flatMap((row, index) =>
      row.flatMap((value, at) => {
        const due = rows[index]?.[at + (rows[index].length - fields)]
        return isRight(value, due) ? [] : [[value, due]]
      }),
    )
    expect([name, open === null ? wrong : [], text]).toEqual([name, [], text])
    expect(table.fields.length).toBeGreaterThanOrEqual(fields)
  })
})
