import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLError,
} from 'yaml'
import { messageOf } from '../errors.ts'
import type { Path } from './shapes.ts'
import { shorten } from '../text.ts'

export interface LineAndColumn {
  readonly line: number
  readonly column: number
}

export interface PlacedDocument {
  readonly root: unknown
  readonly problems: readonly (LineAndColumn & { message: string })[]
  /** True if `root` is complete enough for further checks, in spite of the problems. */
  readonly readable: boolean
  /** Position of a value, or of its key; of the nearest parent if the value is missing. */
  readonly placeOf: (path: Path, ofKey?: boolean) => LineAndColumn
  readonly writtenAt: (path: Path) => WrittenValue | undefined
}

export interface WrittenValue {
  readonly kind: 'map' | 'list' | 'scalar'
  readonly text: string
  readonly value: unknown
}

const aliasesMax = 100
const droppedKey = '__proto__'
const writtenMax = 80

export function readDocument(text: string): PlacedDocument {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    prettyErrors: false,
    logLevel: 'error',
  })
  const placeAt = (offset: number): LineAndColumn => {
    const { line, col } = lines.linePos(offset)
    return { line, column: col }
  }
  const problems = [...firstErrors(document.errors), ...document.warnings].map((problem) => {
    const [start] = problem.pos
    return { ...placeAt(start), message: problemMessage(problem, text.slice(start)) }
  })
  const hasEscapedCharacters = /\\[ux]/i.test(text)
  if (text.includes(droppedKey) || hasEscapedCharacters)
    visit(document, {
      Pair: (_at, { key }) => {
        if (isScalar(key) && key.value === droppedKey)
          problems.push({
            ...placeAt(key.range?.[0] ?? 0),
            message: `JSON readers in JavaScript drop "${droppedKey}": choose another name`,
          })
      },
    })
  // With a duplicate key, the rest can still be checked; after other errors, it cannot.
  let isReadable = document.errors.every((error) => error.code === 'DUPLICATE_KEY')
  let root: unknown = null
  try {
    root = document.toJS({ maxAliasCount: aliasesMax })
  } catch (error) {
    isReadable = false
    problems.push({ ...placeAt(0), message: `the file cannot be read as YAML: ${messageOf(error)}` })
  }
  return {
    root,
    problems,
    readable: isReadable,
    placeOf: (path, ofKey = false) => placeAt(offsetOf(document, path, ofKey)),
    writtenAt: (path) => {
      const node = nodeAt(document, path)
      return node === undefined ? undefined : textOf(node)
    },
  }
}

/** Leaves out errors that follow from an earlier one, such as a wrong indent. */
function firstErrors(errors: readonly YAMLError[]): readonly YAMLError[] {
  const tabs = errors.filter(({ code }) => code === 'TAB_AS_INDENT')
  if (tabs.length > 0) return tabs
  const first = errors.findIndex(({ code }) => code !== 'DUPLICATE_KEY')
  return first === -1 ? errors : errors.slice(0, first + 1)
}

const remedies: Partial<Record<YAMLError['code'], string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'put a text that contains a colon and a blank in quotes, or correct the indent',
  BLOCK_IN_FLOW: 'put a text that contains a colon and a blank in quotes',
  TAB_AS_INDENT: 'replace the tabs by blanks',
  MULTILINE_IMPLICIT_KEY:
    'write a blank after the colon of a key, put a text of several words in quotes, or correct the indent',
  MISSING_CHAR: 'close the quotes, or correct the indent of this line',
  UNEXPECTED_TOKEN: 'write quotes within a text twice, close the quotes, or correct the indent of this line',
}

function problemMessage({ code, message }: YAMLError, remainingText: string): string {
  const [key = ''] = /^[^\s:]*/.exec(remainingText) ?? []
  if (code === 'DUPLICATE_KEY') return `the key "${key}" is given twice: remove one of them`
  const remedy = remedies[code]
  return remedy === undefined ? message : `${message}: ${remedy}`
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

function offsetOf(document: Document, path: Path, ofKey: boolean): number {
  if (ofKey) {
    const parent = nodeAt(document, path.slice(0, -1))
    const pairs = isMap(parent) ? parent.items : []
    const pair = pairs.find((item) => String(item.key) === String(path.at(-1)))
    const range = (pair?.key as Node | undefined)?.range
    if (range) return range[0]
  }
  for (let length = path.length; length >= 0; length -= 1) {
    const range = nodeAt(document, path.slice(0, length))?.range
    if (range) return range[0]
  }
  return 0
}

function textOf(node: Node): WrittenValue {
  const value: unknown = isScalar(node) ? node.value : node.toJSON()
  const text = isScalar(node) ? (node.source ?? JSON.stringify(value)) : JSON.stringify(value)
  return {
    kind: isScalar(node) ? 'scalar' : isSeq(node) ? 'list' : 'map',
    text: shorten(text, writtenMax),
    value,
  }
}
