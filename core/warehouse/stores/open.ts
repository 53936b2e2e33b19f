import { fileURLToPath } from 'node:url'
import { StartError } from '../../errors.ts'
import { FolderStore } from './folder.ts'
import type { Store } from './store.ts'

/** Each kind of store by the scheme of its address; a `WAREHOUSE` without one is a folder. */
const kinds: Readonly<Record<string, (address: string) => Store>> = {
  file: (address) => new FolderStore(fileURLToPath(address)),
}

/**
 * The store that the setting `WAREHOUSE` names.
 *
 * @throws StartError where there is no such kind
 */
export function openStore(warehouse: string): Store {
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(warehouse)?.[1]?.toLowerCase()
  if (scheme === undefined) return new FolderStore(warehouse)
  const open = kinds[scheme]
  if (open !== undefined) return open(warehouse)
  const known = Object.keys(kinds).map((kind) => `${kind}://`)
  throw new StartError(`WAREHOUSE: there is no kind of warehouse ${scheme}://; it is a folder, or begins with ${known.join(', ')}`)
}
