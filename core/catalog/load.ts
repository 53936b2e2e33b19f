import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { StartError } from '../errors.ts'
import { buildCatalog } from './build.ts'
import type { Catalog } from './catalog.ts'
import { checkNames } from './check.ts'
import { catalogDefinition } from './definition.ts'
import { readDocument } from './document.ts'
import { explain } from './explain.ts'
import { CatalogError, type Fault } from './faults.ts'

/**
 * Reads, checks and freezes the catalog.
 *
 * @param file path of the YAML file
 * @throws CatalogError with every fault found, each as file:line:column
 */
export async function loadCatalog(file: string): Promise<Catalog> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new StartError(`the catalog ${file} cannot be read; set CATALOG to the path of a catalog.yaml`, {
      cause,
    })
  }
  return parseCatalog(text, file)
}

/** As `loadCatalog`, from the text itself; `file` only names it in faults. */
export function parseCatalog(text: string, file: string): Catalog {
  const document = readDocument(text)
  const faults: Fault[] = [...document.problems]
  if (!document.readable) throw new CatalogError(file, faults)

  const parsed = catalogDefinition.safeParse(document.root)
  for (const issue of parsed.error?.issues ?? []) {
    for (const { path, ofKey, message } of explain(issue, document)) {
      faults.push({ ...document.placeOf(path, ofKey), message })
    }
  }
  checkNames(document.root, (path, message) => faults.push({ ...document.placeOf(path), message }))

  if (parsed.success && faults.length === 0) {
    return buildCatalog(parsed.data, createHash('sha256').update(text).digest('hex'))
  }
  throw new CatalogError(
    file,
    faults.toSorted((a, b) => a.line - b.line || a.column - b.column),
  )
}
