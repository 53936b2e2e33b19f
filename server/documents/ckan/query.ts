import { foldText } from '../../../core/folding.ts'
import { wildcard } from '../../../core/text.ts'
import type { Package } from './package.ts'

export class InvalidSearch extends Error {}

const fields: Readonly<Record<string, (entry: Package) => readonly string[]>> = {
  id: ({ id }) => [id],
  name: ({ name }) => [name],
  title: ({ title }) => [title],
  notes: ({ notes }) => [notes],
  text: textsOf,
  type: () => ['dataset'],
  dataset_type: () => ['dataset'],
  state: () => ['active'],
  capacity: () => ['public'],
  organization: ({ organization }) => [organization.name],
  owner_org: (entry) => [String(entry['owner_org'])],
  groups: ({ groups }) => groups.map(({ name }) => name),
  tags: ({ tags }) => tags.map(({ name }) => name),
  license_id: ({ license_id: license }) => (license === null ? [] : [license]),
  res_format: ({ resources }) => resources.map(({ format }) => format),
  metadata_created: ({ metadata_created: moment }) => [moment],
  metadata_modified: ({ metadata_modified: moment }) => [moment],
}

/** Searched word by word; other fields are compared as a whole. */
const wordSearchedFields = new Set(['title', 'notes', 'text'])
const moments = new Set(['metadata_created', 'metadata_modified'])

function textsOf({ name, title, notes, tags, groups, organization, resources }: Package): string[] {
  const names = [...tags, ...groups, ...resources].map((item) => item.name)
  return [name, title, notes, organization.title, ...names]
}

class PackageTexts {
  readonly package: Package
  readonly #folded = new Map<string, readonly string[]>()
  readonly #words = new Map<string, readonly string[]>()

  constructor(entry: Package) {
    this.package = entry
  }

  foldedOf(field: string): readonly string[] {
    const foldedText = this.#folded.get(field)
    if (foldedText !== undefined) return foldedText
    const texts = (fields[field] ?? textsOf)(this.package).map(foldText)
    this.#folded.set(field, texts)
    return texts
  }

  wordsOf(field: string): readonly string[] {
    const wordSet = this.#words.get(field)
    if (wordSet !== undefined) return wordSet
    const words = this.foldedOf(field).flatMap((text) => text.split(/\s+/))
    this.#words.set(field, words)
    return words
  }
}

type Test = (texts: PackageTexts) => boolean

/** Limits, since a search costs words times packages. */
const [lengthMax, wordsMax] = [4000, 500]

/**
 * Parses the subset of Solr's language that CKAN clients use: words, `field:value`, phrases, `*`, ranges,
 * AND, OR, NOT, + and -, parentheses.
 * @param texts must all match; the limits apply to all of them together
 * @throws InvalidSearch
 */
export function parseSearch(texts: readonly string[]): (entry: Package) => boolean {
  if (texts.reduce((sum, { length }) => sum + length, 0) > lengthMax)
    throw new InvalidSearch(`it is longer than ${lengthMax} characters`)
  const tokens = texts.map(tokensOf)
  if (tokens.reduce((sum, { length }) => sum + length, 0) > wordsMax)
    throw new InvalidSearch(`it has more than ${wordsMax} words`)
  const tests = tokens.filter(({ length }) => length > 0).map(parseTokens)
  return (entry) => {
    const packageTexts = new PackageTexts(entry)
    return tests.every((test) => test(packageTexts))
  }
}

function parseTokens(tokens: readonly string[]): Test {
  let position = 0
  const peek = (): string | undefined => tokens[position]
  const nextToken = (): string => {
    const token = tokens[position]
    if (token === undefined) throw new InvalidSearch('it is incomplete')
    position += 1
    return token
  }
  const parseAlternatives = (): Test => {
    const tests = [conjunction()]
    while (peek() === 'OR') {
      position += 1
      tests.push(conjunction())
    }
    return (entry) => tests.some((test) => test(entry))
  }
  const conjunction = (): Test => {
    const tests: Test[] = []
    for (let token = peek(); token !== undefined && token !== 'OR' && token !== ')'; token = peek()) {
      if (token === 'AND') position += 1
      tests.push(parseOperand())
    }
    return (entry) => tests.every((test) => test(entry))
  }
  const parseOperand = (): Test => {
    const token = nextToken()
    if (token === '+') return parseOperand()
    if (token === '-' || token === 'NOT') {
      const test = parseOperand()
      return (entry) => !test(entry)
    }
    if (token === '(') {
      const test = parseAlternatives()
      if (nextToken() !== ')') throw new InvalidSearch('a parenthesis is not closed')
      return test
    }
    if (token.endsWith(':')) return parseClause(token.slice(0, -1))
    return matching('text', token)
  }
  const parseClause = (field: string): Test => {
    if (field !== '*' && !Object.hasOwn(fields, field)) {
      throw new InvalidSearch(`there is no field "${field}" here; known: ${Object.keys(fields).join(', ')}`)
    }
    const value = nextToken()
    if (value === '[') return range(field)
    if (value !== '(') return matching(field, value)
    const tests: Test[] = []
    for (let token = nextToken(); token !== ')'; token = nextToken())
      if (token !== 'OR') tests.push(matching(field, token))
    return (entry) => tests.some((test) => test(entry))
  }
  const range = (field: string): Test => {
    const [from, to, until, end] = [nextToken(), nextToken(), nextToken(), nextToken()]
    if (to !== 'TO' || end !== ']') throw new InvalidSearch('a range is written [from TO until]')
    const [min, max] = [from, until].map((bound) => (moments.has(field) ? momentOf(bound) : bound))
    return ({ package: entry }) =>
      (fields[field]?.(entry) ?? []).some(
        (value) => (min === '*' || value >= (min ?? '')) && (max === '*' || value <= (max ?? '')),
      )
  }
  const test = parseAlternatives()
  if (position < tokens.length) throw new InvalidSearch(`"${tokens[position] ?? ''}" is unexpected`)
  return test
}

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  const token =
    /\s*(?:("(?:[^"\\]|\\.)*")|([()[\]])|([+-])(?=\S)|([\w*]+:)(?=\S)|((?:\\.|[^\s()[\]"\\])+)|(\S))/gy
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [, phrase, bracket, sign, field, word, invalid] = match
    if (invalid !== undefined) throw new InvalidSearch(`"${invalid}" is unexpected`)
    tokens.push(phrase ?? bracket ?? sign ?? field ?? word ?? '')
  }
  return tokens
}

function momentOf(text: string): string {
  if (text === '*') return text
  const days = /^NOW(?:-(\d{1,5})DAYS?)?(?:\/DAY)?$/.exec(text)
  if (days !== null)
    return new Date(Date.now() - 86_400_000 * Number(days[1] ?? 0)).toISOString().slice(0, -1)
  const dateText = unquoted(text).replace(/Z$/, '')
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?)?$/.test(dateText)) {
    throw new InvalidSearch(`"${text}" is not a time such as 2026-01-31T00:00:00Z`)
  }
  return dateText
}

function unquoted(token: string): string {
  const inner = token.startsWith('"') ? token.slice(1, -1) : token
  return inner.replaceAll(/\\(.)/g, '$1')
}

function matching(field: string, token: string): Test {
  if (token === '*') return () => true
  const sought = foldText(unquoted(token))
  const isPattern = !token.startsWith('"') && token.includes('*')
  if (isPattern) {
    const matches = wildcard(sought)
    return (texts) =>
      texts.foldedOf(field).some(matches) ||
      (wordSearchedFields.has(field) && texts.wordsOf(field).some(matches))
  }
  return (texts) =>
    texts
      .foldedOf(field)
      .some((text) => (wordSearchedFields.has(field) ? text.includes(sought) : text === sought))
}

export const sortable = [
  'name',
  'title',
  'title_string',
  'id',
  'metadata_created',
  'metadata_modified',
  'score',
] as const

export function parseSort(text: string): (a: Package, b: Package) => number {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, name = '', direction = 'asc'] = /^(\w+)(?:\s+(asc|desc))?$/i.exec(part) ?? []
      const sortField = sortable.find((field) => field === name)
      if (sortField === undefined) {
        throw new InvalidSearch(
          `cannot sort by "${part}"; known: ${sortable.join(', ')}, each with asc or desc`,
        )
      }
      return { field: sortField, isDescending: direction.toLowerCase() === 'desc' }
    })
  if (new Set(keys.map(({ field }) => field)).size < keys.length)
    throw new InvalidSearch('it sorts by the same field twice')
  return (a, b) => {
    for (const { field, isDescending } of keys) {
      const [left, right] = [a, b].map((entry) => sortText(entry, field))
      if (left !== right) return ((left ?? '') < (right ?? '') ? -1 : 1) * (isDescending ? -1 : 1)
    }
    return 0
  }
}

function sortText(entry: Package, field: (typeof sortable)[number]): string {
  if (field === 'score') return ''
  return field === 'title_string' ? foldText(entry.title) : entry[field]
}
