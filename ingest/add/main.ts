import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Catalog, Dataset } from '../../core/catalog/catalog.ts'
import { readCatalogFiles, type CatalogFile } from '../../core/catalog/catalog-files.ts'
import { parseCatalogFiles } from '../../core/catalog/load.ts'
import { holdsDataset, addTable } from '../../core/catalog/add-table.ts'
import { StartError } from '../../core/errors.ts'
import { readSettings, type Settings } from '../../core/settings/read.ts'
import { TemporaryFolder } from '../base/temporary-folder.ts'
import { Board } from '../base/progress.ts'
import { namedFiles, startErrorOf } from '../source/named-files.ts'
import { hasQuestions, noticeLines } from '../suggest/notices.ts'
import { fitOf, suggest } from '../suggest/suggest.ts'
import { entryChangesFor } from './changes.ts'
import { namesOf, titled, type Names } from './names.ts'
import { copiesOf, place, placingOf, requireNewFile, removeCopies } from './placing.ts'

/** Exit code that shells have for SIGINT. */
export const stoppedCode = 130

interface AddFlags {
  readonly dataset?: string
  readonly table?: string
  readonly member?: string
  readonly publish?: boolean
  readonly keepEntry?: boolean
}

/**
 * Suggests an entry for files, writes it into the catalog, and ingests it. After a failure, marks the entry
 * as not published; after a stop, restores the catalog.
 * @returns exit code: 0 if the table is published, or only the entry was requested, `stoppedCode` after a
 * signal, else 1
 */
export async function runAdd(inputs: readonly string[], options: AddFlags): Promise<number> {
  const [first = ''] = inputs
  const stop = new AbortController()
  const abort = (): void => stop.abort()
  const settings = readSettings(process.env)
  if (!existsSync(settings.catalog))
    throw new StartError(`there is no catalog ${settings.catalog}: \`acervo init\` writes one`)
  const files = await readCatalogFiles(settings.catalog)
  const catalog = parseCatalogFiles(files)
  const folder = await TemporaryFolder.open('acervo-add-')
  const scratch = folder.path
  const progress = new Board(process.stderr, Date.now, 1500).progress(first)
  // Prints a line before long work, unless a terminal shows progress.
  if (!process.stderr.isTTY) progress.log(`reading ${first}`)
  try {
    const inputFiles = await namedFiles(inputs, scratch, settings, progress)
    const names = namesOf(inputFiles, { dataset: options.dataset, table: options.table })
    const existing = catalog.datasets.get(names.dataset)?.tables.get(names.table)
    if (existing === undefined && (options.dataset === undefined || options.table === undefined))
      await requireNewFile(catalog, inputFiles.files, settings.sources)
    const isPlaced = inputFiles.source.files !== undefined
    const placing =
      isPlaced || existing !== undefined ? null : placingOf(inputFiles.files, names, settings.sources)
    const suggestion = await suggest(inputFiles.files, {
      scratch,
      progress,
      limits: settings,
      source: {
        ...inputFiles.source,
        ...(options.member !== undefined && { member: options.member }),
        ...(placing !== null && placing.files !== null && { files: placing.files }),
      },
      name: names.table,
    })
    const trial = { scratch, progress, limits: settings }
    const existingFit = existing && { table: existing, fit: await fitOf(inputFiles.files, existing, trial) }
    progress.end()
    for (const line of noticeLines(suggestion)) console.log(line)
    if (existingFit !== undefined) {
      const [copy] = isPlaced ? [] : copiesOf(inputFiles.files, names, settings.sources)
      throw new StartError(entryChangesFor(existingFit.table, suggestion, existingFit.fit, copy?.to ?? null))
    }
    const { file, before, after, marked, dataset } = withEntry(files, catalog, suggestion.entry, names)
    // On a signal, the program undoes the following changes before it ends.
    folder.ignoreSignals()
    process.on('SIGINT', abort).on('SIGTERM', abort)
    if (placing !== null) await place(placing)
    await replaced(file, after)
    const id = `${names.dataset}/${names.table}`
    if (suggestion.refusal !== null) console.error(`${id}: REFUSED, ${suggestion.refusal}`)
    if (options.publish === false) {
      console.log(`${id} is in ${file}; \`acervo ingest ${id}\` publishes it`)
      return 0
    }
    if (suggestion.refusal !== null || !(await runIngestProgram([id], stop.signal))) {
      if (!stop.signal.aborted && options.keepEntry !== false) {
        console.error(
          `${id} is in ${file}, marked as not published: change its entry or its file, and \`acervo ingest ${id}\` publishes it`,
        )
        await replaced(file, marked)
        return 1
      }
      await replaced(file, before)
      if (placing !== null) await removeCopies(placing)
      console.error(`${file} was not changed; \`acervo suggest\` shows the entry that was tried`)
      return stop.signal.aborted ? stoppedCode : 1
    }
    console.log(
      `${id} is in ${file}; \`acervo serve\` serves it (a running server loads it within seconds) at`,
    )
    for (const address of addressesOf(id, catalog, settings)) console.log(`  ${address}`)
    if (hasQuestions(suggestion))
      console.log(
        `questions are open: answer them in ${file}, and \`acervo ingest --accept-drift ${id}\` publishes the table anew`,
      )
    const missingKeys = missingOf(dataset)
    if (missingKeys.length > 0)
      console.log(`the dataset "${names.dataset}" has no ${missingKeys.join(', ')} yet: add them to ${file}`)
    return 0
  } catch (error) {
    progress.end()
    throw startErrorOf(error, first)
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort)
    await folder.remove()
  }
}

/**
 * Returns the entry's file, with its text before, after, and with the entry marked as not published. Throws
 * if the catalog would become invalid.
 */
function withEntry(files: readonly CatalogFile[], catalog: Catalog, entry: string, names: Names) {
  const targetFile = files.find(({ text }) => holdsDataset(text, names.dataset)) ?? files[0]
  if (targetFile === undefined) throw new RangeError('the catalog has no file')
  const { file, text: before } = targetFile
  const today = new Date().toISOString().slice(0, 10)
  const withTable = (table: string): string =>
    addTable(before, table, {
      dataset: names.dataset,
      title: titled(names.dataset),
      today,
      families: catalog.families.map(({ name }) => name),
    })
  const newText = withTable(entry)
  const markedText = withTable(
    entry.replace(/\n/, `\n  # not published on ${today}: correct this entry or the file\n`),
  )
  const changedCatalog = parseCatalogFiles(
    files.map((catalogFile) => (catalogFile === targetFile ? { file, text: newText } : catalogFile)),
  )
  return {
    file,
    before,
    after: newText,
    marked: markedText,
    dataset: changedCatalog.datasets.get(names.dataset),
  }
}

function missingOf(dataset: Dataset | undefined): string[] {
  if (dataset === undefined) return []
  const { author, source, license, codeUrl } = dataset
  return Object.entries({ author, source, license, code_url: codeUrl }).flatMap(([key, value]) =>
    value === null ? [key] : [],
  )
}

function addressesOf(id: string, { families }: Catalog, { publicUrl }: Settings): string[] {
  const base = publicUrl.href.replace(/\/$/, '')
  return [`${base}/en/dataset/${id}/`, `${base}${families[0]?.prefix ?? ''}/dataset/${id}/data/`]
}

async function replaced(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  await writeFile(next, text)
  await rename(next, file)
}

/**
 * Runs the ingest program, and waits for it even when stopped.
 * @returns whether it published all tables
 */
export async function runIngestProgram(ids: readonly string[], stop?: AbortSignal): Promise<boolean> {
  if (stop?.aborted === true) return false
  const program = fileURLToPath(new URL('../main.js', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, program, 'ingest', ...ids], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  stop?.addEventListener('abort', () => child.kill())
  const [code] = (await once(child, 'close')) as [number | null]
  return code === 0
}
