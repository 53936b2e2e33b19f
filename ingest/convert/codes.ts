import zlib from 'node:zlib'
import {
  countCodes,
  deflated,
  groupRows,
  packGroup,
  unpackGroup,
  type Codes,
} from '../../core/warehouse/format/codes.ts'
import { ChunkWriter } from './chunk-writer.ts'
import type { CodedField } from './dictionary.ts'
import { requireSame } from './proof.ts'

/** Writes codes section by section: see `core/warehouse/format/codes.ts`. */
export class CodesWriter {
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
