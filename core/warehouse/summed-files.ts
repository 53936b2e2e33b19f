import { hashBytes, sumsOf } from './hash.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

/**
 * Replaces a file that belongs to no snapshot, and writes its SHA-256 beside it, for `sha256sum -c`.
 * @param file new local file, which is moved
 * @param name in the store
 */
export async function replaceSummed(store: Store, file: string, name: string): Promise<void> {
  const line = lineOf(name, (await sumsOf(file)).sha256)
  const before = String((await store.get(layout.checksumOf(name))) ?? (await lineOfUnsummed(store, name)))
  // Lists both checksums during the exchange, so that one is right if the job is killed.
  await store.put(layout.checksumOf(name), line + before)
  await store.moveIn(file, name)
  await store.put(layout.checksumOf(name), line)
}

async function lineOfUnsummed(store: Store, name: string): Promise<string> {
  return (await store.stat(name)) === null ? '' : lineOf(name, await hashBytes(store.read(name)))
}

/** Also true if the file and its sum are missing. */
export async function isAsSummed(store: Store, name: string): Promise<boolean> {
  const isThere = (await store.stat(name)) !== null
  return hasSum(store, name, isThere ? await hashBytes(store.read(name)) : null)
}

async function hasSum(store: Store, name: string, sha256: string | null): Promise<boolean> {
  const sums = await store.get(layout.checksumOf(name))
  if (sums === null) return sha256 === null
  // A killed job may leave the sums of both files.
  const hashes = sums.toString().split(lineOf(name, '')).slice(0, -1)
  return (
    sha256 !== null &&
    hashes.includes(sha256) &&
    hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash)) &&
    sums.toString() === hashes.map((hash) => lineOf(name, hash)).join('')
  )
}

function lineOf(name: string, sha256: string): string {
  return `${sha256}  ${name}\n`
}
