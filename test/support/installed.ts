import { accessSync, constants } from 'node:fs'
import path from 'node:path'

/** Returns the path of a system program; null if it is not installed. */
export function programPath(program: string): string | null {
  for (const folder of [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/sbin']) {
    const file = path.join(folder, program)
    try {
      accessSync(file, constants.X_OK)
      return file
    } catch {
      // The next one may have it.
    }
  }
  return null
}
