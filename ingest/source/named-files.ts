import { createWriteStream, type Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { codeOf, StartError } from '../../core/errors.ts'
import type { Settings } from '../../core/settings/read.ts'
import type { Progress } from '../base/progress.ts'
import { rejectLine, TableFailure } from '../base/rejects.ts'
import { fetchFile } from './fetch.ts'
import { isWeb, matchingFiles } from './find.ts'
import type { PlacedFile } from './member.ts'
import { packings } from './packings.ts'
import { realPathWithin, unreadableKind } from './real-path.ts'
import { pathIn } from './response-headers.ts'

export interface NamedFiles {
  readonly files: readonly PlacedFile[]
  /** Keys of the entry that locate the files; empty outside SOURCES. */
  readonly source: { readonly files?: string | readonly string[] }
}

/**
 * Finds files by paths, patterns, addresses, or - for standard input.
 * @throws StartError if there are none
 */
export async function namedFiles(
  names: readonly string[],
  scratch: string,
  settings: Settings,
  progress: Progress,
): Promise<NamedFiles> {
  if (names.length === 1 && names[0] === '-') return { files: [await standardInput(scratch)], source: {} }
  const files: PlacedFile[] = []
  for (const name of names) {
    if (isWeb(name)) files.push(await fetchNamed(new URL(name), scratch, settings, progress))
    else if (name.includes('*')) {
      const folder = folderOf(name)
      const matches = await matchingFiles(folder, path.relative(folder, path.resolve(name)), folder)
      if (matches.length === 0) throw new StartError(`there is no file ${name}`)
      for (const match of matches) {
        const file = path.join(folder, match)
        // Refuses a link that leads out of the folder.
        await realPathWithin(folder, file, folder)
        files.push(await fileAt(file))
      }
    } else files.push(await fileAt(name))
  }
  return { files, source: sourceOf(names, settings.sources) }
}

function sourceOf(names: readonly string[], sources: string): NamedFiles['source'] {
  const places = names.flatMap((name) => placeOf(name, sources) ?? [])
  if (places.length < names.length) return {}
  const [only] = places
  return { files: places.length === 1 && only !== undefined ? only : places }
}

function placeOf(name: string, sources: string): string | null {
  if (isWeb(name)) return name
  const way = path.relative(path.resolve(sources), path.resolve(name))
  return way.startsWith('..') || path.isAbsolute(way) ? null : way.split(path.sep).join('/')
}

function folderOf(pattern: string): string {
  const [beginning = ''] = path.resolve(pattern).split('*')
  return path.dirname(`${beginning}*`)
}

async function fileAt(file: string): Promise<PlacedFile> {
  const facts = await statReadable(file)
  if (facts.isDirectory())
    throw new StartError(`${file} is a folder: name a file, or those in it as '${file}/*.csv'`)
  return { path: file, name: path.basename(file), bytes: facts.size, place: file, constants: new Map() }
}

/** @throws StartError if the path is a named pipe, a socket or a device, whose end may never come */
export async function statReadable(file: string): Promise<Stats> {
  const facts = await stat(file)
  const kind = unreadableKind(facts)
  if (kind !== null)
    throw new StartError(`${file} is ${kind}: name a file, or send its text to \`acervo add -\``)
  return facts
}

async function fetchNamed(
  address: URL,
  folder: string,
  { unpackedBytesMax }: Settings,
  progress: Progress,
): Promise<PlacedFile> {
  progress.step('fetching')
  const result = await fetchFile(address, {
    folder,
    validators: null,
    bytesMax: unpackedBytesMax,
    progress,
    retryMs: 1000,
    silenceMs: 60_000,
  })
  if (result.status !== 'fetched') throw new StartError(`${address.href} does not exist`)
  return { ...result.file, place: pathIn(address), constants: new Map() }
}

/** Stores standard input, which is read more than once; detects compression by its first bytes. */
async function standardInput(scratch: string): Promise<PlacedFile> {
  const file = path.join(scratch, 'standard-input')
  await pipeline(process.stdin, createWriteStream(file))
  const handle = await open(file)
  const start = Buffer.alloc(4)
  try {
    await handle.read(start, 0, 4, 0)
  } finally {
    await handle.close()
  }
  const packing = packings.find(
    ({ start: signature }) => signature?.every((byte, index) => start[index] === byte) === true,
  )
  const name = `standard-input.csv${packing?.ending ?? ''}`
  return { path: file, name, bytes: (await stat(file)).size, place: name, constants: new Map() }
}

export function startErrorOf(error: unknown, file: string): unknown {
  if (codeOf(error) === 'ENOENT') return new StartError(`there is no file ${file}`, { cause: error })
  if (codeOf(error) === 'EISDIR') return new StartError(`${file} is a folder: name a file`, { cause: error })
  // Plain errors come from the file system or DuckDB, whose messages already help.
  if (error instanceof Error && error.name === 'Error') return new StartError(error.message, { cause: error })
  if (!(error instanceof TableFailure)) return error
  return new StartError([error.message, ...error.rejects.slice(0, 10).map(rejectLine)].join('\n  '), {
    cause: error,
  })
}
