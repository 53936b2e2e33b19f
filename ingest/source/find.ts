import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Table } from '../../core/catalog/catalog.ts'
import { tableId } from '../../core/catalog/catalog.ts'
import { codeOf } from '../../core/errors.ts'
import { TableFailure } from '../rejects.ts'
import type { PackedFile } from './member.ts'
import { matches } from './pattern.ts'
import { sourceEndings } from './packings.ts'
import { placeWithin } from './within.ts'

/** A file under SOURCES, to be read from where it really lies, whatever becomes of a link meanwhile. */
interface FileHere extends PackedFile {
  /** Where it is named to lie. */
  readonly namedPath: string
}

/** Where a file of a source lies. */
export type SourceFile =
  | ({ readonly kind: 'here' } & FileHere)
  /** `addresses` are tried in turn until one is there. */
  | { readonly kind: 'web'; readonly addresses: readonly URL[] }
  /** Named, but not there. */
  | { readonly kind: 'nowhere'; readonly path: string }

/** Whether files of sources are named by web addresses. */
export function isWeb(sources: string): boolean {
  return /^https?:\/\//i.test(sources)
}

/**
 * The files of a table's source in the order in which their rows follow each other; none where there is no source.
 *
 * @param sources a folder, or an http(s) address to which names are added
 * @throws TableFailure where two files could be meant, or a link leads outside of the folder
 */
export async function findFiles(sources: string, table: Table): Promise<SourceFile[]> {
  const { files } = table.source
  if (files === null) {
    const names = sourceEndings.map((ending) => tableId(table) + ending)
    return isWeb(sources)
      ? [{ kind: 'web', addresses: names.map((name) => addressOf(sources, name)) }]
      : usualFile(sources, names)
  }
  const places: SourceFile[] = []
  for (const file of files) places.push(...(await named(sources, file)))
  return places
}

/** What was looked for, in words. */
export function lookedFor(sources: string, table: Table): string {
  const names = table.source.files ?? [`${tableId(table)}.csv (or ${sourceEndings.slice(1).join(', ')})`]
  return names.map((name) => (isWeb(name) ? name : `${sources.replace(/\/$/, '')}/${name}`)).join(', ')
}

async function usualFile(sources: string, names: readonly string[]): Promise<SourceFile[]> {
  const found: FileHere[] = []
  for (const name of names) found.push(...(await fileAt(sources, path.join(sources, name))))
  if (found.length > 1) {
    throw new TableFailure(
      `both ${found.map((file) => file.namedPath).join(' and ')} exist: keep the one that is meant`,
    )
  }
  return found.map((file) => ({ kind: 'here', ...file }))
}

async function named(sources: string, file: string): Promise<SourceFile[]> {
  if (isWeb(file)) return [{ kind: 'web', addresses: [new URL(file)] }]
  if (isWeb(sources)) {
    if (file.includes('*')) {
      throw new TableFailure(`${file}: an address cannot be listed, so source.files must name each file`)
    }
    return [{ kind: 'web', addresses: [addressOf(sources, file)] }]
  }
  const paths = file.includes('*')
    ? await matchingFiles(sources, path.join(sources, file))
    : [path.join(sources, file)]
  if (paths.length === 0) return [{ kind: 'nowhere', path: path.join(sources, file) }]
  // Of several that are named none may be left out in silence.
  return Promise.all(
    paths.map(async (one): Promise<SourceFile> => {
      const [known] = await fileAt(sources, one)
      return known === undefined ? { kind: 'nowhere', path: one } : { kind: 'here', ...known }
    }),
  )
}

async function matchingFiles(sources: string, pattern: string): Promise<string[]> {
  const [folder, name] = [path.dirname(pattern), path.basename(pattern)]
  const place = await placeWithin(sources, folder)
  if (place === null) return []
  const entries = await readdir(place, { withFileTypes: true }).catch(orNone<Dirent[]>([]))
  const files = entries.filter((entry) => !entry.isDirectory() && matches(name, entry.name))
  return files.map((entry) => path.join(folder, entry.name)).toSorted()
}

async function fileAt(sources: string, namedPath: string): Promise<FileHere[]> {
  const place = await placeWithin(sources, namedPath)
  const facts = place === null ? null : await stat(place).catch(orNone(null))
  if (place === null || facts?.isFile() !== true) return []
  return [{ path: place, namedPath, name: path.basename(namedPath), bytes: facts.size }]
}

function orNone<T>(none: T): (error: unknown) => T {
  return (error) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return none
    throw error
  }
}

function addressOf(base: string, name: string): URL {
  return new URL(name.split('/').map(encodeURIComponent).join('/'), base.endsWith('/') ? base : `${base}/`)
}
