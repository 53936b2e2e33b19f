import { open, type FileHandle } from 'node:fs/promises'
import zlib from 'node:zlib'
import {
  countCodes,
  deflated,
  Directory,
  directoryBytes,
  directoryOf,
  groupRows,
  groupsIn,
  packGroup,
  sectionGroups,
  sectionsIn,
  unpackGroup,
  type Codes,
  type Shape,
} from '../../core/warehouse/codes/layout.ts'
import type { Piece } from '../../core/warehouse/file-checks.ts'
import { TableFailure } from '../rejects.ts'
import { sumsOf, type CodedField, type DueSums } from './dictionary.ts'
import { bytesAt, requireSame } from './proof.ts'

/** Writes codes section by section: see `core/warehouse/codes/layout.ts`. */
export class CodesWriter {
  readonly #handle: FileHandle
  readonly #fields: readonly CodedField[]
  readonly #pieces: Omit<Piece, 'start'>[] = []
  #bytes = 0
  #rows = 0

  private constructor(handle: FileHandle, fields: readonly CodedField[]) {
    this.#handle = handle
    this.#fields = fields
  }

  static async open(file: string, fields: readonly CodedField[]): Promise<CodesWriter> {
    return new CodesWriter(await open(file, 'wx+'), fields)
  }

  /** @param columns of each field, the codes of the rows of the next section */
  async add(columns: readonly Codes[]): Promise<void> {
    const packed = this.#fields.flatMap(({ values }, place) => {
      const groups = groupsOf(columns[place])
      const counts = countCodes(groups, values)
      return [new Uint8Array(counts.buffer), ...groups.map(packGroup)].map(deflated)
    })
    for (const piece of await Promise.all(packed)) {
      this.#pieces.push({ length: piece.length, sum: zlib.crc32(piece) })
      await this.#append(piece)
    }
    this.#rows += columns[0]?.length ?? 0
  }

  /**
   * Writes what says where all lies, and reads everything back.
   *
   * @param due of each field
   * @throws TableFailure
   */
  async finish(due: readonly DueSums[]): Promise<void> {
    await this.#append(directoryOf(this.#pieces))
    const shape = { rows: this.#rows, bytes: this.#bytes, values: this.#fields.map(({ values }) => values) }
    await proveCodes(this.#handle, shape, this.#fields, due)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #append(bytes: Uint8Array): Promise<void> {
    await this.#handle.write(bytes, 0, bytes.length, this.#bytes)
    this.#bytes += bytes.length
  }
}

function groupsOf(codes: Codes = new Uint8Array()): Codes[] {
  return Array.from({ length: Math.ceil(codes.length / groupRows) }, (_, group) =>
    codes.subarray(group * groupRows, (group + 1) * groupRows),
  )
}

async function proveCodes(
  handle: FileHandle,
  shape: Shape,
  fields: readonly CodedField[],
  due: readonly DueSums[],
): Promise<void> {
  const length = directoryBytes(shape)
  const directory = Directory.read(await bytesAt(handle, shape.bytes - length, length), shape)
  if (directory === null) throw new TableFailure('the proof of the codes failed; nothing was published')
  for (const [place, field] of fields.entries()) {
    const sums = due[place]
    if (sums === undefined) throw new RangeError(`nothing is due of "${field.name}"`)
    const found: number[] = []
    for (let section = 0; section < sectionsIn(shape.rows); section += 1) {
      const groups: Codes[] = []
      const end = Math.min(groupsIn(shape.rows), (section + 1) * sectionGroups)
      for (let group = section * sectionGroups; group < end; group += 1) {
        const planes = await pieceAt(handle, directory.group(place, group))
        const codes = unpackGroup(planes, field.values)
        groups.push(codes)
        const written = sums.written.get(group)
        if (written === undefined) found.push(...sumsOf(codes, sums))
        else {
          requireSame(`codes of "${field.name}"`, String(written), String(zlib.crc32(planes)))
          found.push(sums.sums[2 * group] ?? 0, sums.sums[2 * group + 1] ?? 0)
        }
      }
      const counts = Buffer.from(countCodes(groups, field.values).buffer)
      const kept = Buffer.from(await pieceAt(handle, directory.counts(place, section)))
      requireSame(`counts of "${field.name}"`, counts.toString('base64'), kept.toString('base64'))
    }
    requireSame(`codes of "${field.name}"`, sums.sums.join(' '), found.join(' '))
  }
}

/** @throws TableFailure where it has another sum */
export async function pieceAt(handle: FileHandle, { start, length, sum }: Piece): Promise<Uint8Array> {
  const bytes = await bytesAt(handle, start, length)
  if (zlib.crc32(bytes) !== sum)
    throw new TableFailure('codes are not as they were written; nothing was published')
  return zlib.inflateRawSync(bytes)
}
