import { rmSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { LockHeld } from '../../core/errors.ts'
import {
  FileUnavailable,
  type FileState,
  type PinnedFile,
  type Store,
} from '../../core/warehouse/stores/store.ts'

/** A warehouse in memory, whose files are fetched into a folder for reading: behaves like a remote one. */
export class MemoryStore implements Store {
  readonly address = 'memory://'
  readonly localFolder: string
  readonly scratchFolder: string
  readonly #files = new Map<string, { readonly bytes: Buffer; readonly version: string }>()
  readonly #held = new Set<string>()
  #puts = 0

  /** @param folder of this machine, empty */
  constructor(folder: string) {
    this.localFolder = path.join(folder, 'local')
    this.scratchFolder = path.join(folder, 'scratch')
  }

  async stat(key: string): Promise<FileState | null> {
    const file = this.#files.get(key)
    return file === undefined ? null : { bytes: file.bytes.length, version: file.version }
  }

  async get(key: string): Promise<Buffer | null> {
    return this.#files.get(key)?.bytes ?? null
  }

  async *read(
    key: string,
    range?: { readonly start: number; readonly end: number },
  ): AsyncGenerator<Uint8Array> {
    const file = this.#files.get(key)
    if (file === undefined) throw new Error(`there is no ${key}`)
    yield file.bytes.subarray(range?.start ?? 0, range?.end)
  }

  async list(folder: string): Promise<string[]> {
    const head = headOf(folder)
    const below = [...this.#files.keys()].filter((key) => key.startsWith(head))
    return [...new Set(below.map((key) => key.slice(head.length).split('/')[0] ?? ''))]
  }

  async put(key: string, text: string): Promise<void> {
    this.#set(key, Buffer.from(text))
  }

  async moveIn(from: string, key: string): Promise<void> {
    if ((await stat(from)).isFile()) this.#set(key, await readFile(from))
    else
      for (const name of await readdir(from))
        this.#set(`${key}/${name}`, await readFile(path.join(from, name)))
    await rm(from, { recursive: true })
  }

  async remove(key: string): Promise<void> {
    for (const file of this.#below(key)) this.#files.delete(file)
    await rm(path.join(this.localFolder, key), { recursive: true, force: true })
  }

  readonly isRemote = true

  place(key: string): string {
    return path.join(this.localFolder, key)
  }

  async pin(files: readonly PinnedFile[]): Promise<() => void> {
    for (const { key } of files) {
      const bytes = this.#files.get(key)?.bytes
      if (bytes === undefined) throw new FileUnavailable(key, 'there is none')
      await mkdir(path.dirname(this.place(key)), { recursive: true })
      await writeFile(this.place(key), bytes)
    }
    return () => undefined
  }

  async hasRoomFor(): Promise<boolean> {
    return true
  }

  markSuspect(folder: string): void {
    rmSync(this.place(folder), { recursive: true, force: true })
  }

  async lock(folder: string): Promise<() => Promise<void>> {
    if (this.#held.has(folder)) throw new LockHeld(process.pid)
    this.#held.add(folder)
    return async () => void this.#held.delete(folder)
  }

  #set(key: string, bytes: Buffer): void {
    this.#puts += 1
    this.#files.set(key, { bytes, version: String(this.#puts) })
  }

  #below(key: string): string[] {
    return [...this.#files.keys()].filter((file) => file === key || file.startsWith(headOf(key)))
  }
}

function headOf(folder: string): string {
  return folder === '' ? '' : `${folder}/`
}
