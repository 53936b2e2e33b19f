import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { type SomeFiles, type Table, tableId } from '../../core/catalog/catalog.ts'
import { codeOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'
import type { PlacedFile } from './member.ts'
import { fileWildcard } from '../../core/text.ts'
import { sourceEndings } from './packings.ts'
import { realPathWithin, unreadableKind } from './real-path.ts'

interface FileHere extends PlacedFile {
  readonly namedPath: string
}

export type SourceFile =
  | ({ readonly kind: 'here' } & FileHere)
  /** Tried in turn until one exists. */
  | {
      readonly kind: 'web'
      readonly addresses: readonly URL[]
      readonly constants: ReadonlyMap<string, string>
    }
  /** Missing file that the catalog names. */
  | { readonly kind: 'nowhere'; readonly path: string }

export function isWeb(sources: string): boolean {
  return /^https?:\/\//i.test(sources)
}

/**
 * Files of a source in the order of their rows; none if there is no source.
 * @param sources a folder, or an http(s) address as prefix of names
 * @throws TableFailure if two files are possible, or a link leads outside of the folder
 */
export async function findFiles(sources: string, table: Table): Promise<SourceFile[]> {
  const { files } = table.source
  if (files === null) {
    const names = sourceEndings.map((ending) => tableId(table) + ending)
    return isWeb(sources)
      ? [{ kind: 'web', addresses: names.map((name) => addressOf(sources, name)), constants: new Map() }]
      : filesAtDefault(sources, names)
  }
  const places: SourceFile[] = []
  for (const file of files) places.push(...(await resolveFiles(sources, file)))
  return places
}

export function expectedFiles(sources: string, table: Table): string {
  const names = table.source.files?.map(({ path: file }) => file) ?? [
    `${tableId(table)}.csv (or ${sourceEndings.slice(1).join(', ')})`,
  ]
  return names.map((name) => (isWeb(name) ? name : `${sources.replace(/\/$/, '')}/${name}`)).join(', ')
}

async function filesAtDefault(sources: string, names: readonly string[]): Promise<SourceFile[]> {
  const files: FileHere[] = []
  for (const name of names) files.push(...(await fileAt(sources, { path: name, constants: new Map() })))
  if (files.length > 1) {
    throw new TableFailure(
      `both ${files.map((file) => file.namedPath).join(' and ')} exist: keep only one of them`,
    )
  }
  return files.map((file) => ({ kind: 'here', ...file }))
}

async function resolveFiles(sources: string, { path: file, constants }: SomeFiles): Promise<SourceFile[]> {
  if (isWeb(file)) return [{ kind: 'web', addresses: [new URL(file)], constants }]
  if (isWeb(sources)) {
    if (file.includes('*')) {
      throw new TableFailure(
        `${file} contains *, but SOURCES is an address, which cannot be listed: name each file in source.files`,
      )
    }
    return [{ kind: 'web', addresses: [addressOf(sources, file)], constants }]
  }
  const paths = file.includes('*') ? await matchingFiles(sources, file) : [file]
  if (paths.length === 0) return [{ kind: 'nowhere', path: path.join(sources, file) }]
  // Names start at the first segment with a wildcard, so that equal file names can be distinguished.
  const segments = file.split('/')
  const first = segments.findIndex((segment) => segment.includes('*'))
  const depth = first === -1 ? 1 : segments.length - first
  // If one of several files is missing, the others must not be used alone.
  return Promise.all(
    paths.map(async (place): Promise<SourceFile> => {
      const [match] = await fileAt(sources, { path: place, constants }, depth)
      return match === undefined
        ? { kind: 'nowhere', path: path.join(sources, place) }
        : { kind: 'here', ...match }
    }),
  )
}

/**
 * @param pattern each `*` matches any text within a folder or file name
 * @param name of the folder, in messages
 */
export async function matchingFiles(sources: string, pattern: string, name?: string): Promise<string[]> {
  let folders = ['']
  const segments = pattern.split('/')
  for (const [index, segment] of segments.entries()) {
    const isFile = index === segments.length - 1
    const next = await Promise.all(
      folders.map((folder) => matchingIn(sources, folder, segment, isFile, name)),
    )
    folders = next.flat()
  }
  return folders.toSorted()
}

async function matchingIn(
  sources: string,
  folder: string,
  segment: string,
  isLastSegment: boolean,
  sourcesName?: string,
): Promise<string[]> {
  if (!segment.includes('*')) return [path.posix.join(folder, segment)]
  const place = await realPathWithin(sources, path.join(sources, folder), sourcesName)
  if (place === null) return []
  const entries = await readdir(place, { withFileTypes: true }).catch(orNone<Dirent[]>([]))
  return entries
    .filter(
      (entry) =>
        (isLastSegment ? !entry.isDirectory() : !entry.isFile()) && fileWildcard(segment)(entry.name),
    )
    .map((entry) => path.posix.join(folder, entry.name))
}

async function fileAt(sources: string, { path: file, constants }: SomeFiles, depth = 1): Promise<FileHere[]> {
  const namedPath = path.join(sources, file)
  const place = await realPathWithin(sources, namedPath)
  const facts = place === null ? null : await stat(place).catch(orNone(null))
  const kind = facts === null ? null : unreadableKind(facts)
  if (kind !== null) throw new TableFailure(`${namedPath} is ${kind}: replace it by a file`)
  if (place === null || facts?.isFile() !== true) return []
  const name = file.split('/').slice(-depth).join('/')
  return [{ path: place, namedPath, name, bytes: facts.size, place: file, constants }]
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
