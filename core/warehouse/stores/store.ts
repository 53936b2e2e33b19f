import { codeOf, messageOf, SystemFailure } from '../../errors.ts'

/**
 * A place for the files of a warehouse. The modules beside this folder build all guarantees from these
 * methods: a snapshot is published completely or not at all, and published files never change.
 * `test/core/store.test.ts` tests each method.
 * - A key joins names of `layout` with '/', and is never a local path or part of a request. Folders exist as
 * long as they contain files. Implementations may have files under names that begin with a dot.
 * - Methods throw the error of the system, or a StoreFailure. Writes are atomic, even if the process dies.
 * Once a call has returned, its file survives a power cut.
 */
export interface Store {
  /** Used in messages, and as prefix of keys for analysts. */
  readonly address: string
  /** Absolute folder with all pinned files, the only one that a server's DuckDB may read. */
  readonly localFolder: string
  /** Absolute folder for work in progress, from which `moveIn` is cheap. It may be missing. */
  readonly scratchFolder: string

  /** Null for a folder or a missing file. */
  stat(key: string): Promise<FileState | null>
  get(key: string): Promise<Buffer | null>
  /** @param range from `start` up to, but not including, `end` */
  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>
  list(folder: string): Promise<string[]>
  put(key: string, text: string): Promise<void>
  /**
   * Moves a local file or folder into the warehouse. A file replaces the previous one. A folder must be new;
   * its `manifest.json` appears last and makes it complete.
   * @param from absolute path, which no longer exists afterwards
   * @param existingKeys files of the folder that the warehouse already has, with their keys
   */
  moveIn(from: string, key: string, existingKeys?: ReadonlyMap<string, string>): Promise<void>
  /** Ignores missing files. */
  remove(key: string): Promise<void>
  /** Remote files are fetched on demand and evicted again. */
  readonly isRemote: boolean
  /** Local path of a key below `localFolder`, present or not. */
  place(key: string): string
  /**
   * Pins files, which must never change. Fetches missing ones and verifies them; callers verify the files of
   * a local store.
   * @returns a function that releases them
   * @throws FileUnavailable
   */
  pin(files: readonly PinnedFile[]): Promise<() => void>
  /** Returns whether a file is local, or fits without evicting another. */
  hasRoomFor(file: PinnedFile): Promise<boolean>
  /** Verifies fetched files below a key again before their next use. */
  markSuspect(folder: string): void
  /**
   * Locks a folder ('' for the files beside the tables), until the process ends at the latest. Removes
   * incomplete files of earlier processes.
   * @returns a function that releases the lock
   * @throws LockHeld
   */
  lock(folder: string): Promise<() => Promise<void>>
}

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

/** Error of a store, or a missing answer. */
export class StoreFailure extends SystemFailure {
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
