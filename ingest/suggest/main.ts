import { createWriteStream } from 'node:fs'
import { mkdtemp, open, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { codeOf, lastWords, messageOf, StartError } from '../../core/errors.ts'
import { readSettings, type Settings } from '../../core/settings/read.ts'
import { Board, type Progress } from '../progress.ts'
import { rejectLine, TableFailure } from '../rejects.ts'
import { fetchFile } from '../source/fetch.ts'
import { isWeb, matchingFiles } from '../source/find.ts'
import type { PlacedFile } from '../source/member.ts'
import { pathIn } from '../source/stated.ts'
import { packings } from '../source/packings.ts'
import { suggest, suggestionText } from './suggest.ts'

/** Where a file is asked for that takes none. */
const usage =
  'name a file, such as `make suggest FILE=sources/rain/daily.csv.gz`, a pattern in quotes, an address, or - for standard input'

/** `npm run suggest -- FILE... [--member=PATTERN]`: prints a catalog entry for a CSV, to paste under `tables:` of a dataset. */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { member: { type: 'string' } },
    allowPositionals: true,
  })
  if (positionals.length === 0) throw new StartError(usage)
  const settings = readSettings(process.env)
  const scratch = await mkdtemp(path.join(os.tmpdir(), 'acervo-suggest-'))
  const progress = new Board(process.stderr, Date.now, 1500).progress(positionals[0] ?? '')
  try {
    const { files, source } = await filesOf(positionals, scratch, settings, progress)
    const member = values.member === undefined ? {} : { member: values.member }
    const suggestion = await suggest(files, {
      scratch,
      progress,
      limits: settings,
      source: { ...source, ...member },
    })
    progress.end()
    console.log(suggestionText(suggestion).trimEnd())
  } catch (error) {
    progress.end()
    const [file = ''] = positionals
    if (codeOf(error) === 'ENOENT') throw new StartError(`there is no file ${file}`, { cause: error })
    if (codeOf(error) === 'EISDIR') throw new StartError(`${file} is a folder: name a file`, { cause: error })
    if (!(error instanceof TableFailure)) throw error
    throw new StartError([error.message, ...error.rejects.slice(0, 10).map(rejectLine)].join('\n  '), {
      cause: error,
    })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

interface Given {
  readonly files: readonly PlacedFile[]
  /** What the entry says of where they lie. */
  readonly source: { readonly files?: string | readonly string[] }
}

/** The files that are meant, on this machine. */
async function filesOf(
  named: readonly string[],
  scratch: string,
  settings: Settings,
  progress: Progress,
): Promise<Given> {
  if (named.length === 1 && named[0] === '-') return { files: [await standardInput(scratch)], source: {} }
  const files: PlacedFile[] = []
  for (const name of named) {
    if (isWeb(name)) files.push(await fetched(new URL(name), path.join(scratch), settings, progress))
    else if (name.includes('*')) {
      const root = path.parse(path.resolve(name)).root
      const found = await matchingFiles(root, path.relative(root, path.resolve(name)))
      if (found.length === 0) throw new StartError(`there is no file ${name}`)
      for (const one of found) files.push(await fileAt(path.join(root, one)))
    } else files.push(await fileAt(name))
  }
  const places = named.map((name) => placeOf(name, settings.sources))
  const known = places.filter((place) => place !== null)
  const isAll = known.length === places.length
  return { files, source: isAll ? { files: known.length === 1 ? (known[0] ?? '') : known } : {} }
}

/** As the catalog names it; null where it does not lie under SOURCES. */
function placeOf(name: string, sources: string): string | null {
  if (isWeb(name)) return name
  const way = path.relative(path.resolve(sources), path.resolve(name))
  return way.startsWith('..') || path.isAbsolute(way) ? null : way.split(path.sep).join('/')
}

async function fileAt(file: string): Promise<PlacedFile> {
  const facts = await stat(file)
  if (facts.isDirectory())
    throw new StartError(`${file} is a folder: name a file, or those in it as '${file}/*.csv'`)
  return { path: file, name: path.basename(file), bytes: facts.size, place: file, constants: new Map() }
}

async function fetched(
  address: URL,
  folder: string,
  { unpackedBytesMax }: Settings,
  progress: Progress,
): Promise<PlacedFile> {
  progress.step('fetching')
  const found = await fetchFile(address, {
    folder,
    known: null,
    bytesMax: unpackedBytesMax,
    progress,
    retryMs: 1000,
    silenceMs: 60_000,
  })
  if (found.status !== 'fetched') throw new StartError(`there is nothing at ${address.href}`)
  return { ...found.file, place: pathIn(address), constants: new Map() }
}

/** Kept in a file, since it is read more than once; packed where its first bytes say so. */
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
    ({ start: own }) => own?.every((byte, index) => start[index] === byte) === true,
  )
  const name = `standard-input.csv${packing?.ending ?? ''}`
  return { path: file, name, bytes: (await stat(file)).size, place: name, constants: new Map() }
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error && error.name === 'Error' ? messageOf(error) : lastWords(error))
  process.exitCode = 1
}
