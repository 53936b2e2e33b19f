import { fileURLToPath } from 'node:url'
import { StartError } from '../../errors.ts'
import { FolderStore } from './folder.ts'
import { Remembered } from './remembered.ts'
import { S3Store } from './s3.ts'
import type { Store } from './store.ts'

interface StoreOptions {
  /** Where what lies elsewhere is brought to, and put together before it goes there. */
  readonly localFolder: string
  /** Nothing is written, and what was read last is answered while the store is away. */
  readonly isOnlyRead?: boolean
  /** Of what is brought there to be served. */
  readonly localBytesMax?: number
  /** After which the lock of a job that gives no sign of life is anybody's, where the system does not tell. */
  readonly leaseMs?: number
}

/** Each kind of store by the scheme of its address; a `WAREHOUSE` without one is a folder. */
const kinds: Readonly<Record<string, (address: string, options: StoreOptions) => Store>> = {
  file: (address) => new FolderStore(fileURLToPath(address)),
  s3: (address, { localFolder: folder, localBytesMax: bytesMax, leaseMs, isOnlyRead }) => {
    const store = new S3Store(address, {
      folder,
      ...(bytesMax !== undefined && { bytesMax }),
      ...(leaseMs !== undefined && { lease: { leaseMs } }),
    })
    return isOnlyRead === true ? new Remembered(store) : store
  },
}

/**
 * The store that the setting `WAREHOUSE` names.
 *
 * @throws StartError where there is no such kind
 */
export function openStore(warehouse: string, options: StoreOptions = { localFolder: '.local' }): Store {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(warehouse)?.[1]?.toLowerCase()
  if (scheme === undefined) return new FolderStore(warehouse)
  const open = kinds[scheme]
  if (open !== undefined) return open(warehouse, options)
  const known = Object.keys(kinds).map((kind) => `${kind}://`)
  throw new StartError(
    `WAREHOUSE: there is no kind of warehouse ${scheme}://; it is a folder, or begins with ${known.join(', ')}`,
  )
}
