import { open, type FileHandle } from 'node:fs/promises'
import zlib from 'node:zlib'
import {
  countCodes,
  deflated,
  Directory,
  directoryBytes,
  directoryOf,
  groupRows,
  packGroup,
  sectionsIn,
  unpackGroup,
  type Codes,
  type Shape,
} from '../../core/warehouse/codes/layout.ts'
import type { Chunk } from '../../core/warehouse/format/chunk-file.ts'
import { TableFailure } from '../rejects.ts'
import { sumsOf, type CodedField, type DueSums } from './dictionary.ts'
import { bytesAt, requireSame } from './proof.ts'

/** Writes codes section by section: see `core/warehouse/codes/layout.ts`. */
export class CodesWriter {
  readonly #handle: FileHandle
  readonly #fields: readonly CodedField[]
  readonly #pieces: Omit<Chunk, 'start'>[] = []
  #bytes = 0
  #rows = 0

  private constructor(handle: FileHandle, fields: readonly CodedField[]) {
    this.#handle = handle
    this.#fields = fields
  }

  static async open(file: string, fields: readonly CodedField[]): Promise<CodesWriter> {
    return new CodesWriter(await open(file, 'wx+'), fields)
  }

  /**
   * @param columns of each field, the next section
   * @param rows of it
   */
  async add(columns: readonly Codes[], rows: number): Promise<void> {
    const packed = this.#fields.flatMap(({ values }, place): readonly Promise<Uint8Array>[] => {
      const groups = groupsOf(columns[place] ?? new Uint8Array())
      const counts = countCodes(groups, values)
      return [new Uint8Array(counts.buffer), ...groups.map(packGroup)].map(deflated)
    })
    const pieces = await Promise.all(packed)
    for (const piece of pieces) this.#pieces.push({ length: piece.length, sum: zlib.crc32(piece) })
    await this.#append(Buffer.concat(pieces))
    this.#rows += rows
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

function groupsOf(codes: Codes): Codes[] {
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
    const what = `codes of "${field.name}"`
    const found: number[] = []
    for (let section = 0; section < sectionsIn(shape.rows); section += 1) {
      const [counted = new Uint8Array(), ...pieces] = await piecesAt(
        handle,
        directory.section(place, section),
      )
      const groups = pieces.map((piece) => unpackGroup(zlib.inflateRawSync(piece), field.values))
      for (const codes of groups) found.push(...sumsOf(codes, sums))
      const counts = Buffer.from(countCodes(groups, field.values).buffer)
      const kept = zlib.inflateRawSync(counted)
      requireSame(`counts of "${field.name}"`, counts.toString('base64'), kept.toString('base64'))
    }
    requireSame(what, sums.sums.join(' '), found.join(' '))
  }
}

/**
 * Pieces that follow each other, read at once.
 *
 * @throws TableFailure where one has another sum
 */
async function piecesAt(handle: FileHandle, pieces: readonly Chunk[]): Promise<Uint8Array[]> {
  const start = pieces[0]?.start ?? 0
  const bytes = await bytesAt(
    handle,
    start,
    pieces.reduce((sum, { length }) => sum + length, 0),
  )
  return pieces.map((piece) => {
    const own = bytes.subarray(piece.start - start, piece.start - start + piece.length)
    if (zlib.crc32(own) !== piece.sum)
      throw new TableFailure('codes are not as they were written; nothing was published')
    return own
  })
}
