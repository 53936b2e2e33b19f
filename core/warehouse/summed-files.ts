import { hashBytes, sumsOf } from './hash.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

/**
 * Puts a file that belongs to no snapshot into the place of the one before, with its SHA-256 beside it, as
 * `sha256sum -c` reads it.
 *
 * @param file of this machine, which is moved
 * @param name in the store
 */
export async function replaceSummed(store: Store, file: string, name: string): Promise<void> {
  const line = lineOf(name, (await sumsOf(file)).sha256)
  const before = String((await store.get(layout.sumOf(name))) ?? '')
  // Of both while they change places: whatever ends the job between, one of the lines is right.
  await store.put(layout.sumOf(name), line + before)
  await store.take(file, name)
  await store.put(layout.sumOf(name), line)
}

/** Whether a file is as `replaceSummed` wrote it; a file that never was is. */
export async function isAsSummed(store: Store, name: string): Promise<boolean> {
  const isThere = (await store.stat(name)) !== null
  return hasSum(store, name, isThere ? await hashBytes(store.read(name)) : null)
}

/** @param sha256 of the file that was found, null where there is none */
export async function hasSum(store: Store, name: string, sha256: string | null): Promise<boolean> {
  const sums = await store.get(layout.sumOf(name))
  if (sums === null) return sha256 === null
  // There are sums of the new and the old one where a job was killed while they changed places.
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
