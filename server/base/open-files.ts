import { closeSync, openSync } from 'node:fs'
import { LRUCache } from 'lru-cache'

/** Opening a file costs as much as reading a page. */
const openMs = 1000
const filesMax = 64

const descriptors = new LRUCache<object, number>({
  max: filesMax,
  ttl: openMs,
  ttlAutopurge: true,
  dispose: (descriptor) => closeSync(descriptor),
})

/**
 * Returns a descriptor for use before the next `await`.
 * @param file identifies the file: snapshots may have files with the same path
 */
export function descriptorOf(file: object, path: string): number {
  const openDescriptor = descriptors.get(file)
  if (openDescriptor !== undefined) return openDescriptor
  const descriptor = openSync(path, 'r')
  descriptors.set(file, descriptor)
  return descriptor
}

export function closeFile(file: object): void {
  descriptors.delete(file)
}
