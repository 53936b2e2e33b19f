import { existsSync } from 'node:fs'
import { copyFile, mkdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { allTables, tableId, type Catalog } from '../../core/catalog/catalog.ts'
import { StartError } from '../../core/errors.ts'
import { hashOf } from '../../core/warehouse/hash.ts'
import type { PlacedFile } from '../source/member.ts'
import { packingOf } from '../source/packings.ts'
import type { Names } from './names.ts'

interface Placing {
  readonly copies: readonly { readonly from: string; readonly to: string }[]
  /** Text of the key `files` of the entry; null for the default location. */
  readonly files: string | null
}

/**
 * Plans copies to the default location of a table.
 * @throws StartError if a file exists there
 */
export function placingOf(files: readonly PlacedFile[], names: Names, sources: string): Placing {
  const copies = copiesOf(files, names, sources)
  const conflict = copies.find(({ to }) => existsSync(to))
  if (conflict !== undefined)
    throw new StartError(`${conflict.to} already exists: choose another TABLE, or remove the file`)
  return { copies, files: files.length === 1 ? null : `${names.dataset}/${names.table}/*` }
}

export function copiesOf(
  files: readonly PlacedFile[],
  { dataset, table }: Names,
  sources: string,
): Placing['copies'] {
  const isOne = files.length === 1
  return files.map((file) => ({
    from: file.path,
    to: isOne
      ? path.join(sources, dataset, `${table}.csv${packingOf(file.name)?.ending ?? ''}`)
      : path.join(sources, dataset, table, path.basename(file.name)),
  }))
}

/**
 * Refuses a file equal to one at the default path of another table, as when `add` is repeated. Several files are not
 * compared: a table has them in a folder.
 * @throws StartError
 */
export async function requireNewFile(
  catalog: Catalog,
  files: readonly PlacedFile[],
  sources: string,
): Promise<void> {
  const [file, ...furtherFiles] = files
  if (file === undefined || furtherFiles.length > 0) return
  const ending = packingOf(file.name)?.ending ?? ''
  for (const table of allTables(catalog)) {
    const defaultPath = path.join(sources, table.dataset, `${table.name}.csv${ending}`)
    const facts = await stat(defaultPath).catch(() => null)
    if (facts?.size !== file.bytes || (await hashOf(defaultPath)) !== (await hashOf(file.path))) continue
    throw new StartError(
      `${tableId(table)} already uses this file: change its entry in the catalog, or name the new table by DATASET and TABLE`,
    )
  }
}

export async function place({ copies }: Placing): Promise<void> {
  for (const { from, to } of copies) {
    await mkdir(path.dirname(to), { recursive: true })
    await copyFile(from, to)
    console.log(`${path.basename(from)} is copied to ${to}, which an ingest reads`)
  }
}

export async function removeCopies({ copies }: Placing): Promise<void> {
  for (const { to } of copies) await rm(to, { force: true })
}
