import type { z } from 'zod'
import { didYouMean } from '../text.ts'
import type { Path } from './shapes.ts'
import { catalogDefinition } from './catalog.ts'
import type { JoinedDocument } from './catalog-files.ts'
import type { WrittenValue } from './document.ts'

interface Explained {
  readonly path: Path
  readonly ofKey: boolean
  readonly message: string
}

export function explain(issue: z.core.$ZodIssue, document: JoinedDocument): Explained[] {
  const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  if (issue.code === 'unrecognized_keys') {
    const knownNames = knownKeys(path)
    return issue.keys.map((name) => {
      const hint = placeHint(name) ?? didYouMean(name, knownNames)
      // In YAML's braces, a comma in an unquoted text starts a key without a value.
      const isPartOfText = document.writtenAt([...path, name]) === undefined
      const quotes = isPartOfText ? '; put a text that contains a comma in quotes' : ''
      const unknown = `unknown key "${name}"${hint}${quotes}; known here: ${knownNames.join(', ')}`
      const removedKey = removedKeys.get(name)
      return {
        path: [...path, name],
        ofKey: true,
        message: removedKey === undefined ? unknown : `"${name}" ${removedKey}`,
      }
    })
  }
  // For a union, explain the alternative whose type fits the value in the file.
  const alternative = issue.code === 'invalid_union' ? issue.errors.find(hasRightKind) : undefined
  if (alternative !== undefined) {
    return alternative.flatMap((alternativeIssue) =>
      explain({ ...alternativeIssue, path: [...issue.path, ...alternativeIssue.path] }, document),
    )
  }
  const value = document.writtenAt(path)
  if (value === undefined)
    return [{ path: path.slice(0, -1), ofKey: false, message: missingKeyMessage(path) }]
  return [{ path, ofKey: false, message: wrongValue(issue, path, value) }]
}

const places: readonly (readonly [noun: string, path: Path])[] = [
  ['a dataset', ['datasets', 0]],
  ['a table', ['datasets', 0, 'tables', 0]],
  ['the `source` of a table', ['datasets', 0, 'tables', 0, 'source']],
  ['a field', ['datasets', 0, 'tables', 0, 'fields', 0]],
]

function placeHint(name: string): string | null {
  const [place, ...furtherPlaces] = places.filter(([, path]) => knownKeys(path).includes(name))
  return place === undefined || furtherPlaces.length > 0 ? null : `, which is a key of ${place[0]}`
}

const removedKeys: ReadonlyMap<string, string> = new Map([
  ['clustered', 'is not used any more, since pages are read from the row store: remove it'],
  ['scans', 'is not used any more, since searching for rows is limited by `share`: remove it'],
])

function hasRightKind(issues: readonly z.core.$ZodIssue[]): boolean {
  return issues.every(({ code, path }) => code !== 'invalid_type' || path.length > 0)
}

function missingKeyMessage(path: Path): string {
  const [parent, key] = [path.at(-2), path.at(-1)]
  if (key === undefined) return `is empty: it must hold ${knownKeys([]).join(', ')}`
  return `the key "${key}"${typeof parent === 'string' ? ` of "${parent}"` : ''} is missing`
}

function wrongValue(issue: z.core.$ZodIssue, path: Path, value: WrittenValue): string {
  const subject = subjectOf(path)
  if (issue.code === 'invalid_type') return `${subject} ${wrongKind([issue.expected], value)}`
  const text = value.kind === 'scalar' ? `"${value.text}"` : value.text
  if (issue.code === 'invalid_union') {
    const expectedKinds = issue.errors.flatMap(([first]) =>
      first?.code === 'invalid_type' ? [first.expected] : [],
    )
    return `${subject} ${wrongKind(expectedKinds, value)}`
  }
  if (issue.code !== 'invalid_value') return `${subject} is ${text}, and ${issue.message}`
  const choices = issue.values.map(String)
  return `${subject} is ${text}, which is not one of ${choices.join(', ')}${didYouMean(value.text, choices)}`
}

function subjectOf(path: Path): string {
  const last = path.findLastIndex((step) => typeof step === 'string')
  const key = `"${path[last] ?? ''}"`
  const item = path[last + 1]
  if (last === -1) return 'the file'
  return item === undefined ? key : `item ${Number(item) + 1} of ${key}`
}

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  array: 'a list',
  object: 'a map of keys and values',
  record: 'a map of names and values',
  boolean: 'true or false',
  number: 'a number',
}

function wrongKind(expectedKinds: readonly string[], { kind, text, value }: WrittenValue): string {
  const expectedText = expectedKinds.map((name) => kinds[name] ?? name).join(' or ')
  if (kind !== 'scalar')
    return `must be ${expectedText}, and is ${kind === 'list' ? 'a list' : 'a map of keys and values'}`
  const reading = `YAML reads ${text === '' ? 'nothing' : text} as ${typeof value === 'string' ? 'text' : JSON.stringify(value)}`
  return `must be ${expectedText}; ${reading}${remedy(expectedKinds, text, value)}`
}

function remedy(expectedKinds: readonly string[], text: string, value: unknown): string {
  if (expectedKinds.includes('string') && text !== '') return `: write it in quotes, "${text}"`
  const isQuotable =
    typeof value === 'string' && expectedKinds.some((kind) => ['number', 'boolean'].includes(kind))
  return isQuotable ? ': remove the quotes, if it has any' : ''
}

function knownKeys(path: Path): string[] {
  let schema: unknown = catalogDefinition
  for (const step of path) schema = child(unwrapped(schema), step)
  const inner = unwrapped(schema)
  return hasShape(inner) ? Object.keys(inner.shape) : formsOf(inner).flatMap(namesOf)
}

function formsOf(schema: unknown): unknown[] {
  return typeof schema === 'object' && schema !== null && 'options' in schema && Array.isArray(schema.options)
    ? schema.options
    : []
}

function namesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null || !('keyType' in schema)) return []
  return formsOf(schema.keyType).map(String)
}

function child(schema: unknown, step: string | number): unknown {
  if (hasShape(schema)) return schema.shape[String(step)]
  if (typeof schema !== 'object' || schema === null) return undefined
  if ('element' in schema) return schema.element
  return 'valueType' in schema ? schema.valueType : undefined
}

function unwrapped(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null || 'element' in schema) return schema
  if ('in' in schema) return unwrapped(schema.in)
  if (!('unwrap' in schema) || typeof schema.unwrap !== 'function') return schema
  return unwrapped((schema.unwrap as () => unknown)())
}

function hasShape(schema: unknown): schema is { shape: Record<string, unknown> } {
  return typeof schema === 'object' && schema !== null && 'shape' in schema
}
