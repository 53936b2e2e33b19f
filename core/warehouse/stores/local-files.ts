import { createHash } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { appendFile, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import { versionOf } from '../fingerprint.ts'
import { hashOf } from '../hash.ts'
import { FileUnavailable, type PinnedFile } from './store.ts'

interface LocalFilesOptions {
  readonly folder: string
  readonly bytesMax: number
  readonly read: (key: string) => AsyncIterable<Uint8Array>
}

interface LocalCopy {
  bytes: number
  holders: number
  /** Version of the file when it was verified; null if unknown. */
  version: string | null
  pendingFetch: Promise<void> | null
}

const noteName = '.verified'
const triesMax = 2
const roomPatienceMs = 10_000

/**
 * Local copies of remote files in limited space: evicts the least recently used. Verifies each before its
 * first use.
 */
export class LocalFiles {
  readonly #options: LocalFilesOptions
  readonly #files = new Map<string, LocalCopy>()
  readonly #releaseListeners = new Set<() => void>()
  #bytes = 0
  #opened: Promise<void> | null = null

  constructor(options: LocalFilesOptions) {
    this.#options = options
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Fetches files and pins them until released.
   * @throws FileUnavailable
   */
  async hold(files: readonly PinnedFile[]): Promise<() => void> {
    this.#opened ??= this.#open()
    await this.#opened
    const pinnedEntries: LocalCopy[] = []
    const release = (): void => {
      for (const entry of pinnedEntries.splice(0)) entry.holders -= 1
      for (const notify of this.#releaseListeners) notify()
    }
    try {
      await Promise.all(
        files.map(async (file) => {
          const entry = this.#markUsed(file)
          entry.holders += 1
          pinnedEntries.push(entry)
          await this.#ensureFetched(file, entry)
        }),
      )
      return release
    } catch (error) {
      release()
      throw error
    }
  }

  async hasRoomFor({ key, bytes }: PinnedFile): Promise<boolean> {
    this.#opened ??= this.#open()
    await this.#opened
    return this.#files.has(key) || this.#bytes + bytes <= this.#options.bytesMax
  }

  /** Verifies files below a key again before their next use. */
  distrust(folder: string): void {
    for (const [key, entry] of this.#files) if (key.startsWith(`${folder}/`)) entry.version = null
  }

  forget(folder: string): void {
    for (const [key, entry] of this.#files)
      if (key.startsWith(`${folder}/`) && entry.holders === 0) this.#drop(key, entry)
  }

  placeOf(key: string): string {
    return path.join(this.#options.folder, ...key.split('/'))
  }

  #markUsed({ key }: PinnedFile): LocalCopy {
    const entry = this.#files.get(key) ?? { bytes: 0, holders: 0, version: null, pendingFetch: null }
    this.#files.delete(key)
    this.#files.set(key, entry)
    return entry
  }

  async #ensureFetched(file: PinnedFile, entry: LocalCopy): Promise<void> {
    const place = this.placeOf(file.key)
    if (entry.pendingFetch === null && entry.version !== null && versionOf(place) === entry.version) return
    entry.pendingFetch ??= this.#obtain(file, entry, place).finally(() => {
      entry.pendingFetch = null
    })
    await entry.pendingFetch
  }

  async #obtain(file: PinnedFile, entry: LocalCopy, place: string): Promise<void> {
    if (await isFile(place, file)) {
      this.#setBytes(entry, file.bytes)
      await this.#noteVersion(file, entry, place)
      return
    }
    await this.#makeRoom(file, entry)
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#fetch(file, place)
        await this.#noteVersion(file, entry, place)
        return
      } catch (error) {
        if (tries < triesMax && error instanceof OtherBytes) continue
        this.#setBytes(entry, 0)
        throw new FileUnavailable(file.key, messageOf(error), { cause: error })
      }
    }
  }

  async #fetch({ key, sha256 }: PinnedFile, place: string): Promise<void> {
    await mkdir(path.dirname(place), { recursive: true })
    const draft = `${place}.draft`
    const hash = createHash('sha256')
    const handle = await open(draft, 'w')
    try {
      for await (const piece of this.#options.read(key)) {
        hash.update(piece)
        await handle.writeFile(piece)
      }
    } finally {
      await handle.close()
    }
    if (hash.digest('hex') !== sha256) {
      await rm(draft, { force: true })
      throw new OtherBytes()
    }
    await rename(draft, place)
  }

  async #noteVersion({ key, sha256 }: PinnedFile, entry: LocalCopy, place: string): Promise<void> {
    entry.version = versionOf(place)
    await appendFile(this.#notesFile, `${JSON.stringify([key, entry.version, sha256])}\n`)
  }

  async #makeRoom({ key, bytes }: PinnedFile, entry: LocalCopy): Promise<void> {
    const { bytesMax } = this.#options
    if (bytes > bytesMax)
      throw new FileUnavailable(
        key,
        `it has ${bytes} bytes, and LOCAL_GB allows ${bytesMax} for all local copies: raise it`,
      )
    const deadline = performance.now() + roomPatienceMs
    while (this.#bytes - entry.bytes + bytes > bytesMax) {
      const oldest = [...this.#files].find(([, { holders, bytes: size }]) => holders === 0 && size > 0)
      if (oldest !== undefined) this.#drop(...oldest)
      else if (performance.now() > deadline)
        throw new FileUnavailable(key, 'all space for local copies is in use: raise LOCAL_GB if this recurs')
      else await this.#waitForRelease()
    }
    this.#setBytes(entry, bytes)
  }

  async #waitForRelease(): Promise<void> {
    const waited = new AbortController()
    const stopWaiting = (): void => waited.abort()
    this.#releaseListeners.add(stopWaiting)
    const options = { ref: false, signal: waited.signal }
    await wait(roomPatienceMs, undefined, options).catch(() => undefined)
    this.#releaseListeners.delete(stopWaiting)
  }

  /** Synchronous, so that no other call runs while a file is half removed. */
  #drop(key: string, entry: LocalCopy): void {
    this.#files.delete(key)
    this.#setBytes(entry, 0)
    rmSync(this.placeOf(key), { force: true })
  }

  #setBytes(entry: LocalCopy, bytes: number): void {
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
  }

  get #notesFile(): string {
    return path.join(this.#options.folder, noteName)
  }

  /** Counts the files that an earlier process left, and trusts those whose version it noted. */
  async #open(): Promise<void> {
    const { folder } = this.#options
    await mkdir(folder, { recursive: true })
    const notesByKey = new Map<string, string>()
    const lines = existsSync(this.#notesFile) ? (await readFile(this.#notesFile, 'utf8')).split('\n') : []
    for (const line of lines) {
      const [key, version] = parseNote(line)
      if (key !== undefined && version !== undefined) notesByKey.set(key, version)
    }
    const validLines: string[] = []
    for (const place of await filesBelow(folder)) {
      const key = path.relative(folder, place).split(path.sep).join('/')
      const [version, bytes] = [versionOf(place), await sizeOf(place)]
      if (key.endsWith('.draft')) await rm(place, { force: true })
      else {
        const isNoted = notesByKey.get(key) === version
        this.#files.set(key, { bytes, holders: 0, version: isNoted ? version : null, pendingFetch: null })
        this.#bytes += bytes
        if (isNoted) validLines.push(JSON.stringify([key, version]))
      }
    }
    await writeFile(this.#notesFile, validLines.map((line) => `${line}\n`).join(''))
  }
}

class OtherBytes extends Error {
  constructor() {
    super('the file in the store differs from the published one')
    this.name = 'OtherBytes'
  }
}

/** Leaves out `.scratch`, where other work creates and removes folders. */
async function filesBelow(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !name.startsWith('.'))
  const places = entries.map(async (entry) => {
    const place = path.join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(place) : entry.isFile() ? [place] : []
  })
  return (await Promise.all(places)).flat()
}

async function isFile(place: string, { bytes, sha256 }: PinnedFile): Promise<boolean> {
  return (await sizeOf(place)) === bytes && (await hashOf(place)) === sha256
}

async function sizeOf(place: string): Promise<number> {
  const handle = await open(place).catch(() => null)
  if (handle === null) return -1
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

function parseNote(line: string): readonly [string?, string?] {
  try {
    const [key, version] = JSON.parse(line) as unknown[]
    return typeof key === 'string' && typeof version === 'string' ? [key, version] : []
  } catch {
    return []
  }
}
