import { chunkPositions, positionIn } from '../../../core/warehouse/format/positions.ts'
import type { Order } from '../../../core/warehouse/manifest.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import type { ChunkFile } from '../../../core/warehouse/format/chunk-file.ts'
import { chunkFileOf } from './chunk-file.ts'

/** Row positions in another stored order. */
export class OrderedTable {
  readonly #file: ChunkFile

  constructor(snapshot: Snapshot, { positions }: Order) {
    this.#file = chunkFileOf(snapshot, positions, Math.ceil(snapshot.manifest.rows / chunkPositions))
  }

  /**
   * @param places ranks, from 0
   * @throws DamagedTable
   */
  positions(places: Uint32Array): Uint32Array {
    let chunkNumber = -1
    let chunk: Buffer = Buffer.alloc(0)
    return places.map((place) => {
      const number = Math.floor(place / chunkPositions)
      if (number !== chunkNumber) {
        chunk = this.#file.read(number)
        chunkNumber = number
      }
      return positionIn(chunk, place)
    })
  }
}
