import {
  groupRows,
  groupCount,
  sectionGroups,
  sectionCount,
} from '../../../../../core/warehouse/format/codes.ts'
import type { OrderKey } from '../../../../../core/catalog/catalog.ts'
import type { EventLoopYielder } from '../../../../base/queue.ts'
import { RowSet, type PartRows } from '../../row-set.ts'
import type { Choice, Clause } from './clauses.ts'
import type { CodedTable } from '../../../indexes/dictionaries.ts'

/** Counts selected rows before each section, and finally in all. */
export async function sectionStarts(
  table: CodedTable,
  choice: Choice,
  yielder: EventLoopYielder,
): Promise<Uint32Array> {
  const sections = sectionCount(table.rows)
  const starts = new Uint32Array(sections + 1)
  for (let section = 0; section < sections; section += 1) {
    await yielder.next()
    let inSection = 0
    for (const count of countsIn(table, choice.field, section, choice.codes)) inSection += count
    starts[section + 1] = (starts[section] ?? 0) + inSection
  }
  return starts
}

/**
 * Returns ranks of some selected rows, skipping sections and groups by their counts.
 * @param starts of the sections; see `sectionStarts`
 * @param slice range of indexes among all selected rows
 */
export async function sliceOf(
  table: CodedTable,
  choice: Choice,
  starts: Uint32Array,
  slice: { readonly first: number; readonly rows: number },
  yielder: EventLoopYielder,
): Promise<Uint32Array> {
  const { field, chosen, codes: codesChosen } = choice
  const ranks = new Uint32Array(slice.rows)
  if (slice.rows === 0) return ranks
  let section = starts.findLastIndex((start) => start <= slice.first)
  let [filled, skip] = [0, slice.first - (starts[section] ?? 0)]
  for (; section < sectionCount(table.rows) && filled < slice.rows; section += 1) {
    await yielder.next()
    const counts = countsIn(table, field, section, codesChosen)
    const groups = groupsOf(table, section)
    // Fields with two-byte codes have one count per section.
    const hasGroupCounts = counts.length === groups
    for (let group = 0; group < groups && filled < slice.rows; group += 1) {
      const selectedInGroup = hasGroupCounts ? counts[group] : undefined
      if (selectedInGroup !== undefined && selectedInGroup <= skip) {
        skip -= selectedInGroup
        continue
      }
      await yielder.next()
      const groupNumber = section * sectionGroups + group
      const codes = table.group(field, groupNumber)
      for (let row = 0; row < codes.length && filled < slice.rows; row += 1) {
        if (chosen[codes[row] ?? 0] !== 1) continue
        if (skip > 0) skip -= 1
        else {
          ranks[filled] = groupNumber * groupRows + row
          filled += 1
        }
      }
    }
  }
  if (filled < slice.rows) throw new RangeError(`only ${filled} of ${slice.rows} rows were found`)
  return ranks
}

function groupsOf({ rows }: CodedTable, section: number): number {
  return Math.min(sectionGroups, groupCount(rows) - section * sectionGroups)
}

function countsIn(table: CodedTable, field: string, section: number, codes: readonly number[]): number[] {
  const counts = table.counts(field, section)
  const width = table.valueCountOf(field) + 1
  const sums: number[] = []
  for (let from = 0; from < counts.length; from += width) {
    let sum = 0
    for (const code of codes) sum += counts[from + code] ?? 0
    sums.push(sum)
  }
  return sums
}

export async function scanRows(
  table: CodedTable,
  clauses: readonly Clause[],
  yielder: EventLoopYielder,
): Promise<RowSet> {
  const parts: PartRows[] = []
  for (let group = 0; group < groupCount(table.rows); group += 1) {
    await yielder.next()
    const part = scanGroup(table, clauses, group)
    if (part !== null) parts.push(part)
  }
  return new RowSet(parts)
}

/** 1 where all clauses hold, else 0; null if there is no such row. */
export function matchingRows(
  table: CodedTable,
  clauses: readonly Clause[],
  group: number,
): Uint8Array | null {
  let matches: Uint8Array | null = null
  for (const clause of clauses) {
    const clauseMatches = matchesOfClause(table, clause, group)
    if (matches === null) matches = clauseMatches
    else
      for (let row = 0; row < clauseMatches.length; row += 1)
        matches[row] = (matches[row] ?? 0) & (clauseMatches[row] ?? 0)
    if (!matches.includes(1)) return null
  }
  return matches
}

function scanGroup(table: CodedTable, clauses: readonly Clause[], group: number): PartRows | null {
  const right = matchingRows(table, clauses, group)
  if (right === null) return null
  const bits = new Uint8Array(Math.ceil(right.length / 8))
  let count = 0
  for (let row = 0; row < right.length; row += 1) {
    if (right[row] === 0) continue
    bits[row >> 3] = (bits[row >> 3] ?? 0) | (0x80 >> (row & 7))
    count += 1
  }
  return { firstRow: group * groupRows, count, rows: bits }
}

function matchesOfClause(table: CodedTable, clause: Clause, group: number): Uint8Array {
  const right = new Uint8Array(table.group(clause[0].field, group).length)
  for (const { field, chosen } of clause) {
    const codes = table.group(field, group)
    for (let row = 0; row < codes.length; row += 1)
      right[row] = (right[row] ?? 0) | (chosen[codes[row] ?? 0] ?? 0)
  }
  return right
}

/**
 * Positions break ties.
 * @param positions ascending
 * @param ordering of coded fields
 */
export async function sortPositions(
  table: CodedTable,
  positions: Uint32Array,
  ordering: readonly OrderKey[],
  yielder: EventLoopYielder,
): Promise<Uint32Array> {
  let order = new Uint32Array(positions.length)
  for (let index = 0; index < order.length; index += 1) order[index] = index
  // Sort by the last key first: each sort is stable.
  for (const { field, direction } of ordering.toReversed()) {
    // Null has the code after the last value; nulls come last in both directions.
    const nullCode = table.valueCountOf(field)
    const ranks = new Uint16Array(positions.length)
    let [start, end, codes] = [0, 0, table.group(field, 0)]
    for (let index = 0; index < positions.length; index += 1) {
      const position = positions[index] ?? 0
      if (position >= end) {
        await yielder.next()
        const group = Math.floor(position / groupRows)
        ;[start, end] = [group * groupRows, (group + 1) * groupRows]
        codes = table.group(field, group)
      }
      const code = codes[position - start] ?? 0
      ranks[index] = direction === 'asc' || code === nullCode ? code : nullCode - 1 - code
    }
    order = orderedByRank(ranks, order, nullCode + 1)
  }
  return order.map((index) => positions[index] ?? 0)
}

function orderedByRank(ranks: Uint16Array, order: Uint32Array, rankCount: number): Uint32Array<ArrayBuffer> {
  const ends = new Uint32Array(rankCount + 1)
  for (const rank of ranks) ends[rank + 1] = (ends[rank + 1] ?? 0) + 1
  for (let rank = 1; rank <= rankCount; rank += 1) ends[rank] = (ends[rank] ?? 0) + (ends[rank - 1] ?? 0)
  const sortedRanks = new Uint32Array(order.length)
  for (const index of order) {
    const rank = ranks[index] ?? 0
    sortedRanks[ends[rank] ?? 0] = index
    ends[rank] = (ends[rank] ?? 0) + 1
  }
  return sortedRanks
}
