import { createReadStream, readFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { acquireLock } from '../../duckdb/file-lock.ts'
import { codeOf } from '../../errors.ts'
import { fingerprint } from '../fingerprint.ts'
import type { FileState, Store } from './store.ts'

const readBytes = 1024 * 1024
/** A killed process may leave drafts behind. */
const draftEnding = '.draft'

/** Syncs files before they are renamed, and their folders afterwards, so that they survive a power cut. */
export class FolderStore implements Store {
  readonly address: string
  readonly localFolder: string
  readonly scratchFolder: string

  constructor(folder: string) {
    this.localFolder = path.resolve(folder)
    this.address = this.localFolder
    this.scratchFolder = this.#pathOf('.scratch')
  }

  async stat(key: string): Promise<FileState | null> {
    return fingerprint(this.#pathOf(key))
  }

  async get(key: string): Promise<Buffer | null> {
    // Reads synchronously: for small files at startup, Node's thread pool takes several times as long.
    return orNull(async () => readFileSync(this.#pathOf(key)))
  }

  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array> {
    const part = range === undefined ? {} : { start: range.start, end: range.end - 1 }
    return createReadStream(this.#pathOf(key), {
      ...part,
      highWaterMark: readBytes,
    }) as AsyncIterable<Uint8Array>
  }

  async list(folder: string): Promise<string[]> {
    return (await orNull(() => readdir(this.#pathOf(folder)), ['ENOENT', 'ENOTDIR'])) ?? []
  }

  async put(key: string, text: string): Promise<void> {
    const target = this.#pathOf(key)
    const created = await mkdir(path.dirname(target), { recursive: true })
    const draft = `${target}.${process.pid}${draftEnding}`
    await synced(draft, 'w', text)
    await rename(draft, target)
    await (created === undefined ? synced(path.dirname(target), 'r') : this.#syncAbove(target))
  }

  async moveIn(from: string, key: string): Promise<void> {
    const target = this.#pathOf(key)
    await mkdir(path.dirname(target), { recursive: true })
    await syncTree(from)
    await rename(from, target)
    await this.#syncAbove(target)
  }

  async remove(key: string): Promise<void> {
    await rm(this.#pathOf(key), { recursive: true, force: true })
  }

  readonly isRemote = false

  place(key: string): string {
    return this.#pathOf(key)
  }

  async pin(): Promise<() => void> {
    return always
  }

  async hasRoomFor(): Promise<boolean> {
    return true
  }

  markSuspect(): void {
    // Nothing to do: a folder has no local copies that could be fetched again.
  }

  async lock(folder: string): Promise<() => Promise<void>> {
    const name = folder === '' ? 'warehouse' : folder.replaceAll('/', '.')
    const release = await acquireLock(this.#pathOf(`.locks/${name}`))
    try {
      for (const entry of await this.list(folder)) {
        if (entry.endsWith(draftEnding)) await this.remove(folder === '' ? entry : `${folder}/${entry}`)
      }
      return release
    } catch (error) {
      await release()
      throw error
    }
  }

  #pathOf(key: string): string {
    const names = key === '' ? [] : key.split('/')
    if (names.some((name) => ['', '.', '..'].includes(name)))
      throw new Error(`${key} is not a key of a warehouse`)
    return path.join(this.localFolder, ...names)
  }

  async #syncAbove(target: string): Promise<void> {
    for (let folder = path.dirname(target); ; folder = path.dirname(folder)) {
      await synced(folder, 'r')
      if (folder === this.localFolder) return
    }
  }
}

const always = (): void => undefined

async function orNull<T>(
  operation: () => Promise<T>,
  codes: readonly string[] = ['ENOENT'],
): Promise<T | null> {
  try {
    return await operation()
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return null
    throw error
  }
}

async function syncTree(place: string): Promise<void> {
  const isFolder = (await stat(place)).isDirectory()
  for (const name of isFolder ? await readdir(place) : []) await synced(path.join(place, name), 'r+')
  await synced(place, isFolder ? 'r' : 'r+')
}

async function synced(place: string, flags: 'r' | 'r+' | 'w', text?: string): Promise<void> {
  const handle = await open(place, flags)
  try {
    if (text !== undefined) await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
