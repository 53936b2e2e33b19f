import { inOrder } from '../../../core/in-order.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import {
  type Codes,
  countCodes,
  deflated,
  groupCount,
  groupRows,
  packGroup,
  readCounts,
  readGroup,
  sectionGroups,
  sectionRows,
} from '../../../core/warehouse/format/codes.ts'
import { requireSame } from '../proof.ts'
import type { Conversion } from '../conversion.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { type CodedField, codeSums, expectedSums, readCodes } from './dictionary.ts'

/**
 * Writes the codes of some fields from the sorted rows, and proves them.
 * @throws TableFailure if a verification fails
 */
export async function writeCodes(
  conversion: Conversion,
  file: string,
  rows: number,
  fields: readonly CodedField[],
): Promise<void> {
  if (rows === 0 || fields.length === 0) return
  const sections = Array.from(
    { length: Math.ceil(rows / sectionRows) },
    (_, section) => section * sectionRows,
  )
  // A connection runs one statement at a time: one section is read while the one before is written.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = async (first: number): Promise<Codes[]> => {
    const columns = last.then(() => readCodes(conversion, fields, first, Math.min(sectionRows, rows - first)))
    last = columns.catch(() => undefined)
    return columns
  }
  const writer = await ChunkWriter.open(file)
  try {
    for await (const columns of inOrder(sections, 2, inTurn))
      await writer.add(await packCodes(fields, columns))
    await verifyCodes(conversion, await writer.finish(), rows, fields)
  } finally {
    await writer.close()
  }
}

async function packCodes(fields: readonly CodedField[], columns: readonly Codes[]): Promise<Uint8Array[]> {
  const chunks = fields.flatMap(({ values }, place) => {
    const codes = columns[place] ?? new Uint8Array()
    const groups = Array.from({ length: groupCount(codes.length) }, (_, group) =>
      codes.subarray(group * groupRows, (group + 1) * groupRows),
    )
    return [new Uint8Array(countCodes(groups, values).buffer), ...groups.map(packGroup)]
  })
  return Promise.all(chunks.map(deflated))
}

/**
 * @throws TableFailure if codes disagree with the sums of a group's values, or counts with the codes of a
 * section
 */
async function verifyCodes(
  conversion: Conversion,
  file: ChunkFile,
  rows: number,
  fields: readonly CodedField[],
): Promise<void> {
  const sums = await expectedSums(conversion, fields, rows)
  const shape = { rows, fields: fields.length }
  for (const [place, field] of fields.entries()) {
    const fieldSums = sums.get(field.index)
    if (fieldSums === undefined) throw new RangeError(`there are no sums of "${field.name}"`)
    let section: Codes[] = []
    for (let group = 0; group < groupCount(rows); group += 1) {
      const codes = readGroup(file, shape, place, group, field.values)
      const groupSums = fieldSums.sums.subarray(2 * group, 2 * group + 2)
      requireSame(`codes of "${field.name}"`, groupSums, codeSums(codes, fieldSums))
      section.push(codes)
      const isSectionEnd = section.length === sectionGroups || group + 1 === groupCount(rows)
      if (!isSectionEnd) continue
      const counts = readCounts(file, shape, place, Math.floor(group / sectionGroups))
      requireSame(`counts of "${field.name}"`, countCodes(section, field.values), counts)
      section = []
    }
  }
}
