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
import { requireSame } from './proof.ts'
import { RowStoreWriter } from './row-store.ts'

/** Sections whose codes are in memory at once. */
const sliceRows = 2 * sectionRows

/**
 * Writes codes and the row store, from one reading of the sorted rows, or of what is known of them.
 *
 * @param files where to; without a row store if it is null
 * @param fields whose codes the row store has; of which `coded` have a file of them
 * @param kept codes of reused rows; null if there are none
 * @throws TableFailure if a proof fails
 */
export async function writeRows(
  work: Work,
  files: { readonly codes: string; readonly rowStore: string | null },
  rows: number,
  fields: readonly CodedField[],
  coded: readonly CodedField[],
  kept: KeptCodes | null = null,
): Promise<void> {
  if (rows === 0) return
  let codes: CodesWriter | null = null
  let rowStore: RowStoreWriter | null = null
  const slices = Array.from({ length: Math.ceil(rows / sliceRows) }, (_, slice) => slice * sliceRows)
  const all = Array.from({ length: groupsIn(rows) }, (_, group) => group)
  const written = files.rowStore === null ? coded : fields
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
    // The row store holds codes in another way.
    const lying =
      files.rowStore === null ? await lyingAsBefore(known, first, count, kept) : new Map<number, never>()
    const rest = written.filter(({ index }) => !lying.has(index))
    const columns = await readKept(work, rest, first, count, kept)
    for (const { index } of known) {
      const sections = lying.get(index)
      if (sections !== undefined) expectAsBefore(due.get(index), sections, first)
      else expectAsWritten(due.get(index), columns.get(index), first, taken)
    }
    // The others are proved when their file is read back.
    for (const field of written.filter(({ index }) => !coded.some((one) => one.index === index)))
      requireDue(field, due.get(field.index), columns.get(field.index), first)
    return { count, columns, lying }
  }
  try {
    if (coded.length > 0) codes = await CodesWriter.open(files.codes, coded)
    if (files.rowStore !== null) rowStore = await RowStoreWriter.open(work, files.rowStore, fields)
    if (codes === null && rowStore === null) return
    // One is read while the one before is written, unless that takes the connection too.
    for await (const { count, columns, lying } of inOrder(slices, rowStore === null ? 2 : 1, read)) {
      for (let from = 0; from < count; from += sectionRows) {
        const some = Math.min(sectionRows, count - from)
        const section = new Map(
          [...columns].map(([index, column]) => [index, column.subarray(from, from + some)]),
        )
        const own = ({ index }: CodedField): Section =>
          lying.get(index)?.[from / sectionRows] ?? section.get(index) ?? new Uint8Array()
        await codes?.add(coded.map(own), some)
        await rowStore?.add(section, some)
      }
    }
    await codes?.finish(coded.flatMap(({ index }) => due.get(index) ?? []))
    await rowStore?.finish()
  } finally {
    await codes?.close()
    await rowStore?.close()
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

/** Expects the codes that are written now of rows whose codes were known. */
function expectAsWritten(
  due: DueSums | undefined,
  codes: Codes = new Uint8Array(),
  first: number,
  taken: ReadonlySet<number>,
): void {
  if (due === undefined) return
  for (let from = 0; from < codes.length; from += groupRows) {
    const group = (first + from) / groupRows
    if (!taken.has(group)) continue
    const own = codes.subarray(from, from + groupRows)
    due.written.set(group, zlib.crc32(packGroup(own)))
  }
}

/** @throws TableFailure if the codes of a field do not stand for the values of the sorted rows */
function requireDue(
  { name }: CodedField,
  due: DueSums | undefined,
  codes: Codes = new Uint8Array(),
  first: number,
): void {
  if (due === undefined) throw new RangeError(`no sums are due of "${name}"`)
  for (let from = 0; from < codes.length; from += groupRows) {
    const group = (first + from) / groupRows
    const sums = due.sums.subarray(2 * group, 2 * group + 2)
    requireSame(`codes of "${name}"`, sums, sumsOf(codes.subarray(from, from + groupRows), due))
  }
}
