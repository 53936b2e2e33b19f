import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Catalog } from '../../core/catalog/catalog.ts'
import { readCatalogFiles } from '../../core/catalog/catalog-files.ts'
import { parseCatalogFiles } from '../../core/catalog/load.ts'
import { holdsDataset, withTable } from '../../core/catalog/with-table.ts'
import { codeOf, lastWords, messageOf, StartError } from '../../core/errors.ts'
import { readSettings, type Settings } from '../../core/settings/read.ts'
import { Board } from '../progress.ts'
import type { PlacedFile } from '../source/member.ts'
import { packingOf } from '../source/packings.ts'
import { filesOf, toldOf, type Given } from '../suggest/given.ts'
import { tableNameFor } from '../suggest/names.ts'
import { suggest } from '../suggest/suggest.ts'

const namePattern = /^[a-z0-9][a-z0-9_-]{0,99}$/

/**
 * `npm run add -- FILE... [--dataset=SLUG] [--table=NAME] [--member=PATTERN]`: suggests, writes the entry into the catalog, and
 * ingests; where that fails, the catalog is as it was.
 */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { dataset: { type: 'string' }, table: { type: 'string' }, member: { type: 'string' } },
    allowPositionals: true,
  })
  const [first] = positionals
  if (first === undefined)
    throw new StartError(
      'name a file, such as `make add FILE=rain.csv`, a pattern in quotes, an address, or -',
    )
  const settings = readSettings(process.env)
  const files = await readCatalogFiles(await requireCatalog(settings.catalog))
  const catalog = parseCatalogFiles(files)
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-add-'))
  const progress = new Board(process.stderr, Date.now, 1500).progress(first)
  try {
    const given = await filesOf(positionals, scratch, settings, progress)
    const names = namesOf(catalog, given, { dataset: values.dataset, table: values.table })
    const source = { ...given.source, ...(values.member !== undefined && { member: values.member }) }
    const usual = given.source.files === undefined ? await usualPlace(given.files, names, settings) : null
    const { entry, remarks } = await suggest(given.files, {
      scratch,
      progress,
      limits: settings,
      source: { ...source, ...(usual !== null && usual.files !== null && { files: usual.files }) },
      name: names.table,
    })
    progress.end()
    const holder = files.find(({ text }) => holdsDataset(text, names.dataset)) ?? files[0]
    if (holder === undefined) throw new RangeError('a catalog has a file')
    const { file, text: before } = holder
    const after = withTable(before, entry, {
      dataset: names.dataset,
      title: titled(names.dataset),
      today: new Date().toISOString().slice(0, 10),
      families: catalog.families.map(({ name }) => name),
    })
    parseCatalogFiles(files.map((one) => (one === holder ? { file, text: after } : one)))
    for (const [from, to] of usual?.copies ?? []) {
      await mkdir(path.dirname(to), { recursive: true })
      await copyFile(from, to)
      console.log(`${path.basename(to)} is put to ${to}`)
    }
    await replaced(file, after)
    const id = `${names.dataset}/${names.table}`
    if ((await ingested(id)) !== 0) {
      await replaced(file, before)
      for (const [, to] of usual?.copies ?? []) await rm(to)
      console.error(`${file} is as it was; \`make suggest\` shows the entry that was tried`)
      return 1
    }
    for (const line of remarks.filter((one) => / cannot be read|an ingest refuses/.test(one)))
      console.log(line)
    const asked = entry.split('\n').filter((line) => line.includes('# say what'))
    if (asked.length > 0) console.log(['is a text until you say what it is:', ...asked].join('\n'))
    const base = settings.publicUrl.href.replace(/\/$/, '')
    const [family] = catalog.families
    console.log(
      `${id} is in ${file}; \`make serve\` serves it (a server that runs takes it in some seconds) at`,
    )
    console.log(`  ${base}/en/dataset/${id}`)
    console.log(`  ${base}${family?.prefix ?? ''}/dataset/${id}/data/`)
    return 0
  } catch (error) {
    progress.end()
    throw toldOf(error, first)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function requireCatalog(file: string): Promise<string> {
  await stat(file).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
    throw new StartError(`there is no catalog ${file}: \`make init\` writes one`, { cause: error })
  })
  return file
}

interface Names {
  readonly dataset: string
  readonly table: string
}

/** What dataset and table are called: as they are asked for, or after the folder and the file. */
function namesOf(
  catalog: Catalog,
  { files, source }: Given,
  asked: { dataset: string | undefined; table: string | undefined },
): Names {
  const table = asked.table ?? tableNameFor(path.basename(files[0]?.name ?? ''))
  const [folder, ...inner] = typeof source.files === 'string' ? source.files.split('/') : []
  const isWeb = folder?.endsWith(':') === true
  const dataset = asked.dataset ?? (inner.length > 0 && !isWeb ? tableNameFor(folder ?? '') : table)
  for (const [what, name] of Object.entries({ DATASET: dataset, TABLE: table })) {
    if (!namePattern.test(name))
      throw new StartError(`${what} is "${name}", and must be lower-case letters, digits, - and _`)
  }
  if (catalog.datasets.get(dataset)?.tables.has(table) === true)
    throw new StartError(
      `${dataset}/${table} is in the catalog already: name another by TABLE, or change it there`,
    )
  return { dataset, table }
}

interface UsualPlace {
  readonly copies: readonly (readonly [from: string, to: string])[]
  /** What the catalog names them; null where it need not. */
  readonly files: string | null
}

/** Where files that lie elsewhere are put: below SOURCES, as their table is called. */
async function usualPlace(
  files: readonly PlacedFile[],
  { dataset, table }: Names,
  { sources }: Settings,
): Promise<UsualPlace> {
  const [first, ...others] = files
  if (first === undefined) return { copies: [], files: null }
  const copies =
    others.length === 0
      ? [
          [
            first.path,
            path.join(sources, dataset, `${table}.csv${packingOf(first.name)?.ending ?? ''}`),
          ] as const,
        ]
      : files.map(
          (file) => [file.path, path.join(sources, dataset, table, path.basename(file.name))] as const,
        )
  for (const [, to] of copies) {
    if (
      await stat(to).then(
        () => true,
        () => false,
      )
    )
      throw new StartError(`${to} is there already: name another TABLE, or take it away`)
  }
  return { copies, files: others.length === 0 ? null : `${dataset}/${table}/*` }
}

function titled(slug: string): string {
  const words = slug.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** In one step, so that no reader meets half of it. */
async function replaced(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  await writeFile(next, text)
  await rename(next, file)
}

/** @returns what the program of ingests ended with */
async function ingested(id: string): Promise<number> {
  const program = fileURLToPath(new URL('../main.js', import.meta.url))
  const child = spawn(process.execPath, ['--enable-source-maps', program, id], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { UV_THREADPOOL_SIZE: '16', ...process.env },
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? messageOf(error) : lastWords(error))
  process.exitCode = 1
}
