import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { codeOf } from '../../core/errors.ts'
import { TableFailure } from '../base/rejects.ts'

/**
 * Returns the real path of a file or folder under SOURCES; null if it does not exist. A person who may only
 * add files to SOURCES must not publish or see other files of this machine through links.
 * @throws TableFailure if the real path is outside of SOURCES; SOURCES itself may be a link
 */
export async function realPathWithin(sources: string, file: string): Promise<string | null> {
  const [home, place] = await Promise.all([realPathOf(sources), realPathOf(file)])
  if (home === null || place === null) return null
  if (isUnder(home, place)) return place
  const what = isUnder(path.resolve(sources), path.resolve(file))
    ? 'leads outside SOURCES through a link'
    : 'is outside SOURCES'
  throw new TableFailure(
    `${file} ${what}: move the file into SOURCES, or set SOURCES to a folder that contains it`,
  )
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
