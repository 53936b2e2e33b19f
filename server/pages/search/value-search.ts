import {
  allTables,
  tableId,
  type CatalogTexts,
  type Field,
  type Table,
} from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { EventLoopYielder } from '../../base/queue.ts'
import { dictionarySize, type Dictionaries } from '../../table/indexes/dictionaries.ts'
import type { Requester } from '../../table/engine/requester.ts'
import { stateNames } from '../../documents/words/state-names.ts'
import { foldText } from '../../../core/folding.ts'
import { differByOneTypo } from '../../../core/text.ts'
import { wordsIn, type SearchWords } from './search-words.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { Snapshots } from '../../snapshots/snapshots.ts'

/** A value, or a part of several values. */
export interface ValueMatch {
  readonly table: Table
  readonly field: Field
  readonly value: string
  readonly name: string
  readonly rows: number | null
  readonly isPartOfValue: boolean
}

const valuesMax = 1_000_000

const valuesPerStep = 10_000

/** Values come from dictionaries, which the server caches within a bound, or from reports. */
export interface Sources {
  readonly catalog: CatalogTexts
  readonly snapshots: Snapshots
  readonly dictionaries: Dictionaries
  readonly requester: Requester
}

/**
 * Values of filter fields that equal a phrase, ignoring case, accents and signs.
 * @param phrases folded
 */
export async function findValues(sources: Sources, phrases: readonly string[]): Promise<ValueMatch[]> {
  const wantedTexts = new Set([...phrases, ...phrases.map(withoutSigns)])
  const initials = new Set([...wantedTexts].map((phrase) => phrase.charAt(0)))
  const valueMatches: ValueMatch[] = []
  // Removing punctuation is slow, so only values that begin with it or like a phrase are compared without it.
  const isWanted = (foldedValue: string): boolean =>
    wantedTexts.has(foldedValue) ||
    ((initials.has(foldedValue.charAt(0)) || !/^[a-z\d]/.test(foldedValue)) &&
      wantedTexts.has(withoutSigns(foldedValue)))
  for await (const matches of valuesByField(sources, isWanted)) valueMatches.push(...matches)
  return valueMatches
}

/**
 * Values of filter fields with a word that begins with the text. Several values of one field become a single
 * match: the text itself, with the rows of them all.
 */
export async function findPartsOfValues(sources: Sources, foldedText: string): Promise<ValueMatch[]> {
  const matches: ValueMatch[] = []
  // The first test is cheap, and removing signs is slow.
  const isWanted = (foldedValue: string): boolean =>
    foldedValue.includes(foldedText) &&
    ` ${withoutSigns(foldedValue)}`.includes(` ${withoutSigns(foldedText)}`)
  for await (const [first, ...furtherMatches] of valuesByField(sources, isWanted)) {
    if (first === undefined) continue
    const rows = furtherMatches.reduce(
      (sum: number | null, { rows: groupRows }) =>
        sum === null || groupRows === null ? null : sum + groupRows,
      first.rows,
    )
    matches.push(
      furtherMatches.length === 0
        ? first
        : { ...first, value: foldedText, name: foldedText, rows, isPartOfValue: true },
    )
  }
  return matches
}

export async function findValuesLike(sources: Sources, foldedText: string): Promise<ValueMatch[]> {
  const valueMatches: ValueMatch[] = []
  for await (const matches of valuesByField(sources, (value) => differByOneTypo(value, foldedText)))
    valueMatches.push(...matches)
  return valueMatches.toSorted((a, b) => (b.rows ?? 0) - (a.rows ?? 0))
}

export function distinctValues(matches: readonly ValueMatch[]): ValueMatch[] {
  const byKey = new Map<string, ValueMatch>()
  for (const match of matches) {
    const key = JSON.stringify([tableId(match.table), match.field.name, match.value, match.isPartOfValue])
    if (!byKey.has(key)) byKey.set(key, match)
  }
  return [...byKey.values()]
}

function withoutSigns(foldedText: string): string {
  return foldedText.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()
}

/** Yields matching values by field: first from reports, then from dictionaries, small ones first. */
async function* valuesByField(
  { catalog, snapshots, dictionaries, requester }: Sources,
  isWanted: (folded: string) => boolean,
): AsyncGenerator<ValueMatch[]> {
  const columns: { table: Table; field: Field; snapshot: Snapshot; count: number }[] = []
  for (const table of allTables(catalog)) {
    const snapshot = snapshots.current(table)
    if (snapshot === null) continue
    for (const field of table.fields) {
      if (!typeRow(field.type).isText || !table.filters.includes(field.name)) continue
      const count = dictionarySize(snapshot, field.name)
      if (count > 0) columns.push({ table, field, snapshot, count })
      else
        yield reportedValues(table, field, snapshot).filter(
          ({ value, name }) => isWanted(foldText(value)) || isWanted(foldText(name)),
        )
    }
  }
  const yielder = new EventLoopYielder(requester.signal)
  let valuesRead = 0
  for (const { table, field, snapshot, count } of columns.toSorted((a, b) => a.count - b.count)) {
    valuesRead += count
    if (valuesRead > valuesMax) break
    const dictionary = await dictionaries.values(snapshot, field, requester)
    const matches: ValueMatch[] = []
    for (const [code, folded] of (dictionary?.folded ?? []).entries()) {
      if (code % valuesPerStep === 0) await yielder.next()
      const rows = dictionary?.rows[code] ?? 0
      const value = dictionary?.values[code] ?? ''
      const name = nameOf(field, value)
      const isMatch = isWanted(folded) || (name !== value && isWanted(foldText(name)))
      if (isMatch && rows >= table.minGroupSize)
        matches.push({ table, field, value, name, rows, isPartOfValue: false })
    }
    yield matches
  }
}

function reportedValues(table: Table, field: Field, { choices, report }: Snapshot): ValueMatch[] {
  const top = report?.fields.find(({ name }) => name === field.name)?.top ?? []
  const counts = new Map(top.map(({ value, rows }) => [value, rows]))
  const values = new Set([...counts.keys(), ...(choices.get(field.name) ?? [])])
  return [...values].map((value) => ({
    table,
    field,
    value,
    name: nameOf(field, value),
    rows: counts.get(value) ?? null,
    isPartOfValue: false,
  }))
}

/** Words of the value's code if the search has them all, else of its name. */
export function wordsOfValue({ name, value }: ValueMatch, { words }: SearchWords): ReadonlySet<string> {
  const ofCode = wordsIn(value)
  return new Set(ofCode.every((word) => words.includes(word)) ? ofCode : wordsIn(name))
}

function nameOf({ kind, valueTitles }: Field, value: string): string {
  return valueTitles.get(value) ?? (kind === 'uf' ? stateNames.get(value) : undefined) ?? value
}
