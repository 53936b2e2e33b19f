import path from 'node:path'
import { inOrder } from '../in-order.ts'
import { fingerprint } from './fingerprint.ts'
import { hashBytes, hashOf } from './hash.ts'
import { filesOf, type Manifest, type StoredFile } from './manifest.ts'
import type { Store } from './stores/store.ts'

/** The bytes differ from the published ones; waiting does not help. */
export class DamagedFile extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DamagedFile'
  }
}

/** The file is missing or incomplete; it may be in transfer. */
export class MissingFile extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MissingFile'
  }
}

const hashedMax = 2

export interface SnapshotFiles {
  readonly bytes: (file: string) => Promise<number | null>
  readonly hash: (file: string) => Promise<string>
}

export function filesInStore(store: Store, folder: string): SnapshotFiles {
  return {
    bytes: async (file) => (await store.stat(`${folder}/${file}`))?.bytes ?? null,
    hash: (file) => {
      const key = `${folder}/${file}`
      return store.isRemote ? hashBytes(store.read(key)) : hashOf(store.place(key))
    },
  }
}

/**
 * @param folder absolute local path
 * @param hash hashes a file by its path
 */
export function filesInFolder(
  folder: string,
  hash: (file: string) => Promise<string> = hashOf,
): SnapshotFiles {
  return {
    bytes: async (file) => (await fingerprint(path.join(folder, file)))?.bytes ?? null,
    hash: (file) => hash(path.join(folder, file)),
  }
}

/**
 * Verifies every file: a flipped bit in Parquet often decodes to another value without an error.
 * @param isKnown returns whether a file of the right size needs no hash
 * @throws MissingFile if one is missing or of another size; DamagedFile if its hash differs
 */
export async function verifyFiles(
  files: SnapshotFiles,
  manifest: Manifest,
  isKnown: (file: string) => boolean = () => false,
): Promise<void> {
  for (const file of filesOf(manifest)) await requireSize(files, file)
  const unknown = filesOf(manifest).filter(({ file }) => !isKnown(file))
  for await (const _ of inOrder(unknown, hashedMax, (file) => requireHash(files, file)));
}

export async function verifyFile(files: SnapshotFiles, storedFile: StoredFile): Promise<void> {
  await requireSize(files, storedFile)
  await requireHash(files, storedFile)
}

async function requireHash(files: SnapshotFiles, storedFile: StoredFile): Promise<void> {
  if ((await files.hash(storedFile.file)) !== storedFile.sha256) {
    throw new DamagedFile(`${storedFile.file} is damaged: its hash differs from that in the manifest`)
  }
}

async function requireSize(files: SnapshotFiles, { file, bytes }: StoredFile): Promise<void> {
  const content = await files.bytes(file)
  if (content === null) throw new MissingFile(`${file} is missing`)
  if (content !== bytes)
    throw new MissingFile(`${file} has ${content} bytes instead of ${bytes} as in the manifest`)
}
