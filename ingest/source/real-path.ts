import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'

/**
 * Returns the real path of a file or folder of SOURCES; null if there is none. A person who may put a file
 * into SOURCES must not be able to publish, or see in a message, other files of this machine.
 * @throws TableFailure if it is outside of SOURCES, which may be a link itself
 */
export async function realPathWithin(sources: string, file: string): Promise<string | null> {
  const [home, place] = await Promise.all([realPathOf(sources), realPathOf(file)])
  if (home === null || place === null) return null
  if (isUnder(home, place)) return place
  const what = isUnder(path.resolve(sources), path.resolve(file))
    ? 'is a link, or is below one, that leads outside SOURCES'
    : 'is outside SOURCES'
  throw new TableFailure(`${file} ${what}: move the file there, or set SOURCES to a folder that contains it`)
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
