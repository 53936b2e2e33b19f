import path from 'node:path'
import { lastWords } from '../../core/errors.ts'
import type { Settings } from '../../core/settings/read.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'

/** Runs a program, which may return its exit code; prints an error and sets the code 1 if it fails. */
export async function runProgram(main: () => Promise<number> | Promise<void>): Promise<void> {
  try {
    process.exitCode = (await main()) ?? 0
  } catch (error) {
    console.error(lastWords(error))
    process.exitCode = 1
  }
}

/** Opens the warehouse for a job, with local copies separate from those of servers. */
export function openWarehouse(settings: Settings): Store {
  return openStore(settings.warehouse, {
    ...settings,
    localFolder: path.join(settings.localFolder, 'jobs'),
  })
}
