import type { z } from 'zod'
import { didYouMean } from '../nearest.ts'
import type { Path } from './check.ts'
import { catalogDefinition } from './definition.ts'
import type { PlacedDocument, Written } from './document.ts'

/** An issue of the shapes, in words for the author of the YAML. */
export interface Explained {
  readonly path: Path
  /** Whether the key itself is at fault, not its value. */
  readonly ofKey: boolean
  readonly message: string
}

export function explain(issue: z.core.$ZodIssue, document: PlacedDocument): Explained[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(path)
    return issue.keys.map((name) => ({
      path: [...path, name],
      ofKey: true,
      message: `unknown key "${name}"${didYouMean(name, known)}; known here: ${known.join(', ')}`,
    }))
  }
  const written = document.writtenAt(path)
  if (written === undefined) return [{ path: path.slice(0, -1), ofKey: false, message: missing(path) }]
  return [{ path, ofKey: false, message: wrongValue(issue, written) }]
}

function missing(path: Path): string {
  const key = path.at(-1)
  return key === undefined
    ? `is empty: it must hold ${knownKeys([]).join(', ')}`
    : `the key "${key}" is missing`
}

function wrongValue(issue: z.core.$ZodIssue, written: Written): string {
  if (issue.code === 'invalid_type') return wrongKind(issue, written)
  if (issue.code !== 'invalid_value') return `"${written.text}" ${issue.message}`
  const known = issue.values.map(String)
  return `"${written.text}" is not one of ${known.join(', ')}${didYouMean(written.text, known)}`
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of names',
  boolean: 'true or false',
  number: 'a number',
}

function wrongKind(issue: z.core.$ZodIssueInvalidType, { kind, text, value }: Written): string {
  const expected = kinds[issue.expected] ?? issue.expected
  if (kind !== 'scalar') return `must be ${expected}, and is ${kind === 'list' ? 'a list' : 'a map of keys'}`
  const reading = `YAML reads ${text === '' ? 'nothing' : text} as ${typeof value === 'string' ? 'text' : JSON.stringify(value)}`
  return `must be ${expected}; ${reading}${remedy(issue.expected, text, value)}`
}

function remedy(expected: string, text: string, value: unknown): string {
  if (expected === 'string' && text !== '') return `: write it in quotes, "${text}"`
  const isQuotable = typeof value === 'string' && ['number', 'boolean'].includes(expected)
  return isQuotable ? ': remove the quotes, if it has any' : ''
}

/** The keys that the definition knows at a path. */
function knownKeys(path: Path): string[] {
  let schema: unknown = catalogDefinition
  for (const step of path) schema = child(unwrapped(schema), step)
  const found = unwrapped(schema)
  return hasShape(found) ? Object.keys(found.shape) : []
}

function child(schema: unknown, step: string | number): unknown {
  if (hasShape(schema)) return schema.shape[String(step)]
  if (typeof schema !== 'object' || schema === null) return undefined
  if ('element' in schema) return schema.element
  return 'valueType' in schema ? schema.valueType : undefined
}

/** What an optional schema wraps. */
function unwrapped(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || 'element' in schema || !('unwrap' in schema))
    return schema
  return typeof schema.unwrap === 'function' ? (schema.unwrap as () => unknown)() : schema
}

function hasShape(schema: unknown): schema is { shape: Record<string, unknown> } {
  return typeof schema === 'object' && schema !== null && 'shape' in schema
}
