import { isMap, isNode, isSeq, parse, parseDocument, type Document, type Pair, type YAMLSeq } from 'yaml'
import { StartError } from '../errors.ts'

interface Place {
  readonly dataset: string
  readonly title: string
  readonly today: string
  readonly families: readonly string[]
}

/**
 * Adds a table to the text of a catalog.
 * @param table YAML list with the table as its only item, unindented
 * @throws StartError if `datasets` or `tables` is missing or not a list
 */
export function addTable(text: string, table: string, place: Place): string {
  const document = parseDocument(text, { version: '1.2' })
  const datasetPath = pathOf(document, place.dataset)
  if (datasetPath === null) {
    const datasets = document.get('datasets', true)
    if (!isSeq(datasets))
      throw new StartError('the catalog has no list of datasets: write `datasets: []` into it')
    return withItem(text, document, ['datasets'], datasets, datasetText(table, place))
  }
  const tables = document.getIn([...datasetPath, 'tables'], true)
  if (!isSeq(tables))
    throw new StartError(`the dataset ${place.dataset} has no list of tables: write \`tables: []\` into it`)
  return withItem(text, document, [...datasetPath, 'tables'], tables, table)
}

export function holdsDataset(text: string, slug: string): boolean {
  return text.includes(slug) && pathOf(parseDocument(text, { version: '1.2' }), slug) !== null
}

function pathOf(document: Document, slug: string): (string | number)[] | null {
  const { contents } = document
  const isIt = (item: unknown): boolean => isMap(item) && item.get('slug') === slug
  if (isIt(contents)) return []
  const list = isMap(contents) ? contents.get('datasets', true) : contents
  const index = isSeq(list) ? list.items.findIndex(isIt) : -1
  if (index === -1) return null
  return isMap(contents) ? ['datasets', index] : [index]
}

function withItem(
  text: string,
  document: Document,
  path: readonly (string | number)[],
  list: YAMLSeq,
  item: string,
): string {
  const [listStart = 0, listEnd = 0] = list.range ?? []
  const parent = document.getIn(path.slice(0, -1), true)
  const isInJson = isMap(parent) && parent.flow === true
  if (list.flow === true && (list.items.length > 0 || isInJson)) {
    const [value] = parse(item) as unknown[]
    return withFlowItem(text, list, value, isInJson)
  }
  // Lines below the key replace the brackets of an empty list.
  if (list.items.length === 0) {
    const keyColumn = columnOf(text, keyStart(document, path) ?? listStart)
    const textBefore = text.slice(0, listStart).trimEnd()
    const textAfter = text.slice(listEnd).replace(/^[ \t]*\n?/, '')
    return `${textBefore}\n${indented(item, keyColumn + 2)}${textAfter}`
  }
  const before = text.slice(0, listEnd).trimEnd()
  return `${before}\n${indented(item, columnOf(text, listStart))}${text.slice(before.length).replace(/^\n/, '')}`
}

/**
 * Adds an item to a list in brackets, `[a, b]`, without the comments that it has in a list of lines.
 * @param isInJson true if the item gets lines of its own where others have them
 */
function withFlowItem(text: string, { items, range }: YAMLSeq, value: unknown, isInJson: boolean): string {
  const [start = 0, end = 0] = range ?? []
  const last = items.at(-1)
  if (!isNode(last)) return `${text.slice(0, start + 1)}${JSON.stringify(value)}${text.slice(start + 1)}`
  const [lastStart = 0, lastEnd = 0] = last.range ?? []
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', lastStart) + 1))?.[0] ?? ''
  const isOnLines = isInJson && text.slice(start, end).includes('\n')
  const json = isOnLines
    ? `\n${JSON.stringify(value, null, 2)}`.replaceAll('\n', `\n${indent}`)
    : ` ${JSON.stringify(value)}`
  return `${text.slice(0, lastEnd)},${json}${text.slice(lastEnd)}`
}

function keyStart(document: Document, path: readonly (string | number)[]): number | undefined {
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(holder)) return undefined
  const pair = holder.items.find((item: Pair) => String(item.key) === path.at(-1))
  return (pair?.key as { range?: readonly number[] } | undefined)?.range?.[0]
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1)
}

function indented(text: string, columns: number): string {
  // Not /^/m: it also matches after U+2028 and U+2029, which values may contain.
  return text.replaceAll(/(?<=^|\n)(?=[^\n])/g, ' '.repeat(columns))
}

function datasetText(table: string, { dataset, title, today, families }: Place): string {
  return `- slug: ${inlineYaml(dataset)}
  name: ${JSON.stringify(title)}
  description: ${JSON.stringify(title)} # describe the rows
  # author, origin, licence, and the code that collects it; remove those that do not apply:
  # author: { name: , url: }
  # source: { name: , url: }
  # license: { name: , url: }
  # code_url:
  listed_in: [${families.join(', ')}]
  collected_at: ${today}
  links: []
  tables:
${indented(table, 4)}`
}

/** Writes YAML on one line: a single word without quotes, everything else as JSON. */
export function inlineYaml(value: unknown): string {
  const isPlain =
    typeof value === 'string' &&
    /^[a-z][a-z0-9_-]*$/.test(value) &&
    !/^(true|false|null|yes|no|on|off|y|n)$/.test(value)
  return isPlain ? value : JSON.stringify(value)
}

/**
 * Writes a comment at the end of a YAML line. Escapes control characters and line separators, which would end
 * it.
 */
export function yamlComment(text: string): string {
  return `# ${text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, (character) => escaped(character))}`
}

function escaped(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`
}
