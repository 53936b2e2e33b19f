import { codeOf, messageOf } from '../../errors.ts'

/**
 * A place for the files of a warehouse: a local folder, or any other storage of named files. The modules
 * beside this folder build all guarantees of the warehouse from these few methods. A snapshot is published
 * completely or not at all, and published files never change. `test/core/store.test.ts` tests each method.
 *
 * A key is the name of a file or folder in the warehouse: names of `layout` joined by '/'. It is never a
 * local path and never a part of a request. Folders exist as long as they contain files. An implementation
 * may have files of its own under names that begin with a dot. On a disk, it may use
 * `core/duckdb/file-lock.ts` and `fingerprint.ts`. Packages that it needs are listed in
 * `test/imports.test.ts`.
 *
 * Methods throw the error of the system, or a StoreFailure. Writes are atomic: after an interruption, even a
 * kill, a file is complete or absent. Once a call has returned, its file survives a power cut.
 */
export interface Store {
  /** Address for messages, and prefix of keys for analysts. */
  readonly address: string
  /** Absolute local folder with all pinned files: the only one that a server's DuckDB may read. */
  readonly localFolder: string
  /** Absolute local folder for work in progress, from which `moveIn` is cheap. It may be missing. */
  readonly scratchFolder: string

  /** Returns the state of a file; null for a folder, or if there is none. */
  stat(key: string): Promise<FileState | null>
  /** Returns the bytes of a small file; null if there is none. */
  get(key: string): Promise<Buffer | null>
  /**
   * Streams a file; fails if there is none.
   * @param range from `start` up to, but not including, `end`
   */
  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>
  list(folder: string): Promise<string[]>
  put(key: string, text: string): Promise<void>
  /**
   * Moves a local file, or a folder of files, into the warehouse. A file replaces the previous one. A folder
   * must be new there; its `manifest.json` appears last, and without it the folder counts as incomplete.
   * @param from absolute path, which no longer exists afterwards
   * @param existingKeys files of the folder that the warehouse already has, with their keys: they need no transfer
   */
  moveIn(from: string, key: string, existingKeys?: ReadonlyMap<string, string>): Promise<void>
  /** Removes a file, or a folder with its content; missing ones are ignored. */
  remove(key: string): Promise<void>
  /** True for a remote store, whose files are fetched on demand and evicted again. */
  readonly isRemote: boolean
  /** Returns the local path of a file or folder below `localFolder`, whether or not it is present. */
  place(key: string): string
  /**
   * Pins files, which must never change, until they are released. Fetches missing ones first and verifies
   * them; callers verify the files of a local store.
   * @returns a function that releases them
   * @throws FileUnavailable
   */
  pin(files: readonly PinnedFile[]): Promise<() => void>
  /** Returns whether a file is local, or fits without evicting another. */
  hasRoomFor(file: PinnedFile): Promise<boolean>
  /** Marks fetched files below a key as possibly damaged: they are verified before their next use. */
  markSuspect(folder: string): void
  /**
   * Locks a folder ('' for the files beside the tables), so that only this process changes it. The lock ends
   * with the process, even after a kill. Acquiring it removes incomplete files of earlier processes.
   * @returns a function that releases the lock
   * @throws LockHeld
   */
  lock(folder: string): Promise<() => Promise<void>>
}

/** A file of the warehouse, as its manifest describes it. */
export interface PinnedFile {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
}

export interface FileState {
  readonly bytes: number
  /** Changes whenever the bytes may have changed; never shown. */
  readonly version: string
}

/** A remote file cannot be fetched now; it may be available later. */
export class FileUnavailable extends Error {
  constructor(key: string, reason: string, options?: ErrorOptions) {
    super(`${key} is not on this machine, and cannot be fetched: ${reason}`, options)
    this.name = 'FileUnavailable'
  }
}

/** The error of a store, or a missing answer. */
export class StoreFailure extends Error {
  /** Code of S3 or the system, such as `AccessDenied` or `ECONNREFUSED`. */
  readonly code: string

  constructor(action: string, cause: unknown) {
    const code = codeOf(cause) ?? errorName(cause)
    super(`${action}: ${code}: ${messageOf(cause)}`, { cause })
    this.name = 'StoreFailure'
    this.code = code
  }
}

/** Another job has written a file since this one read it. */
export class WriteConflict extends Error {
  constructor(address: string) {
    super(`${address} was written by another job in the meantime, and was left unchanged; run this one again`)
    this.name = 'WriteConflict'
  }
}

export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
