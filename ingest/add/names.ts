import path from 'node:path'
import { isPathName } from '../../core/catalog/shapes.ts'
import { StartError } from '../../core/errors.ts'
import type { NamedFiles } from '../source/named-files.ts'
import { tableNameFor } from '../suggest/names.ts'

export interface Names {
  readonly dataset: string
  readonly table: string
}

/**
 * Requested names, or names after the folder and the file.
 * @throws StartError for invalid names
 */
export function namesOf(
  { files, source }: NamedFiles,
  requestedNames: { readonly dataset: string | undefined; readonly table: string | undefined },
): Names {
  const table = requestedNames.table ?? tableNameFor(path.basename(files[0]?.name ?? ''))
  const [folder, ...inner] = typeof source.files === 'string' ? source.files.split('/') : []
  const isWeb = folder?.endsWith(':') === true
  const dataset = requestedNames.dataset ?? (inner.length > 0 && !isWeb ? tableNameFor(folder ?? '') : table)
  for (const [setting, name] of Object.entries({ DATASET: dataset, TABLE: table })) {
    if (!isPathName(name))
      throw new StartError(
        `${setting} is "${name}", and must be lower-case letters, digits, - and _, letter or digit first: set it to another name`,
      )
  }
  return { dataset, table }
}

export function titled(slug: string): string {
  const words = slug.replaceAll(/[_-]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
