import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogVersion, readCatalogFiles } from '../../core/catalog/catalog-files.ts'
import { fieldTypeNames } from '../../core/catalog/field-types.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { messageOf } from '../../core/errors.ts'
import { temporaryFolder } from '../support/workshop.ts'

const party = "{ name: A, url: 'https://a.example/' }"
const dataset = (slug: string, tablesText = ''): string => `slug: ${slug}
name: ${slug}
description: of ${slug}
author: ${party}
source: ${party}
license: ${party}
code_url: https://a.example/
listed_in: [api]
collected_at: 2020-01-01
links: []
tables:
  - { name: t, order: [], fields: [{ name: x, type: integer }] }
${tablesText}`
const item = (text: string): string => `- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`

const main = (furtherKeys: string): string => `title: T
limits: { rows: [], catalog: [] }
families: { api: { prefix: /api/v1, scheme: public, trailing_slash: true } }
${furtherKeys}`

/** Says what comes of files, by their names. */
async function loaded(files: Readonly<Record<string, string>>): Promise<string[] | string> {
  const folder = await temporaryFolder()
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), text)
  }
  try {
    const catalog = await loadCatalog(path.join(folder, 'catalog.yaml'))
    return [...catalog.datasets.values()].map(({ slug, tables }) => `${slug} ${[...tables.keys()].join()}`)
  } catch (error) {
    return messageOf(error)
      .replaceAll(`${folder}/`, '')
      .replaceAll(/; known here:.*$/gm, '')
  }
}

test('datasets come from the catalog, and from the files that it includes, in the order of the file names', async () => {
  await expect(
    loaded({
      'catalog.yaml': main(`include: [datasets/*.yaml, more/*/one.yaml]\ndatasets:\n${item(dataset('own'))}`),
      'datasets/b.yaml': dataset('b'),
      'datasets/a.yaml': `${item(dataset('a2'))}${item(dataset('a1'))}`,
      'datasets/.hidden.yaml': 'none',
      'datasets/note.txt': 'none',
      'more/x/one.yaml': dataset('x'),
      'more/y/two.yaml': 'none',
    }),
  ).resolves.toEqual(['own t', 'a2 t', 'a1 t', 'b t', 'x t'])
})

test('a catalog may include all of its datasets, but an include pattern without a match is a fault', async () => {
  const files = { 'catalog.yaml': main('include: d/*.yaml\n'), 'd/a.yaml': dataset('a') }
  await expect(loaded(files)).resolves.toEqual(['a t'])
  await expect(loaded({ 'catalog.yaml': main('include: d/*.yaml\n') })).resolves.toBe(
    'the catalog catalog.yaml includes d/*.yaml, which matches no file: correct the pattern, or add the file',
  )
})

test.each<[title: string, files: Record<string, string>, message: string]>([
  [
    'each fault with the file, the line and the column where it stands',
    {
      'catalog.yaml': main('include: d/*.yaml\ncolour: red\n'),
      'd/a.yaml': dataset('a', 'tabels: []\n'),
      'd/b.yaml': `${item(dataset('b'))}${item(dataset('a').replace('integer', 'int'))}`,
      'd/c.yaml': 'text',
      'd/d.yaml': 'slug: [a\n',
    },
    [
      'catalog.yaml has 2 errors:',
      'd/c.yaml:1:1: the file must hold a dataset, or a list of datasets',
      'd/d.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ].join('\n'),
  ],
  [
    'wrong keys, names and types in any file',
    {
      'catalog.yaml': main(`include: d/*.yaml\ncolour: red\ndatasets:\n${item(dataset('own', 'x: 1'))}`),
      'd/a.yaml': dataset('a', 'tabels: []\n'),
      'd/b.yaml': `${item(dataset('b'))}${item(dataset('a').replace('integer', 'int'))}`,
    },
    [
      'catalog.yaml has 5 errors:',
      'catalog.yaml:5:1: unknown key "colour" (did you mean "colours"?)',
      'catalog.yaml:19:3: unknown key "x"',
      'd/a.yaml:13:1: unknown key "tabels" (did you mean "tables"?)',
      'd/b.yaml:13:9: dataset slug "a" appears twice: each must be unique',
      `d/b.yaml:24:55: "type" is "int", which is not one of ${fieldTypeNames.join(', ')}`,
    ].join('\n'),
  ],
  [
    'a file that is not there',
    { 'catalog.yaml': main('include: d/a.yaml\n') },
    'the catalog catalog.yaml includes d/a.yaml, which matches no file: correct the pattern, or add the file',
  ],
  ...['/etc/*.yaml', '../x.yaml', 'a/../../x.yaml', './a.yaml', 'a//b.yaml'].map(
    (pattern): [string, Record<string, string>, string] => [
      `a path that is not below the folder of the catalog: ${pattern}`,
      { 'catalog.yaml': main(`include: ${pattern}\ndatasets: []\n`) },
      `catalog.yaml has an error:\ncatalog.yaml:4:10: "include" is "${pattern}", and must be a path below the folder of the catalog, such as datasets/*.yaml`,
    ],
  ),
])('the loader reports %s', async (_what, files, message) => {
  await expect(loaded(files)).resolves.toBe(message)
})

test('a file that is not UTF-8 is refused with its line', async () => {
  const folder = await temporaryFolder()
  const file = path.join(folder, 'catalog.yaml')
  await writeFile(file, Buffer.from(main('# Educação\ndatasets: []\n'), 'latin1'))
  await expect(readCatalogFiles(file)).rejects.toThrow(
    `${file}:4: some letters are not UTF-8: save the file as UTF-8`,
  )
})

test('a catalog has another version after any change of one of its files, and only then', async () => {
  const folder = await temporaryFolder()
  const file = path.join(folder, 'catalog.yaml')
  const [first, two] = [path.join(folder, 'one.data.yaml'), path.join(folder, 'two.data.yaml')]
  await writeFile(file, main(`include: ['*.data.yaml']\ndatasets: []\n`))
  await writeFile(first, dataset('one'))
  const versions = [await catalogVersion(file)]
  expect(await catalogVersion(file)).toBe(versions[0])
  const changes = [
    () => writeFile(file, main(`include: ['*.data.yaml']\ndatasets:  []`)),
    async () => {
      await writeFile(first, dataset('eno'))
      await utimes(first, new Date(0), new Date(0))
    },
    () => utimes(first, new Date(1000), new Date(1000)),
    () => writeFile(two, dataset('two')),
    () => rm(first),
  ]
  for (const change of changes) {
    await change()
    versions.push(await catalogVersion(file))
  }
  expect(new Set(versions).size).toBe(1 + changes.length)
  await writeFile(path.join(folder, 'another.yaml'), dataset('another'))
  expect(await catalogVersion(file)).toBe(versions.at(-1))
})
