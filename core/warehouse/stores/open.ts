import { fileURLToPath } from 'node:url'
import { StartError } from '../../errors.ts'
import { FolderStore } from './folder.ts'
import { CachedStore } from './cached-store.ts'
import { S3Store } from './s3.ts'
import type { Store } from './store.ts'

interface StoreOptions {
  readonly localFolder: string
  /** A process that only reads continues with the last known state while the store is unavailable. */
  readonly isOnlyRead?: boolean
  readonly localBytesMax?: number
  /** Time after which the lock of a silent job expires, at the latest. */
  readonly leaseMs?: number
}

/** A `WAREHOUSE` without a scheme is a folder. */
const kinds: Readonly<Record<string, (address: string, options: StoreOptions) => Store>> = {
  file: (address) => new FolderStore(fileURLToPath(address)),
  s3: (address, { localFolder: folder, localBytesMax: bytesMax, leaseMs, isOnlyRead }) => {
    const store = new S3Store(address, {
      folder,
      ...(bytesMax !== undefined && { bytesMax }),
      ...(leaseMs !== undefined && { lease: { leaseMs } }),
    })
    return isOnlyRead === true ? new CachedStore(store) : store
  },
}

/**
 * Opens the store of the setting `WAREHOUSE`.
 * @throws StartError for an unknown kind
 */
export function openStore(warehouse: string, options: StoreOptions = { localFolder: '.local' }): Store {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(warehouse)?.[1]?.toLowerCase()
  if (scheme === undefined) return new FolderStore(warehouse)
  const open = kinds[scheme]
  if (open !== undefined) return open(warehouse, options)
  const schemes = Object.keys(kinds).map((kind) => `${kind}://`)
  throw new StartError(
    `WAREHOUSE: ${scheme}:// is not supported; set a folder, or an address that starts with ${schemes.join(', ')}`,
  )
}
