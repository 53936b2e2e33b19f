import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Catalog, Dataset } from '../../core/catalog/catalog.ts'
import { readCatalogFiles, type CatalogFile } from '../../core/catalog/catalog-files.ts'
import { parseCatalogFiles } from '../../core/catalog/load.ts'
import { holdsDataset, addTable } from '../../core/catalog/add-table.ts'
import { StartError } from '../../core/errors.ts'
import { readSettings, type Settings } from '../../core/settings/read.ts'
import { Board } from '../base/progress.ts'
import { namedFiles, startErrorOf } from '../source/named-files.ts'
import { noticeLines } from '../suggest/notices.ts'
import { suggest } from '../suggest/suggest.ts'
import { changesFor } from './changes.ts'
import { namesOf, titled, type Names } from './names.ts'
import { copiesOf, place, placingOf, requireNewFile, removeCopies } from './placing.ts'
import { runProgram } from '../base/program.ts'

/**
 * `npm run add -- FILE... [--dataset=SLUG] [--table=NAME] [--member=PATTERN]`: suggests a catalog entry,
 * writes it
 * into the catalog, and ingests the table. After a failure or a stop, it restores the catalog.
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
  if (!existsSync(settings.catalog))
    throw new StartError(`there is no catalog ${settings.catalog}: \`make init\` writes one`)
  const files = await readCatalogFiles(settings.catalog)
  const catalog = parseCatalogFiles(files)
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-add-'))
  const progress = new Board(process.stderr, Date.now, 1500).progress(first)
  // Prints a line before long work, unless a terminal shows progress.
  if (!process.stderr.isTTY) progress.log(`reading ${first}`)
  try {
    const given = await namedFiles(positionals, scratch, settings, progress)
    const names = namesOf(given, { dataset: values.dataset, table: values.table })
    const known = catalog.datasets.get(names.dataset)?.tables.get(names.table)
    if (known === undefined && (values.dataset === undefined || values.table === undefined))
      await requireNewFile(catalog, given.files, settings.sources)
    const isPlaced = given.source.files !== undefined
    const placing = isPlaced || known !== undefined ? null : placingOf(given.files, names, settings.sources)
    const suggestion = await suggest(given.files, {
      scratch,
      progress,
      limits: settings,
      source: {
        ...given.source,
        ...(values.member !== undefined && { member: values.member }),
        ...(placing !== null && placing.files !== null && { files: placing.files }),
      },
      name: names.table,
    })
    progress.end()
    for (const line of noticeLines(suggestion)) console.log(line)
    if (known !== undefined) {
      const [copy] = isPlaced ? [] : copiesOf(given.files, names, settings.sources)
      throw new StartError(changesFor(known, suggestion, copy?.to ?? null))
    }
    const { file, before, after, dataset } = withEntry(files, catalog, suggestion.entry, names)
    // The following changes are undone after a failure or a stop, so signals must not end the program.
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
    if (placing !== null) await place(placing)
    await replaced(file, after)
    const id = `${names.dataset}/${names.table}`
    if (!(await isIngested(id, stop.signal))) {
      await replaced(file, before)
      if (placing !== null) await removeCopies(placing)
      console.error(`${file} was not changed; \`make suggest\` shows the entry that was tried`)
      return 1
    }
    console.log(`${id} is in ${file}; \`make serve\` serves it (a running server loads it within seconds) at`)
    for (const address of addressesOf(id, catalog, settings)) console.log(`  ${address}`)
    const missing = missingOf(dataset)
    if (missing.length > 0)
      console.log(`the dataset "${names.dataset}" has no ${missing.join(', ')} yet: add them to ${file}`)
    return 0
  } catch (error) {
    progress.end()
    throw startErrorOf(error, first)
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

/**
 * Returns the catalog file to which the entry belongs, with its text before and after the addition. Throws if
 * the whole catalog would become invalid.
 */
function withEntry(files: readonly CatalogFile[], catalog: Catalog, entry: string, names: Names) {
  const holder = files.find(({ text }) => holdsDataset(text, names.dataset)) ?? files[0]
  if (holder === undefined) throw new RangeError('the catalog has no file')
  const { file, text: before } = holder
  const after = addTable(before, entry, {
    dataset: names.dataset,
    title: titled(names.dataset),
    today: new Date().toISOString().slice(0, 10),
    families: catalog.families.map(({ name }) => name),
  })
  const changed = parseCatalogFiles(files.map((one) => (one === holder ? { file, text: after } : one)))
  return { file, before, after, dataset: changed.datasets.get(names.dataset) }
}

/** Returns keys of the dataset's origin that are missing. */
function missingOf(dataset: Dataset | undefined): string[] {
  if (dataset === undefined) return []
  const { author, source, license, codeUrl } = dataset
  return Object.entries({ author, source, license, code_url: codeUrl }).flatMap(([key, value]) =>
    value === null ? [key] : [],
  )
}

function addressesOf(id: string, { families }: Catalog, { publicUrl }: Settings): string[] {
  const base = publicUrl.href.replace(/\/$/, '')
  return [`${base}/en/dataset/${id}`, `${base}${families[0]?.prefix ?? ''}/dataset/${id}/data/`]
}

/** Replaces a file atomically. */
async function replaced(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  await writeFile(next, text)
  await rename(next, file)
}

/** Runs the ingest program, and waits for it even when stopped. Returns whether it published the table. */
async function isIngested(id: string, stop: AbortSignal): Promise<boolean> {
  if (stop.aborted) return false
  const program = fileURLToPath(new URL('../main.js', import.meta.url))
  const child = spawn(process.execPath, ['--enable-source-maps', program, id], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { UV_THREADPOOL_SIZE: '16', ...process.env },
  })
  stop.addEventListener('abort', () => child.kill())
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0
}

await runProgram(main)
