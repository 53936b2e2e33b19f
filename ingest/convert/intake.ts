import { rm } from 'node:fs/promises'
import type { Table } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { rejectsKeptMax } from '../rejects.ts'
import type { Batch } from '../source/batches.ts'
import {
  badValues,
  drawWeights,
  nothingStaged,
  stage,
  together,
  type BadValue,
  type Staged,
  type Work,
} from './convert.ts'
import { matchHeader } from './match.ts'
import { reconcileStaged } from './reconcile.ts'

export interface IntakeOptions {
  readonly table: Table
  readonly db: Connection
  readonly scratch: string
  readonly acceptsDrift: boolean
}

/** Takes the batches of a source in: each is cast, reconciled and removed while the next is read. */
export class Intake {
  readonly #options: IntakeOptions
  #taken: { readonly work: Work; readonly drift: readonly string[] } | null = null
  #staged = nothingStaged
  /** All values that are not what their field declares. */
  badCount = 0
  /** The first of them, in the order of the source. */
  readonly badValues: BadValue[] = []

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  /** Of all batches so far. */
  get staged(): Staged {
    return this.#staged
  }

  /** What the first batch told; there is one in every source that could be read. */
  get taken(): { readonly work: Work; readonly drift: readonly string[] } {
    if (this.#taken === null) throw new Error('no batch was taken')
    return this.#taken
  }

  /** @throws TableFailure where the header does not fit, or two readers do not agree on the batch */
  async take(batch: Batch): Promise<void> {
    this.#taken ??= this.#begin(batch)
    const { work } = this.#taken
    const found = await reconcileStaged(work, batch, await stage(work, batch))
    if (found.badRows > 0) {
      const bad = await badValues(work, batch, rejectsKeptMax - this.badValues.length)
      this.badCount += bad.count
      this.badValues.push(...bad.values)
    }
    this.#staged = together(this.#staged, found)
    await rm(batch.file)
  }

  #begin({ header }: Batch): { work: Work; drift: readonly string[] } {
    const { table, db, scratch, acceptsDrift } = this.#options
    const { fields, drift } = matchHeader(table, header, acceptsDrift)
    const weights = drawWeights(fields)
    return { work: { db, table, fields, columns: header.length, weights, scratch }, drift }
  }
}
