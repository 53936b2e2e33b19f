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
  const codes = coded.length === 0 || rows === 0 ? null : await CodesWriter.open(files.codes, coded)
  const packs = files.packs === null || rows === 0 ? null : await PacksWriter.open(work, files.packs, fields)
  if (codes === null && packs === null) return
  try {
    for (let first = 0; first < rows; first += sliceRows) {
      const count = Math.min(sliceRows, rows - first)
      const columns = await readCodes(work, fields, first, count)
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
