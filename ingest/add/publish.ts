import { existsSync } from 'node:fs'
import { copyFile, readdir } from 'node:fs/promises'
import path from 'node:path'
import { loadCatalog } from '../../core/catalog/load.ts'
import { messageOf, StartError } from '../../core/errors.ts'
import { readSettings, type Settings } from '../../core/settings/read.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import { runInit } from '../init/main.ts'
import { isWeb } from '../source/find.ts'
import { statReadable } from '../source/named-files.ts'
import { realPathWithin } from '../source/real-path.ts'
import { sourceEndings } from '../source/packings.ts'
import { tableNameFor } from '../suggest/names.ts'
import { runAdd, runIngestProgram, stoppedCode } from './main.ts'
import type { Names } from './names.ts'
import { copiesOf } from './placing.ts'

/**
 * Publishes files as tables of the project in the current folder, which it creates if needed. A file of a
 * known table replaces its source.
 * @param inputs CSV files, folders of CSV files, or web addresses
 * @returns true if at least one table is published; false after a stop
 */
export async function publishFiles(inputs: readonly string[]): Promise<boolean> {
  const settings = readSettings(process.env)
  if (!existsSync(settings.catalog)) await runInit()
  let publishedCount = 0
  for (const input of inputs) {
    for (const [file, names] of await tablesIn(input)) {
      try {
        // A link in a folder may name any file of this machine.
        if (file !== input) await realPathWithin(input, file, input)
        const code = await publishFile(file, names, settings)
        if (code === stoppedCode) return false
        if (code === 0) publishedCount += 1
      } catch (error) {
        if (inputs.length === 1 && file === input) throw error
        console.error(`${file} is not published: ${messageOf(error)}`)
      }
    }
  }
  return publishedCount > 0
}

const tableOf = (file: string): string => tableNameFor(path.basename(file))

async function tablesIn(input: string): Promise<[file: string, names: Names][]> {
  if (isWeb(input)) {
    const table = tableOf(new URL(input).pathname)
    return [[input, { dataset: table, table }]]
  }
  if (!(await statReadable(input)).isDirectory())
    return [[input, { dataset: tableOf(input), table: tableOf(input) }]]
  const dataset = tableNameFor(path.basename(path.resolve(input)))
  const names = (await readdir(input)).filter((name) => sourceEndings.some((ending) => name.endsWith(ending)))
  if (names.length === 0)
    throw new StartError(
      `there is no CSV file in ${input}: name a file, or a folder with ${sourceEndings.join(', ')}`,
    )
  return names.toSorted().map((name) => [path.join(input, name), { dataset, table: tableOf(name) }])
}

async function publishFile(file: string, names: Names, settings: Settings): Promise<number> {
  const catalog = await loadCatalog(settings.catalog)
  const isKnown = catalog.datasets.get(names.dataset)?.tables.has(names.table) === true
  if (!isKnown) return runAdd([file], { ...names, keepEntry: false })
  if (!isWeb(file)) await replaceSource(file, names, settings)
  return (await runIngestProgram([`${names.dataset}/${names.table}`])) ? 0 : 1
}

async function replaceSource(file: string, names: Names, { sources }: Settings): Promise<void> {
  const { size } = await statReadable(file)
  const place = { path: file, name: path.basename(file), bytes: size, place: file, constants: new Map() }
  const [copy] = copiesOf([place], names, sources)
  if (copy === undefined || path.resolve(copy.to) === path.resolve(file)) return
  if (existsSync(copy.to) && (await hashOf(copy.to)) === (await hashOf(file))) return
  await copyFile(file, copy.to)
  console.log(`${file} replaces ${copy.to}`)
}
