import { copyFile, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { tableId, type Table } from '../../core/catalog/catalog.ts'
import { StartError } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'
import { findFiles } from '../source/find.ts'

/** Folder of the samples: `<dataset>/<table>.csv`, with invented rows. */
const samples = fileURLToPath(new URL('../../../samples', import.meta.url))

/** Returns whether a folder contains a possible source. */
export async function hasSources(folder: string): Promise<boolean> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  return names.some((name) => /\.csv(\.\w+)?$/.test(name))
}

/** Returns the ids of the tables that have a sample. */
export async function sampleIds(): Promise<ReadonlySet<string>> {
  const names = await readdir(samples, { recursive: true })
  return new Set(names.flatMap((name) => (name.endsWith('.csv') ? name.slice(0, -'.csv'.length) : [])))
}

/**
 * Copies samples into the folder of sources.
 * @param tables tables that have a sample
 * @throws StartError before anything is written, if a table has another source
 */
export async function copySamples(folder: string, tables: readonly Table[]): Promise<void> {
  for (const table of tables) await requireNoOther(folder, table)
  for (const table of tables) {
    const target = path.join(folder, sampleName(table))
    await mkdir(path.dirname(target), { recursive: true })
    await copyFile(path.join(samples, sampleName(table)), `${target}.draft`)
    await rename(`${target}.draft`, target)
  }
}

function sampleName(table: Table): string {
  return `${tableId(table)}.csv`
}

async function requireNoOther(folder: string, table: Table): Promise<void> {
  for (const place of await findFiles(folder, table).catch(asStartError)) {
    if (place.kind !== 'here') continue
    const isSample = place.namedPath === path.join(folder, sampleName(table))
    const sample = await readFile(path.join(samples, sampleName(table)))
    if (isSample && sample.equals(await readFile(place.path))) continue
    throw new StartError(
      `${place.namedPath} is not the sample of ${tableId(table)}, which would replace it: move it, or set SOURCES to another folder`,
    )
  }
}

function asStartError(error: unknown): never {
  throw error instanceof TableFailure ? new StartError(error.message, { cause: error }) : error
}
