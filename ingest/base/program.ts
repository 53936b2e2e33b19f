import path from 'node:path'
import type { Settings } from '../../core/settings/read.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'

/** Opens the warehouse with local copies separate from those of servers. */
export function openWarehouse(settings: Settings): Store {
  return openStore(settings.warehouse, {
    ...settings,
    localFolder: path.join(settings.localFolder, 'jobs'),
  })
}
