import { readFile } from 'node:fs/promises'
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml'
import type { z } from 'zod'
import { didYouMean } from '../nearest.ts'
import { messageOf, StartError } from '../errors.ts'
import { buildCatalog } from './build.ts'
import type { Catalog } from './catalog.ts'
import { checkNames, type Path } from './check.ts'
import { catalogDefinition } from './definition.ts'
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
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
  })
  const faults: Fault[] = []
  const reportAt = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset)
    faults.push({ line, column: col, message })
  }
  for (const problem of [...document.errors, ...document.warnings]) reportAt(problem.pos[0], problem.message)
  if (document.errors.some((error) => error.code !== 'DUPLICATE_KEY')) throw new CatalogError(file, faults)

  const root = plainValue(document, (message) => reportAt(0, message))
  const parsed = catalogDefinition.safeParse(root)
  for (const issue of parsed.error?.issues ?? []) {
    for (const { path, key, message } of explain(issue, document))
      reportAt(offsetOf(document, path, key), message)
  }
  checkNames(root, (path, message) => reportAt(offsetOf(document, path, false), message))

  if (parsed.success && faults.length === 0) return buildCatalog(parsed.data)
  throw new CatalogError(
    file,
    faults.toSorted((a, b) => a.line - b.line || a.column - b.column),
  )
}

function plainValue(document: Document, report: (message: string) => void): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 })
  } catch (error) {
    report(`cannot be read: ${messageOf(error)}`)
    return null
  }
}

interface Explained {
  readonly path: Path
  /** Whether the key itself is at fault, not its value. */
  readonly key: boolean
  readonly message: string
}

/** What a reader of the YAML must know about an issue of the shapes. */
function explain(issue: z.core.$ZodIssue, document: Document): Explained[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const node = nodeAt(document, path)
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(path)
      return issue.keys.map((name) => ({
        path: [...path, name],
        key: true,
        message: `unknown key "${name}"${didYouMean(name, known)}; known here: ${known.join(', ')}`,
      }))
    }
    case 'invalid_type':
      return node === undefined ? [missing(path)] : [{ path, key: false, message: wrongKind(issue, node) }]
    case 'invalid_value': {
      if (node === undefined) return [missing(path)]
      const known = issue.values.map(String)
      const text = written(node)
      return [
        {
          path,
          key: false,
          message: `"${text}" is not one of ${known.join(', ')}${didYouMean(text, known)}`,
        },
      ]
    }
    case 'invalid_key':
      return issue.issues.map((inner) => ({
        path,
        key: true,
        message: `the name "${String(path.at(-1))}" ${inner.message}`,
      }))
    default:
      return [
        {
          path,
          key: false,
          message: node === undefined ? issue.message : `"${written(node)}" ${issue.message}`,
        },
      ]
  }
}

function missing(path: Path): Explained {
  const key = path.at(-1)
  const message =
    key === undefined ? `is empty: it must hold ${knownKeys([]).join(', ')}` : `the key "${key}" is missing`
  return { path: path.slice(0, -1), key: false, message }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of names',
  boolean: 'true or false',
  number: 'a number',
  int: 'a whole number',
}

function wrongKind(issue: z.core.$ZodIssueInvalidType, node: Node): string {
  const expected = kinds[issue.expected] ?? issue.expected
  if (!isScalar(node)) return `must be ${expected}, and is ${isSeq(node) ? 'a list' : 'a map of keys'}`
  const text = written(node)
  const isText = typeof node.value === 'string' ? 'text' : JSON.stringify(node.value)
  const toText = issue.expected === 'string' && text !== ''
  const fromText = typeof node.value === 'string' && ['number', 'int', 'boolean'].includes(issue.expected)
  const remedy = toText
    ? `: write it in quotes, "${text}"`
    : fromText
      ? ': remove the quotes, if it has any'
      : ''
  return `must be ${expected}; YAML reads ${text === '' ? 'nothing' : text} as ${isText}${remedy}`
}

/** The keys that the definition knows at a path. */
function knownKeys(path: Path): string[] {
  let shape: unknown = catalogDefinition
  for (const step of path) shape = child(unwrapped(shape), step)
  const found = unwrapped(shape)
  return hasShape(found) ? Object.keys(found.shape) : []
}

function child(schema: unknown, step: string | number): unknown {
  if (hasShape(schema)) return schema.shape[String(step)]
  if (typeof schema === 'object' && schema !== null) {
    if ('element' in schema) return schema.element
    if ('valueType' in schema) return schema.valueType
  }
  return undefined
}

function unwrapped(schema: unknown): unknown {
  const isOptional =
    typeof schema === 'object' && schema !== null && 'unwrap' in schema && !('element' in schema)
  return isOptional && typeof schema.unwrap === 'function' ? (schema.unwrap as () => unknown)() : schema
}

function hasShape(schema: unknown): schema is { shape: Record<string, unknown> } {
  return typeof schema === 'object' && schema !== null && 'shape' in schema
}

function nodeAt(document: Document, path: Path): Node | undefined {
  let node: unknown = document.contents
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (!isMap(node) && !isSeq(node)) return undefined
    node = node.get(step, true)
  }
  return (node as Node | null | undefined) ?? undefined
}

/** Where a path starts in the text; the nearest that exists where it does not. */
function offsetOf(document: Document, path: Path, ofKey: boolean): number {
  if (ofKey) {
    const parent = nodeAt(document, path.slice(0, -1))
    const pair = isMap(parent)
      ? parent.items.find((item) => String(item.key) === String(path.at(-1)))
      : undefined
    const range = (pair?.key as Node | undefined)?.range
    if (range) return range[0]
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const range = nodeAt(document, path.slice(0, length))?.range
    if (range) return range[0]
  }
  return 0
}

const writtenMax = 80

/** A value as the author wrote it, shortened. */
function written(node: Node): string {
  const text = isScalar(node) ? (node.source ?? JSON.stringify(node.value)) : JSON.stringify(node)
  return text.length <= writtenMax ? text : `${text.slice(0, writtenMax)}…`
}
