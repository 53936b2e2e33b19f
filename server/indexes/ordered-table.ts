import {
  positionBytes,
  positionsOfPiece,
  positionSumsBytes,
  readPositionSums,
} from '../../core/warehouse/orders.ts'
import type { Order, PiecewiseFile } from '../../core/warehouse/manifest.ts'
import type { Snapshot } from '../snapshots/snapshot.ts'
import { CheckedFile } from './checked-file.ts'

/** Where the rows of a snapshot are in another order, while an ask reads it. */
export class OrderedTable {
  readonly #rows: number
  readonly #stored: PiecewiseFile
  readonly #file: CheckedFile

  constructor(snapshot: Snapshot, order: Order) {
    this.#rows = snapshot.manifest.rows
    this.#stored = order.positions
    this.#file = new CheckedFile(snapshot, order.positions)
  }

  /**
   * The positions in the table of some rows of the order.
   *
   * @param places in the order
   * @throws DamagedTable
   */
  positions(places: Uint32Array): Uint32Array {
    const sums = this.#sums()
    let known = -1
    let piece: Buffer = Buffer.alloc(0)
    return places.map((place) => {
      const number = Math.floor(place / positionsOfPiece)
      if (number !== known) {
        const first = number * positionsOfPiece
        const length = Math.min(positionsOfPiece, this.#rows - first) * positionBytes
        piece = this.#file.piece({ start: first * positionBytes, length, sum: sums[number] ?? 0 })
        known = number
      }
      return piece.readUInt32LE((place % positionsOfPiece) * positionBytes)
    })
  }

  /** Whoever has made one ends it. */
  close(): void {
    this.#file.close()
  }

  #sums(): Uint32Array {
    const known = allSums.get(this.#stored)
    if (known !== undefined) return known
    const start = this.#rows * positionBytes
    const sums =
      this.#file.bytes === start + positionSumsBytes(this.#rows)
        ? readPositionSums(this.#file.directory(positionSumsBytes(this.#rows)), this.#rows)
        : null
    if (sums === null) throw this.#file.damaged('its sums have another sum')
    allSums.set(this.#stored, sums)
    return sums
  }
}

/** By what a manifest says of a file. */
const allSums = new WeakMap<PiecewiseFile, Uint32Array>()
