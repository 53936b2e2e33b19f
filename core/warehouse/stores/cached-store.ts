import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileNames, isSnapshotId } from '../layout.ts'
import type { FileState, PinnedFile, Store } from './store.ts'

const folderName = '.remembered'

/**
 * A read-only remote warehouse that caches its small files on disk, even across restarts, and returns the
 * cached content while the store is unavailable. Files of a snapshot never change, so their cached content is
 * returned after any failed read. `stat` is never cached, so that failed checks are noticed.
 */
export class CachedStore implements Store {
  readonly #store: Store
  readonly #digests = new Map<string, string>()
  readonly #listed = new Map<string, readonly string[]>()

  constructor(store: Store) {
    this.#store = store
  }

  get address(): string {
    return this.#store.address
  }

  get localFolder(): string {
    return this.#store.localFolder
  }

  get scratchFolder(): string {
    return this.#store.scratchFolder
  }

  get isRemote(): boolean {
    return this.#store.isRemote
  }

  stat(key: string): Promise<FileState | null> {
    return this.#store.stat(key)
  }

  async get(key: string): Promise<Buffer | null> {
    const text = await this.#requestOrCached(
      `get ${key}`,
      async () => {
        const bytes = await this.#store.get(key)
        return bytes === null ? null : bytes.toString('base64')
      },
      async () => isInSnapshot(key) || this.#isUnavailable(key),
    )
    return text === null ? null : Buffer.from(text, 'base64')
  }

  async list(folder: string): Promise<string[]> {
    const text = await this.#requestOrCached(`list ${folder}`, async () =>
      JSON.stringify(await this.#store.list(folder)),
    )
    const names = text === null ? [] : (JSON.parse(text) as string[])
    await this.#forgetBut(folder, names)
    return names
  }

  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array> {
    return this.#store.read(key, range)
  }

  place(key: string): string {
    return this.#store.place(key)
  }

  pin(files: readonly PinnedFile[]): Promise<() => void> {
    return this.#store.pin(files)
  }

  hasRoomFor(file: PinnedFile): Promise<boolean> {
    return this.#store.hasRoomFor(file)
  }

  markSuspect(folder: string): void {
    this.#store.markSuspect(folder)
  }

  put(): Promise<void> {
    return readOnly()
  }

  moveIn(): Promise<void> {
    return readOnly()
  }

  remove(): Promise<void> {
    return readOnly()
  }

  lock(): Promise<() => Promise<void>> {
    return readOnly()
  }

  async #forgetBut(folder: string, names: readonly string[]): Promise<void> {
    const removedNames = (this.#listed.get(folder) ?? []).filter((name) => !names.includes(name))
    this.#listed.set(folder, names)
    for (const name of removedNames)
      for (const file of [fileNames.manifest, fileNames.report]) {
        const place = this.#placeOf(`get ${folder}/${name}/${file}`)
        this.#digests.delete(place)
        await rm(place, { force: true })
      }
  }

  /** Returns whether the store is unavailable, since cached content may be outdated. */
  async #isUnavailable(key: string): Promise<boolean> {
    return this.#store.stat(key).then(
      () => false,
      () => true,
    )
  }

  #placeOf(subject: string): string {
    return path.join(this.localFolder, folderName, createHash('sha256').update(subject).digest('hex'))
  }

  async #requestOrCached(
    subject: string,
    request: () => Promise<string | null>,
    isCacheUsable: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<string | null> {
    const file = this.#placeOf(subject)
    let answer: string | null
    try {
      answer = await request()
    } catch (error) {
      if (!(await isCacheUsable())) throw error
      const [cachedSubject, ...rest] = (await readFile(file, 'utf8').catch(() => '')).split('\n')
      if (cachedSubject !== subject) throw error
      return rest.join('\n')
    }
    await this.#remember(file, answer === null ? null : `${subject}\n${answer}`)
    return answer
  }

  async #remember(file: string, text: string | null): Promise<void> {
    if (this.#digests.get(file) === (text === null ? '' : digest(text))) return
    try {
      if (text === null) await rm(file, { force: true })
      else {
        await mkdir(path.dirname(file), { recursive: true })
        await writeFile(`${file}.draft`, text)
        await rename(`${file}.draft`, file)
      }
      this.#digests.set(file, text === null ? '' : digest(text))
    } catch {
      this.#digests.delete(file)
    }
  }
}

function isInSnapshot(key: string): boolean {
  return isSnapshotId(key.split('/').at(-2) ?? '')
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function readOnly(): Promise<never> {
  return Promise.reject(new Error('a server cannot write to the warehouse'))
}
