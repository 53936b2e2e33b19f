import zlib from 'node:zlib'
import { inOrder } from '../../../core/in-order.ts'
import {
  type Codes,
  countCodes,
  deflated,
  groupRows,
  packGroup,
  sectionRows,
  unpackGroup,
} from '../../../core/warehouse/format/codes.ts'
import { requireSame } from '../proof.ts'
import type { Work } from '../work.ts'
import { ChunkWriter } from './chunk-writer.ts'
import { type CodedField, type DueSums, codeSums, dueSums, readCodes } from './dictionary.ts'

/**
 * Writes the file of codes of some fields, reading the sorted rows once.
 * @throws TableFailure if a verification fails
 */
export async function writeCodes(
  work: Work,
  file: string,
  rows: number,
  fields: readonly CodedField[],
): Promise<void> {
  if (rows === 0 || fields.length === 0) return
  const sections = Array.from(
    { length: Math.ceil(rows / sectionRows) },
    (_, section) => section * sectionRows,
  )
  const due = await dueSums(work, fields, rows)
  const read = async (first: number): Promise<Codes[]> => {
    const columns = await readCodes(work, fields, first, Math.min(sectionRows, rows - first))
    for (const [place, field] of fields.entries())
      requireDue(field, due.get(field.index), columns[place], first)
    return columns
  }
  // A connection runs one statement at a time, so only one section is read while the one before is written.
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = async (first: number): Promise<Codes[]> => {
    const columns = last.then(() => read(first))
    last = columns.catch(() => undefined)
    return columns
  }
  const codes = await CodesWriter.open(file, fields)
  try {
    for await (const columns of inOrder(sections, 2, inTurn)) await codes.add(columns)
    await codes.finish()
  } finally {
    await codes.close()
  }
}

/** @throws TableFailure if the codes of a field do not match the values of the sorted rows */
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
    requireSame(`codes of "${name}"`, sums, codeSums(codes.subarray(from, from + groupRows), due))
  }
}

/** Writes codes section by section: see `core/warehouse/format/codes.ts`. */
class CodesWriter {
  readonly #file: ChunkWriter
  readonly #fields: readonly CodedField[]

  private constructor(file: ChunkWriter, fields: readonly CodedField[]) {
    this.#file = file
    this.#fields = fields
  }

  static async open(file: string, fields: readonly CodedField[]): Promise<CodesWriter> {
    return new CodesWriter(await ChunkWriter.open(file), fields)
  }

  /**
   * @param columns codes of the next section, by field
   * @throws TableFailure if their chunks decode to other codes
   */
  async add(columns: readonly Codes[]): Promise<void> {
    const encoded = this.#fields.map(async (field, place) => {
      const groups = groupsOf(columns[place] ?? new Uint8Array())
      const counts = new Uint8Array(countCodes(groups, field.values).buffer)
      const planes = groups.map(packGroup)
      const chunks = await Promise.all([counts, ...planes].map(deflated))
      const [countsRead, ...planesRead] = chunks.map((chunk) => zlib.inflateRawSync(chunk))
      const isSame =
        countsRead?.equals(counts) === true &&
        groups.every((group, index) => {
          const read = unpackGroup(planesRead[index] ?? new Uint8Array(), field.values)
          return Buffer.compare(bytesOf(read), bytesOf(group)) === 0
        })
      requireSame(`codes of "${field.name}"`, true, isSame)
      return chunks
    })
    await this.#file.add((await Promise.all(encoded)).flat())
  }

  /** @throws TableFailure if the disk returns other bytes */
  async finish(): Promise<void> {
    await this.#file.finish()
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

function groupsOf(codes: Codes): Codes[] {
  return Array.from({ length: Math.ceil(codes.length / groupRows) }, (_, group) =>
    codes.subarray(group * groupRows, (group + 1) * groupRows),
  )
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Codes): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
