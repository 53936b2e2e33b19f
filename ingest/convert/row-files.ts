import { inOrder } from '../../core/in-order.ts'
import { sectionRows } from '../../core/warehouse/codes/layout.ts'
import { CodesWriter } from './codes.ts'
import type { Work } from './convert.ts'
import { dueSums, readCodes, type CodedField } from './dictionary.ts'
import { PacksWriter } from './packs.ts'

/** Sections whose codes are in memory at once. */
const sliceRows = 2 * sectionRows

/**
 * Codes and packs, from one reading of the sorted rows.
 *
 * @param files where to; without packs where it is null
 * @param fields that have codes in packs; of which `coded` have a file of them
 * @throws TableFailure where a proof fails
 */
export async function writeRows(
  work: Work,
  files: { readonly codes: string; readonly packs: string | null },
  rows: number,
  fields: readonly CodedField[],
  coded: readonly CodedField[],
): Promise<void> {
  if (rows === 0) return
  let codes: CodesWriter | null = null
  let packs: PacksWriter | null = null
  const slices = Array.from({ length: Math.ceil(rows / sliceRows) }, (_, slice) => slice * sliceRows)
  const read = async (first: number) => {
    const count = Math.min(sliceRows, rows - first)
    return { count, columns: await readCodes(work, fields, first, count) }
  }
  try {
    if (coded.length > 0) codes = await CodesWriter.open(files.codes, coded)
    if (files.packs !== null) packs = await PacksWriter.open(work, files.packs, fields)
    if (codes === null && packs === null) return
    // One is read while the one before is written, unless that takes the connection too.
    for await (const { count, columns } of inOrder(slices, packs === null ? 2 : 1, read)) {
      for (let from = 0; from < count; from += sectionRows) {
        const section = new Map(
          fields.map(({ index }, place) => [
            index,
            columns[place]?.subarray(from, from + sectionRows) ?? new Uint8Array(),
          ]),
        )
        await codes?.add(coded.map(({ index }) => section.get(index) ?? new Uint8Array()))
        await packs?.add(section, Math.min(sectionRows, count - from))
      }
    }
    const due = await dueSums(work, packs === null ? coded : fields)
    await codes?.finish(coded.flatMap(({ index }) => due.get(index) ?? []))
    await packs?.finish(due)
  } finally {
    await codes?.close()
    await packs?.close()
  }
}
