import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Table } from '../../core/catalog/catalog.ts'
import { sumsOf } from '../../core/warehouse/hash.ts'
import type { Source } from '../../core/warehouse/manifest.ts'
import type { Progress } from '../base/progress.ts'
import { TableFailure } from '../base/rejects.ts'
import { fetchFile, type Validators } from './fetch.ts'
import { findFiles, type SourceFile } from './find.ts'
import { nameIn, pathIn } from './response-headers.ts'
import type { PlacedFile } from './member.ts'
import { realPathWithin } from './real-path.ts'

export interface ObtainedFile {
  readonly file: PlacedFile
  readonly validators: Validators | null
}

interface ObtainOptions {
  readonly sources: string
  readonly folder: string
  /** Sources of the published snapshot; empty to rebuild even from unchanged files. */
  readonly knownSources: readonly Source[]
  readonly bytesMax: number
  readonly progress: Progress
  readonly retryMs: number
  readonly silenceMs: number
}

/**
 * Makes files available locally, and verifies declared checksums. Returns `missing` without a source,
 * `unchanged` if servers report that.
 * @throws TableFailure if only some files exist, or a checksum differs
 */
export async function obtain(
  table: Table,
  options: ObtainOptions,
): Promise<ObtainedFile[] | 'missing' | 'unchanged'> {
  const places = await findFiles(options.sources, table)
  if (places.length === 0) return 'missing'
  const isAllKnown =
    places.length === options.knownSources.length && places.every(({ kind }) => kind === 'web')
  const first = await obtainAll(places, isAllKnown ? options.knownSources : [], options)
  const unchanged = first.filter((file) => file === 'unchanged').length
  if (unchanged > 0 && unchanged === first.length) return 'unchanged'
  // Servers send no unchanged files. If only some changed, all are fetched.
  const obtainedFiles = unchanged > 0 ? await obtainAll(places, [], options) : first
  const files = obtainedFiles.filter((file) => typeof file === 'object')
  if (files.length < obtainedFiles.length) {
    const missingIndex = obtainedFiles.findIndex((file) => typeof file !== 'object')
    if (files.length === 0) return 'missing'
    throw new TableFailure(`a file of the source is missing: ${nameOf(places[missingIndex])}`)
  }
  if (table.source.checksums !== null) {
    for (const [index, file] of files.entries())
      await requireSum(file, places[index], table.source.checksums, options)
  }
  return files
}

async function obtainAll(
  places: readonly SourceFile[],
  knownSources: readonly Source[],
  options: ObtainOptions,
): Promise<(ObtainedFile | 'missing' | 'unchanged')[]> {
  const { folder, bytesMax, progress, retryMs, silenceMs } = options
  const files: (ObtainedFile | 'missing' | 'unchanged')[] = []
  for (const [index, place] of places.entries()) {
    if (place.kind === 'here') {
      files.push({ file: place, validators: null })
      continue
    }
    if (place.kind === 'nowhere') {
      files.push('missing')
      continue
    }
    progress.step('fetching')
    const fileFolder = path.join(folder, `fetched-${index}`)
    await mkdir(fileFolder, { recursive: true })
    files.push(
      await fetchFirst(place, {
        folder: fileFolder,
        validators: validatorsOf(knownSources[index]),
        bytesMax,
        progress,
        retryMs,
        silenceMs,
      }),
    )
  }
  return files
}

async function fetchFirst(
  { addresses, constants }: SourceFile & { readonly kind: 'web' },
  options: Parameters<typeof fetchFile>[1],
): Promise<ObtainedFile | 'missing' | 'unchanged'> {
  for (const address of addresses) {
    const download = await fetchFile(address, options)
    if (download.status === 'fetched') {
      const file = { ...download.file, place: pathIn(address), constants }
      return { file, validators: download.validators }
    }
    if (download.status === 'unchanged') return 'unchanged'
  }
  return 'missing'
}

function validatorsOf(source: Source | undefined): Validators | null {
  if (source?.address === undefined) return null
  const { address, etag, last_modified } = source
  return {
    address,
    ...(etag !== undefined && { etag }),
    ...(last_modified !== undefined && { last_modified }),
  }
}

function nameOf(place: SourceFile | undefined): string {
  if (place?.kind === 'web') return place.addresses[0]?.href ?? ''
  return (place?.kind === 'here' ? place.namedPath : place?.path) ?? ''
}

async function requireSum(
  { file, validators }: ObtainedFile,
  place: SourceFile | undefined,
  listName: string,
  options: ObtainOptions,
): Promise<void> {
  const list = await readChecksumList(place, validators, listName, options)
  const localName = path.basename(file.name)
  const name = validators === null ? localName : nameIn(new URL(validators.address))
  const lines = [...list.matchAll(/^([0-9a-f]{64}|[0-9a-f]{128}) [ *](?:\.\/)?(.+?)\r?$/gim)]
  const line =
    lines.find(([, , listed]) => listed === name) ??
    lines.find(([, , listed = '']) => path.posix.basename(listed) === name)
  const expectedSum = line?.[1]?.toLowerCase()
  if (expectedSum === undefined)
    throw new TableFailure(
      `${listName} has no SHA-256 or SHA-512 sum of ${name}: add it, or remove source.checksums`,
    )
  // Checksums refer to original files: decompress a file that a server compressed for transfer.
  const { sha256, sha512 } = await (name === localName ? sumsOf(file.path) : unpackedSums(file.path))
  if (expectedSum !== sha256 && expectedSum !== sha512) {
    throw new TableFailure(`${name} does not match its checksum in ${listName}: fetch it again`)
  }
}

async function readChecksumList(
  place: SourceFile | undefined,
  validators: Validators | null,
  listName: string,
  { sources, folder, bytesMax, progress, retryMs, silenceMs }: ObtainOptions,
): Promise<string> {
  const missingFailure = new TableFailure(
    `source.checksums names ${listName}, but there is no such file beside ${nameOf(place)}`,
  )
  if (validators === null) {
    if (place?.kind !== 'here') throw missingFailure
    const list = await realPathWithin(sources, path.join(path.dirname(place.namedPath), listName))
    if (list === null || !(await stat(list)).isFile()) throw missingFailure
    return await readFile(list, 'utf8')
  }
  const download = await fetchFile(new URL(listName, validators.address), {
    folder,
    validators: null,
    bytesMax,
    progress,
    retryMs,
    silenceMs,
  })
  if (download.status !== 'fetched') throw missingFailure
  return readFile(download.file.path, 'utf8')
}

async function unpackedSums(file: string): Promise<{ sha256: string; sha512: string }> {
  const [short, long] = [createHash('sha256'), createHash('sha512')]
  await pipeline(createReadStream(file), createGunzip(), async (texts: AsyncIterable<Buffer>) => {
    for await (const text of texts) {
      short.update(text)
      long.update(text)
    }
  })
  return { sha256: short.digest('hex'), sha512: long.digest('hex') }
}
