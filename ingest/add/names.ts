import path from 'node:path'
import { isPathName } from '../../core/catalog/definition.ts'
import { StartError } from '../../core/errors.ts'
import type { NamedFiles } from '../source/named-files.ts'
import { tableNameFor } from '../suggest/names.ts'

/** What a table that is added is called. */
export interface Names {
  readonly dataset: string
  readonly table: string
}

/**
 * As it is asked for, or after the folder and the file.
 *
 * @throws StartError where the catalog cannot have such a name
 */
export function namesOf(
  { files, source }: NamedFiles,
  asked: { readonly dataset: string | undefined; readonly table: string | undefined },
): Names {
  const table = asked.table ?? tableNameFor(path.basename(files[0]?.name ?? ''))
  const [folder, ...inner] = typeof source.files === 'string' ? source.files.split('/') : []
  const isWeb = folder?.endsWith(':') === true
  const dataset = asked.dataset ?? (inner.length > 0 && !isWeb ? tableNameFor(folder ?? '') : table)
  for (const [what, name] of Object.entries({ DATASET: dataset, TABLE: table })) {
    if (!isPathName(name))
      throw new StartError(`${what} is "${name}", and must be lower-case letters, digits, - and _`)
  }
  return { dataset, table }
}

/** A slug as people read it. */
export function titled(slug: string): string {
  const words = slug.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
