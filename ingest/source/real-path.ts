import type { Stats } from 'node:fs'
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'

/**
 * Real path of a file below a folder; null if missing. Links must not publish other files of this machine.
 * @param folder may be a link itself
 * @param name of the folder, in messages
 * @throws TableFailure if the real path is outside of the folder
 */
export async function realPathWithin(
  folder: string,
  file: string,
  name: string = 'SOURCES',
): Promise<string | null> {
  const [home, place] = await Promise.all([realPathOf(folder), realPathOf(file)])
  if (home === null || place === null) return null
  if (isUnder(home, place)) return place
  const problem = isUnder(path.resolve(folder), path.resolve(file))
    ? `leads outside ${name} through a link`
    : `is outside ${name}`
  const remedy =
    name === 'SOURCES'
      ? 'move the file into SOURCES, or set SOURCES to a folder that contains it'
      : `copy the file into ${name}`
  throw new TableFailure(`${file} ${problem}: ${remedy}`)
}

/** Kind of a path that cannot be read to an end, such as a named pipe; null for files and folders. */
export function unreadableKind(facts: Stats): string | null {
  if (facts.isFile() || facts.isDirectory()) return null
  if (facts.isFIFO()) return 'a named pipe'
  return facts.isSocket() ? 'a socket' : 'a device'
}

async function realPathOf(file: string): Promise<string | null> {
  try {
    return await realpath(file)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return null
    throw error
  }
}

function isUnder(folder: string, place: string): boolean {
  const way = path.relative(folder, place)
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)
}
