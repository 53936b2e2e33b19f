import { createHash } from 'node:crypto'
import { dirname, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { translated, type Catalog } from './catalog.ts'
import {
  joinDocuments,
  readCatalogFiles,
  readLogo,
  type CatalogFile,
  type JoinedDocument,
} from './catalog-files.ts'
import { readDocument } from './document.ts'
import { explain } from './explain.ts'
import { languages } from './names.ts'
import { parseDefinition } from './parse.ts'
import { StartError } from '../errors.ts'

export interface ParsedTexts {
  get(text: string): Promise<unknown>
  parsed(text: string, root: unknown): void
}

export class ParsedFiles {
  roots: ReadonlyMap<string, unknown> = new Map()

  /** Parses new files, and yields to the event loop after each. */
  async read(files: readonly CatalogFile[]): Promise<void> {
    const roots = new Map(this.roots)
    for (const { text } of files) {
      if (roots.has(text)) continue
      const { problems, readable, root } = readDocument(text)
      if (readable && problems.length === 0) roots.set(text, root)
      await setImmediate()
    }
    this.roots = roots
  }
}

/**
 * Reads, checks and freezes the catalog.
 * @throws CatalogError with every fault, each as file:line:column
 */
export async function loadCatalog(
  file: string,
  texts: ParsedTexts | null = null,
  parsedFiles: ParsedFiles = new ParsedFiles(),
): Promise<Catalog> {
  const files = await readCatalogFiles(file)
  const text = joinTexts(files)
  const root = await texts?.get(text)
  // The cache has no positions: if there is a fault, the files are parsed below to locate it.
  const knownCatalog = root === undefined ? null : catalogIn(root, text)
  if (knownCatalog !== null) return withLogo(knownCatalog, file)
  if (files.length > 1) await parsedFiles.read(files)
  return withLogo(parseCatalogFiles(files, texts, parsedFiles), file)
}

async function withLogo(catalog: Catalog, file: string): Promise<Catalog> {
  if (catalog.logo === null) return catalog
  const logoBytes = await readLogo(file, catalog.logo)
  const hash = createHash('sha256').update(catalog.hash).update(logoBytes).digest('hex')
  return Object.freeze({ ...catalog, logoBytes, hash })
}

/**
 * Builds a catalog like `loadCatalog`, but from one text without included files.
 * @param file name of the text in faults
 */
export function parseCatalog(text: string, file: string): Catalog {
  return parseCatalogFiles([{ file, text }])
}

export function parseCatalogFiles(
  files: readonly CatalogFile[],
  parsedTexts: ParsedTexts | null = null,
  parsedFiles: ParsedFiles = new ParsedFiles(),
): Catalog {
  const document = joinDocuments(files, parsedFiles.roots)
  const text = joinTexts(files)
  const catalog = document.readable && document.problems.length === 0 ? catalogIn(document.root, text) : null
  if (catalog === null) throw new CatalogError(files[0]?.file ?? '', faultsIn(document, files))
  parsedTexts?.parsed(text, document.root)
  parsedFiles.roots = document.roots
  return catalog
}

function joinTexts(files: readonly CatalogFile[]): string {
  const [main] = files
  if (main === undefined || files.length === 1) return main?.text ?? ''
  return JSON.stringify(files.map(({ file, text }) => [relative(dirname(main.file), file), text]))
}

function catalogIn(root: unknown, text: string): Catalog | null {
  const { catalog } = parseDefinition(root)
  if (catalog === null) return null
  const inLanguage = new Map(languages.map((language) => [language, translated(catalog, language)]))
  const hash = createHash('sha256').update(text).digest('hex')
  return Object.freeze({ ...translated(catalog, null), inLanguage, hash, logoBytes: null })
}

function faultsIn(document: JoinedDocument, files: readonly CatalogFile[]): Fault[] {
  const faults: Fault[] = [...document.problems]
  if (document.readable) {
    const parsedCatalog = parseDefinition(document.root)
    const explained = parsedCatalog.issues.flatMap((issue) => explain(issue, document))
    for (const { path, ofKey, message } of explained)
      faults.push({ ...document.placeOf(path, ofKey), message })
    for (const { path, message } of parsedCatalog.faults) faults.push({ ...document.placeOf(path), message })
  }
  const places = new Map(files.map(({ file }, index) => [file, index]))
  const placeOf = ({ file }: Fault): number => places.get(file) ?? 0
  return faults.toSorted((a, b) => placeOf(a) - placeOf(b) || a.line - b.line || a.column - b.column)
}

interface Fault {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

const faultsShownMax = 50

/** The catalog is invalid. `faults` has every fault that was found; the message lists the first ones. */
export class CatalogError extends StartError {
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults
      .slice(0, faultsShownMax)
      .map((fault) => `${fault.file}:${fault.line}:${fault.column}: ${fault.message}`)
    if (faults.length > faultsShownMax)
      lines.push(`and ${(faults.length - faultsShownMax).toLocaleString('en')} more`)
    const title = `${file} has ${faults.length === 1 ? 'an error' : `${faults.length.toLocaleString('en')} errors`}:`
    super([title, ...lines].join('\n'))
    this.faults = faults
  }
}
