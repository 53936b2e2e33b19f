import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { StartError } from '../errors.ts'
import { buildCatalog } from './build.ts'
import type { Catalog } from './catalog.ts'
import { checkNames } from './check.ts'
import { catalogDefinition } from './definition.ts'
import { readDocument, type PlacedDocument } from './document.ts'
import { explain } from './explain.ts'
import { CatalogError, type Fault } from './faults.ts'

/** Remembers what texts say as YAML. */
export interface ParsedTexts {
  /** The plain value of a text, as YAML has it; undefined where it is not known. */
  get(text: string): Promise<unknown>
  /** Is told the value of a text that is a whole catalog. */
  parsed(text: string, root: unknown): void
}

/**
 * Reads, checks and freezes the catalog.
 *
 * @param file path of the YAML file
 * @param texts saves its parsing where it knows the text
 * @throws CatalogError with every fault found, each as file:line:column
 */
export async function loadCatalog(file: string, texts: ParsedTexts | null = null): Promise<Catalog> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new StartError(`the catalog ${file} cannot be read; set CATALOG to the path of a catalog.yaml`, {
      cause,
    })
  }
  const root = await texts?.get(text)
  // Where it is faulty, the text has to be read for the places.
  const known = root === undefined ? null : catalogOf(root, text)
  return known ?? parseCatalog(text, file, texts)
}

/** As `loadCatalog`, from the text itself; `file` only names it in faults. */
export function parseCatalog(text: string, file: string, texts: ParsedTexts | null = null): Catalog {
  const document = readDocument(text)
  const catalog = document.readable && document.problems.length === 0 ? catalogOf(document.root, text) : null
  if (catalog === null) throw new CatalogError(file, faultsIn(document))
  texts?.parsed(text, document.root)
  return catalog
}

/** Null where there is a fault. */
function catalogOf(root: unknown, text: string): Catalog | null {
  const { data } = catalogDefinition.safeParse(root)
  const faults: string[] = []
  checkNames(root, (_path, message) => faults.push(message))
  if (data === undefined || faults.length > 0) return null
  return buildCatalog(data, createHash('sha256').update(text).digest('hex'))
}

function faultsIn(document: PlacedDocument): Fault[] {
  const faults: Fault[] = [...document.problems]
  if (!document.readable) return faults
  const parsed = catalogDefinition.safeParse(document.root)
  for (const issue of parsed.error?.issues ?? []) {
    for (const { path, ofKey, message } of explain(issue, document)) {
      faults.push({ ...document.placeOf(path, ofKey), message })
    }
  }
  checkNames(document.root, (path, message) => faults.push({ ...document.placeOf(path), message }))
  return faults.toSorted((a, b) => a.line - b.line || a.column - b.column)
}
