import { createHash } from 'node:crypto'
import { dirname, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { buildCatalog, type Catalog } from './catalog.ts'
import { joinDocuments, readCatalogFiles, type CatalogFile, type JoinedDocument } from './catalog-files.ts'
import { checkNames } from './check.ts'
import { catalogDefinition } from './definition.ts'
import { readDocument } from './document.ts'
import { explain } from './explain.ts'
import { StartError } from '../errors.ts'

/** Cache of parsed YAML texts. */
export interface ParsedTexts {
  /** Returns the parsed value of a text; undefined if unknown. */
  get(text: string): Promise<unknown>
  /** Receives the value of the text of a whole catalog. */
  parsed(text: string, root: unknown): void
}

/** Parsed files of the latest catalog, so that only changed ones are parsed. */
export class ParsedFiles {
  roots: ReadonlyMap<string, unknown> = new Map()

  /** Parses unknown files, and yields the event loop after each. */
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
 * @param file path of the YAML file
 * @param texts cache of parsed texts
 * @param parsed cache of parsed files
 * @throws CatalogError with every fault found, each as file:line:column
 */
export async function loadCatalog(
  file: string,
  texts: ParsedTexts | null = null,
  parsed: ParsedFiles = new ParsedFiles(),
): Promise<Catalog> {
  const files = await readCatalogFiles(file)
  const text = wholeText(files)
  const root = await texts?.get(text)
  // Positions of faults need the parsed text.
  const known = root === undefined ? null : catalogOf(root, text)
  if (known !== null) return known
  if (files.length > 1) await parsed.read(files)
  return parseCatalogFiles(files, texts, parsed)
}

/** Works like `loadCatalog`, from a text without its includes; `file` is only its name in faults. */
export function parseCatalog(text: string, file: string): Catalog {
  return parseCatalogFiles([{ file, text }])
}

/** Works like `loadCatalog`, from texts, that of the catalog first. */
export function parseCatalogFiles(
  files: readonly CatalogFile[],
  texts: ParsedTexts | null = null,
  parsed: ParsedFiles = new ParsedFiles(),
): Catalog {
  const document = joinDocuments(files, parsed.roots)
  const text = wholeText(files)
  const catalog = document.readable && document.problems.length === 0 ? catalogOf(document.root, text) : null
  if (catalog === null) throw new CatalogError(files[0]?.file ?? '', faultsIn(document, files))
  texts?.parsed(text, document.root)
  parsed.roots = document.roots
  return catalog
}

/** Joins the files into a text that differs for other files. */
function wholeText(files: readonly CatalogFile[]): string {
  const [main] = files
  if (main === undefined || files.length === 1) return main?.text ?? ''
  return JSON.stringify(files.map(({ file, text }) => [relative(dirname(main.file), file), text]))
}

/** Returns null if there is a fault. */
function catalogOf(root: unknown, text: string): Catalog | null {
  const { data } = catalogDefinition.safeParse(root)
  const faults: string[] = []
  checkNames(root, (_path, message) => faults.push(message))
  if (data === undefined || faults.length > 0) return null
  return buildCatalog(data, createHash('sha256').update(text).digest('hex'))
}

function faultsIn(document: JoinedDocument, files: readonly CatalogFile[]): Fault[] {
  const faults: Fault[] = [...document.problems]
  const issues = document.readable ? catalogDefinition.safeParse(document.root).error?.issues : null
  for (const issue of issues ?? []) {
    for (const { path, ofKey, message } of explain(issue, document)) {
      faults.push({ ...document.placeOf(path, ofKey), message })
    }
  }
  if (document.readable)
    checkNames(document.root, (path, message) => faults.push({ ...document.placeOf(path), message }))
  const places = new Map(files.map(({ file }, index) => [file, index]))
  const placeOf = ({ file }: Fault): number => places.get(file) ?? 0
  return faults.toSorted((a, b) => placeOf(a) - placeOf(b) || a.line - b.line || a.column - b.column)
}

/** A fault in a catalog, with its position. */
interface Fault {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** More than a person reads at once; one wrong indent may cause thousands. */
const toldMax = 50

/** The catalog is invalid; has every fault that was found, and the first as message. */
export class CatalogError extends StartError {
  readonly faults: readonly Fault[]

  constructor(file: string, faults: readonly Fault[]) {
    const lines = faults
      .slice(0, toldMax)
      .map((fault) => `${fault.file}:${fault.line}:${fault.column}: ${fault.message}`)
    if (faults.length > toldMax) lines.push(`and ${(faults.length - toldMax).toLocaleString('en')} more`)
    const title = `${file} has ${faults.length === 1 ? 'an error' : `${faults.length.toLocaleString('en')} errors`}:`
    super([title, ...lines].join('\n'))
    this.faults = faults
  }
}
