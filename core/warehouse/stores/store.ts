import { codeOf, messageOf } from '../../errors.ts'

/**
 * Where a warehouse lies: a folder of this machine, or whatever else can hold files under names. All that the warehouse
 * promises (a snapshot is published whole or not at all, nothing that is read is ever changed) is built of these few
 * methods by the files beside this folder, for every kind alike; `test/core/store.test.ts` holds what each must do.
 *
 * A key is the name of a file or folder in the warehouse: the names of `layout`, joined by '/', never a path of the
 * machine and never a reader's word. Folders are there as long as something is in them. What a kind needs for itself may lie
 * among them under names that begin with a dot. A kind on a disk may use `core/duckdb/file-lock.ts` and `fingerprint.ts`; a package
 * that a kind stands on is named in `test/imports.test.ts`.
 *
 * Whatever fails throws what the system said of it. Nothing may be half there: when a call is cut short, by a kill of
 * the process too, what it was to write is there whole or is not there, and when it has returned it survives a power cut.
 */
export interface Store {
  /** What the operator called it: for messages, and before a key the place where analysts open its files. */
  readonly address: string
  /** Absolute folder of this machine below which files are that are `held`: the only one that a server's DuckDB may read. */
  readonly localFolder: string
  /** Absolute folder of this machine for work in progress, from which `take` is cheap. It may be missing. */
  readonly scratchFolder: string

  /** What a file is like now; null where there is none, and of a folder. */
  stat(key: string): Promise<FileState | null>
  /** All bytes of a small file; null where there is none. */
  get(key: string): Promise<Buffer | null>
  /**
   * The bytes of a file, piece by piece; it fails where there is none.
   *
   * @param range from `start` up to `end`, without it
   */
  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>
  /** The names right in a folder, in any order; none where there is no such folder. */
  list(folder: string): Promise<string[]>
  /** Writes a small file, in place of the one before: who reads it gets one of them, whole. */
  put(key: string, text: string): Promise<void>
  /**
   * Moves a file, or a folder of files, from this machine into the warehouse. A file takes the place of the one before;
   * a folder is new, and what is in it comes before its `manifest.json`, without which nobody takes it for whole.
   *
   * @param from absolute path; nothing is left there
   * @param same files of the folder, by their names, that the warehouse has under these keys: they need not travel
   */
  take(from: string, key: string, same?: ReadonlyMap<string, string>): Promise<void>
  /** Removes a file, or a folder with all that is in it; nothing happens where there is none. */
  remove(key: string): Promise<void>
  /** Whether files are brought here when they are asked for, and go again: that one is not here says nothing of it. */
  readonly isElsewhere: boolean
  /** Where on this machine a file or folder is, if it is here: an absolute path below `localFolder`. */
  place(key: string): string
  /**
   * Brings files that are never replaced here, where they are not, and keeps them here until they are let go. What lies
   * elsewhere is what its sum says then; what always lies here is for its reader to look at.
   *
   * @returns lets them go
   * @throws NotHere
   */
  hold(files: readonly HeldFile[]): Promise<() => void>
  /** Whether a file is here, or would come without another having to go. */
  hasRoomFor(file: HeldFile): Promise<boolean>
  /** What was brought here below a key may be damaged: it is looked at before it is held again. */
  distrust(folder: string): void
  /**
   * Holds a folder ('' for the files beside those of the tables) as the only process that changes what is in it. The
   * lock ends with the process, however that ends; what another left half written is gone when it is held.
   *
   * @returns lets go
   * @throws LockHeld
   */
  lock(folder: string): Promise<() => Promise<void>>
}

/** A file of the warehouse, as its manifest describes it. */
export interface HeldFile {
  readonly key: string
  readonly bytes: number
  readonly sha256: string
}

export interface FileState {
  readonly bytes: number
  /** Another one whenever the bytes may be others; never shown. */
  readonly version: string
}

/** A file that lies elsewhere cannot be brought here now; it may be later. */
export class NotHere extends Error {
  constructor(key: string, why: string, options?: ErrorOptions) {
    super(`${key} is not on this machine, and cannot be brought: ${why}`, options)
    this.name = 'NotHere'
  }
}

/** What the store answered, or that it did not. */
export class StoreFailure extends Error {
  /** As S3 or the system calls it, such as `AccessDenied` or `ECONNREFUSED`. */
  readonly code: string

  constructor(what: string, cause: unknown) {
    const code = codeOf(cause) ?? nameOf(cause)
    super(`${what}: ${code}: ${messageOf(cause)}`, { cause })
    this.name = 'StoreFailure'
    this.code = code
  }
}

/** Another job wrote a file since this one read it. */
export class WriteConflict extends Error {
  constructor(address: string) {
    super(`${address} was written by another job meanwhile, and is as that left it; run this one again`)
    this.name = 'WriteConflict'
  }
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
