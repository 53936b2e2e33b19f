import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf, StartError } from '../errors.ts'
import { fileWildcard } from '../text.ts'
import type { Path } from './shapes.ts'
import { readDocument, type LineAndColumn, type PlacedDocument, type WrittenValue } from './document.ts'

export interface CatalogFile {
  readonly file: string
  readonly text: string
}

type PlaceInFiles = LineAndColumn & { readonly file: string }

export interface JoinedDocument {
  readonly root: unknown
  readonly roots: ReadonlyMap<string, unknown>
  readonly problems: readonly (PlaceInFiles & { message: string })[]
  readonly readable: boolean
  readonly placeOf: (path: Path, ofKey?: boolean) => PlaceInFiles
  readonly writtenAt: (path: Path) => WrittenValue | undefined
}

/**
 * Reads the catalog, then the included files, sorted by name within each pattern.
 * @throws StartError if a file cannot be read or is not UTF-8, or a pattern matches no file
 */
export async function readCatalogFiles(file: string): Promise<CatalogFile[]> {
  const text = await readText(file).catch((cause: unknown) => {
    if (cause instanceof StartError) throw cause
    throw new StartError(`the catalog ${file} cannot be read; set CATALOG to the path of a catalog.yaml`, {
      cause,
    })
  })
  const folder = path.dirname(file)
  const names = new Set<string>()
  for (const pattern of patternsIn(text).include) {
    const matches = await filesLike(folder, pattern.split('/'))
    if (matches.length === 0)
      throw new StartError(
        `the catalog ${file} includes ${pattern}, which matches no file: correct the pattern, or add the file`,
      )
    for (const name of matches.toSorted()) names.add(name)
  }
  const included: CatalogFile[] = []
  for (const name of names) {
    const place = path.join(folder, name)
    included.push({ file: place, text: await readText(place) })
  }
  return [{ file, text }, ...included]
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file)
  const text = bytes.toString()
  if (isUtf8(bytes)) return text
  const line = text.slice(0, text.indexOf('\ufffd')).split('\n').length
  throw new StartError(`${file}:${line}: some letters are not UTF-8: save the file as UTF-8`)
}

/**
 * Returns a hash of the catalog's files.
 * @throws a system error if a file cannot be checked
 */
export async function catalogVersion(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(unlessGone)
  const folder = path.dirname(file)
  const { include, logo } = patternsIn(text ?? '')
  const patterns = [...include, ...logo]
  const names = await Promise.all(patterns.map((pattern) => filesLike(folder, pattern.split('/'))))
  const fingerprints = [text]
  for (const name of [...new Set(names.flat())].toSorted()) {
    const stats = await stat(path.join(folder, name)).catch(unlessGone)
    fingerprints.push(`${name} ${stats?.size} ${stats?.mtimeMs} ${stats?.ino}`)
  }
  return createHash('sha256').update(fingerprints.join('\n')).digest('hex')
}

/** Returns null for a missing file. Rethrows other errors, since the file may exist. */
function unlessGone(error: unknown): null {
  if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null
  throw error
}

/**
 * Calls `handleChange` after files of the catalog have changed, until the signal fires. Waits until two checks
 * agree, since a file may be half written.
 * @param from version of the files when they were read; null if unknown
 * @param everyMs interval of checks; 0 for never
 * @param handleChange returns whether the change was handled; if not, a later check calls it again
 */
export async function followVersions(
  file: string,
  from: string | null,
  everyMs: number,
  signal: AbortSignal,
  handleChange: () => Promise<boolean>,
): Promise<void> {
  if (everyMs === 0) return
  const versionNow = async (): Promise<string | null> => catalogVersion(file).catch(() => null)
  const pause = async (): Promise<boolean> => wait(everyMs, true, { signal, ref: false }).catch(() => false)
  let handledVersion = from ?? (await versionNow())
  let previousVersion = handledVersion
  while (await pause()) {
    const now = await versionNow()
    // A file could not be read, perhaps for a moment only.
    if (now === null) continue
    handledVersion ??= now
    if (now !== handledVersion && now === previousVersion) {
      if (await handleChange()) handledVersion = now
    }
    previousVersion = now
  }
}

interface NamedFiles {
  readonly include: readonly string[]
  readonly logo: readonly string[]
}

let last: { readonly text: string; readonly patterns: NamedFiles } | null = null

function patternsIn(text: string): NamedFiles {
  if (last?.text !== text) last = { text, patterns: patternsOf(text) }
  return last.patterns
}

/** Leaves out paths outside the folder of the catalog; the schema reports these. */
function patternsOf(text: string): NamedFiles {
  if (!/^["']?(include|logo)["']?\s*:/m.test(text)) return { include: [], logo: [] }
  const { root } = readDocument(text)
  const { include, logo } = (typeof root === 'object' && root !== null ? root : {}) as Record<string, unknown>
  return { include: pathsBelow(include), logo: pathsBelow(logo) }
}

function pathsBelow(paths: unknown): string[] {
  return [paths]
    .flat()
    .filter((pattern): pattern is string => typeof pattern === 'string' && isBelow(pattern))
}

/** Limit in bytes, since every page loads the logo. */
const logoBytesMax = 200_000

/**
 * @param logo path below the folder of the catalog
 * @throws StartError if it cannot be read, or is too large
 */
export async function readLogo(catalog: string, logo: string): Promise<Uint8Array> {
  const file = path.join(path.dirname(catalog), logo)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new StartError(`the logo ${file} cannot be read; correct "logo" in ${catalog}, or add the file`, {
      cause,
    })
  })
  if (bytes.length <= logoBytesMax) return bytes
  throw new StartError(`the logo ${file} has ${bytes.length} bytes; make it smaller than ${logoBytesMax}`)
}

/** Returns whether a path is relative and cannot leave its folder. */
export function isBelow(pattern: string): boolean {
  return !path.isAbsolute(pattern) && !/(^|\/)(\.\.?|)(\/|$)|\\/.test(pattern)
}

async function filesLike(folder: string, [step = '', ...rest]: readonly string[]): Promise<string[]> {
  const fits = fileWildcard(step)
  const entries = await readdir(folder, { withFileTypes: true }).catch(unlessGone)
  const entriesThatFit = (entries ?? []).filter(({ name }) => fits(name))
  if (rest.length === 0) return entriesThatFit.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  const matches: string[] = []
  for (const { name } of entriesThatFit)
    for (const inner of await filesLike(path.join(folder, name), rest)) matches.push(`${name}/${inner}`)
  return matches
}

/**
 * Combines the files of a catalog: each included file adds one dataset, or a list of them.
 * @param parsedTexts values of texts that were parsed without problems
 */
export function joinDocuments(
  files: readonly CatalogFile[],
  parsedTexts: ReadonlyMap<string, unknown>,
): JoinedDocument {
  const parsedFiles = files.map(({ file, text }) => {
    const document = parsedTexts.has(text) ? knownDocument(text, parsedTexts.get(text)) : readDocument(text)
    return { file, document }
  })
  const [main, ...included] = parsedFiles
  if (main === undefined) throw new RangeError('the catalog has no file')
  const problems = parsedFiles.flatMap(({ file, document }) =>
    document.problems.map((problem) => ({ ...problem, file })),
  )
  const roots = new Map(files.map(({ text }, index) => [text, parsedFiles[index]?.document.root]))
  const readable = parsedFiles.every(({ document }) => document.readable)
  if (included.length === 0 && !isMap(main.document.root, 'include'))
    return {
      ...main.document,
      roots,
      problems,
      placeOf: (position, ofKey) => ({ ...main.document.placeOf(position, ofKey), file: main.file }),
    }
  const root = isMap(main.document.root, 'include')
    ? { datasets: [], ...main.document.root }
    : main.document.root
  const ownDatasets =
    isMap(root, 'datasets') && Array.isArray(root.datasets) ? (root.datasets as unknown[]) : null
  const owners = (ownDatasets ?? []).map((_, index) => ({ ...main, prefix: ['datasets', index] as Path }))
  const datasets = [...(ownDatasets ?? [])]
  for (const { file, document } of included) {
    const { root: content } = document
    const isList = Array.isArray(content)
    if (!isList && (typeof content !== 'object' || content === null)) {
      const message = 'the file must hold a dataset, or a list of datasets'
      if (document.readable) problems.push({ ...document.placeOf([]), file, message })
      continue
    }
    const items: readonly unknown[] = isList ? content : [content]
    for (const [index, dataset] of items.entries()) {
      owners.push({ file, document, prefix: isList ? [index] : [] })
      datasets.push(dataset)
    }
  }
  const ownerOf = (position: Path): { file: string; document: PlacedDocument; path: Path } => {
    const owner =
      position[0] === 'datasets' && typeof position[1] === 'number' ? owners[position[1]] : undefined
    return owner === undefined
      ? { ...main, path: position }
      : { ...owner, path: [...owner.prefix, ...position.slice(2)] }
  }
  return {
    roots,
    root: ownDatasets === null ? root : { ...(root as object), datasets },
    problems,
    readable,
    placeOf: (position, ofKey) => {
      const { file, document, path: inner } = ownerOf(position)
      return { ...document.placeOf(inner, ofKey), file }
    },
    writtenAt: (position) => {
      const { document, path: inner } = ownerOf(position)
      return document.writtenAt(inner)
    },
  }
}

function knownDocument(text: string, root: unknown): PlacedDocument {
  let parsedDocument: PlacedDocument | null = null
  const document = (): PlacedDocument => (parsedDocument ??= readDocument(text))
  return {
    root,
    problems: [],
    readable: true,
    placeOf: (position, ofKey) => document().placeOf(position, ofKey),
    writtenAt: (position) => document().writtenAt(position),
  }
}

function isMap<Key extends string>(value: unknown, key: Key): value is Record<Key, unknown> {
  return typeof value === 'object' && value !== null && key in value
}
