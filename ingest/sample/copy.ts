import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { messageOf, StartError } from '../../core/errors.ts'
import { findFiles } from '../source/find.ts'

const samples = fileURLToPath(new URL('../../../samples', import.meta.url))

export async function hasSources(folder: string): Promise<boolean> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.some((name) => /\.csv(\.\w+)?$/.test(name))
}

export async function sampleIds(): Promise<string[]> {
  const names = await readdir(samples, { recursive: true })
  return names.flatMap((name) => (name.endsWith('.csv') ? name.slice(0, -'.csv'.length) : [])).toSorted()
}

/** Tables with a sample, unless the catalog names their files. */
export async function sampledTables(tables: readonly Table[]): Promise<Table[]> {
  const ids = new Set(await sampleIds())
  return tables.filter((table) => table.source.files === null && ids.has(tableId(table)))
}

/**
 * @param tables as `sampledTables` returns them
 * @throws StartError before anything is written, if a table has another source
 */
export async function copySamples(folder: string, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await requireNoOtherSource(folder, table)
  for (const table of tables) {
    const target = path.join(folder, sampleName(table))
    const draft = target.replace(/\.csv$/, '.draft')
    await copyFile(path.join(samples, sampleName(table)), draft)
    await rename(draft, target)
  }
}

function sampleName(table: Table): string {
  return `${tableId(table)}.csv`
}

/**
 * Requires that the table has no other source, and creates the folder of the sample.
 * @throws StartError if the table has other files, or the sample cannot be written
 */
async function requireNoOtherSource(folder: string, table: Table): Promise<void> {
  const target = path.join(folder, sampleName(table))
  const sample = await readFile(path.join(samples, sampleName(table)))
  try {
    for (const place of await findFiles(folder, table)) {
      if (place.kind !== 'here') continue
      const isSample = place.namedPath === target && sample.equals(await readFile(place.path))
      if (!isSample)
        throw new StartError(
          `${place.namedPath} exists, and is not the sample of ${tableId(table)}: move it, or set SOURCES to another folder`,
        )
    }
    await mkdir(path.dirname(target), { recursive: true })
    // Fails for a folder of this name.
    if (existsSync(target)) await readFile(target)
  } catch (cause) {
    if (cause instanceof StartError) throw cause
    throw new StartError(`cannot copy the sample of ${tableId(table)}: ${messageOf(cause)}`, { cause })
  }
}
