import zlib from 'node:zlib'
import { inOrder } from '../../core/in-order.ts'
import {
  codesOf,
  groupRows,
  groupsIn,
  packGroup,
  sectionRows,
  type Codes,
} from '../../core/warehouse/codes/layout.ts'
import { CodesWriter, type Section } from './codes.ts'
import type { Work } from './convert.ts'
import { dueSums, readCodes, sumsOf, type CodedField, type DueSums } from './dictionary.ts'
import type { KeptCodes } from './kept-values.ts'
import { PacksWriter } from './packs.ts'

/** Sections whose codes are in memory at once. */
const sliceRows = 2 * sectionRows

/**
 * Codes and packs, from one reading of the sorted rows, or of what is known of them.
 *
 * @param files where to; without packs where it is null
 * @param fields that have codes in packs; of which `coded` have a file of them
 * @param kept codes of rows that are taken over; null where there are none
 * @throws TableFailure where a proof fails
 */
export async function writeRows(
  work: Work,
  files: { readonly codes: string; readonly packs: string | null },
  rows: number,
  fields: readonly CodedField[],
  coded: readonly CodedField[],
  kept: KeptCodes | null = null,
): Promise<void> {
  if (rows === 0) return
  let codes: CodesWriter | null = null
  let packs: PacksWriter | null = null
  const slices = Array.from({ length: Math.ceil(rows / sliceRows) }, (_, slice) => slice * sliceRows)
  const all = Array.from({ length: groupsIn(rows) }, (_, group) => group)
  const written = files.packs === null ? coded : fields
  const known = written.filter(({ index }) => kept?.has(index) === true)
  const taken = new Set(
    all.filter((group) => {
      const first = group * groupRows
      return kept?.split(first, Math.min(groupRows, rows - first)).every(({ run }) => run !== null) === true
    }),
  )
  const fresh = all.filter((group) => !taken.has(group))
  const others = written.filter((field) => !known.includes(field))
  const due = new Map([
    ...(await dueSums(work, known, rows, fresh)),
    ...(await dueSums(work, others, rows, all)),
  ])
  const read = async (first: number) => {
    const count = Math.min(sliceRows, rows - first)
    // Packs hold codes in another way.
    const lying =
      files.packs === null ? await lyingAsBefore(known, first, count, kept) : new Map<number, never>()
    const rest = written.filter(({ index }) => !lying.has(index))
    const columns = await readKept(work, rest, first, count, kept)
    for (const { index } of known) {
      const sections = lying.get(index)
      if (sections !== undefined) expectAsBefore(due.get(index), sections, first)
      else expectAsWritten(due.get(index), columns.get(index), first, taken, files.packs !== null)
    }
    return { count, columns, lying }
  }
  try {
    if (coded.length > 0) codes = await CodesWriter.open(files.codes, coded)
    if (files.packs !== null) packs = await PacksWriter.open(work, files.packs, fields)
    if (codes === null && packs === null) return
    // One is read while the one before is written, unless that takes the connection too.
    for await (const { count, columns, lying } of inOrder(slices, packs === null ? 2 : 1, read)) {
      for (let from = 0; from < count; from += sectionRows) {
        const some = Math.min(sectionRows, count - from)
        const section = new Map(
          [...columns].map(([index, column]) => [index, column.subarray(from, from + some)]),
        )
        const own = ({ index }: CodedField): Section =>
          lying.get(index)?.[from / sectionRows] ?? section.get(index) ?? new Uint8Array()
        await codes?.add(coded.map(own), some)
        await packs?.add(section, some)
      }
    }
    await codes?.finish(coded.flatMap(({ index }) => due.get(index) ?? []))
    await packs?.finish(due)
  } finally {
    await codes?.close()
    await packs?.close()
  }
}

/** The sections of a slice, by the index of the field, of those fields whose sections all lie as they did before. */
async function lyingAsBefore(
  fields: readonly CodedField[],
  first: number,
  rows: number,
  kept: KeptCodes | null,
): Promise<Map<number, Uint8Array[][]>> {
  const lying = new Map<number, Uint8Array[][]>()
  for (const { index } of fields) {
    const sections: Uint8Array[][] = []
    for (let from = 0; from < rows; from += sectionRows) {
      const section = await kept?.section(index, first + from)
      if (section === undefined || section === null) break
      sections.push(section)
    }
    if (sections.length === Math.ceil(rows / sectionRows)) lying.set(index, sections)
  }
  return lying
}

/** The codes of consecutive rows, by the index of the field: those that are known, and the others as they are read. */
async function readKept(
  work: Work,
  fields: readonly CodedField[],
  first: number,
  rows: number,
  kept: KeptCodes | null,
): Promise<Map<number, Codes>> {
  const columns = new Map<number, Codes>()
  const known = fields.filter(({ index }) => kept?.has(index) === true)
  const others = fields.filter((field) => !known.includes(field))
  if (others.length > 0) {
    const found = await readCodes(work, others, first, rows)
    for (const [place, { index }] of others.entries()) columns.set(index, found[place] ?? new Uint8Array())
  }
  for (const { index, values } of known) columns.set(index, codesOf(values, rows))
  for (const part of known.length === 0 ? [] : (kept?.split(first, rows) ?? [])) {
    const at = part.first - first
    const found = part.run === null ? await readCodes(work, known, part.first, part.rows) : null
    for (const [place, { index }] of known.entries()) {
      const target = columns.get(index)?.subarray(at, at + part.rows) ?? new Uint8Array()
      if (part.run !== null) await kept?.read(index, part.run, part.first, target)
      else target.set(found?.[place] ?? new Uint8Array())
    }
  }
  return columns
}

/** What is read back of sections that lie as they did before is to be the same bytes. */
function expectAsBefore(
  due: DueSums | undefined,
  sections: readonly (readonly Uint8Array[])[],
  first: number,
): void {
  for (const [place, pieces] of sections.entries())
    due?.sections.set(
      first / sectionRows + place,
      pieces.map((piece) => zlib.crc32(piece)),
    )
}

/**
 * What is read back of rows whose codes were known is to be what is written now.
 *
 * @param isPacked whether packs are compared with it too, which hold codes in another way
 */
function expectAsWritten(
  due: DueSums | undefined,
  codes: Codes = new Uint8Array(),
  first: number,
  taken: ReadonlySet<number>,
  isPacked: boolean,
): void {
  if (due === undefined) return
  for (let from = 0; from < codes.length; from += groupRows) {
    const group = (first + from) / groupRows
    if (!taken.has(group)) continue
    const own = codes.subarray(from, from + groupRows)
    due.written.set(group, zlib.crc32(packGroup(own)))
    if (isPacked) due.sums.set(sumsOf(own, due), 2 * group)
  }
}
