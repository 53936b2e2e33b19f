import { rm } from 'node:fs/promises'
import type { Table } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { rejectsKeptMax, TableFailure } from '../base/rejects.ts'
import type { Batch, Constants } from '../source/batches.ts'
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
import { matchHeader, misfit, missingColumn } from './match.ts'
import { reconcileStaged } from './reconcile.ts'

interface IntakeOptions {
  readonly table: Table
  readonly db: Connection
  readonly scratch: string
  readonly acceptsDrift: boolean
  /** Fields that files have which are not read. */
  readonly hasElsewhere: (field: string) => boolean
}

/** How records of the same columns are taken in. */
interface Taken {
  readonly header: readonly string[]
  readonly work: Work
  readonly drift: readonly string[]
  readonly lacking: readonly string[]
}

/** Takes the batches of a source in: each is cast, reconciled and removed while the next is read. */
export class Intake {
  readonly #options: IntakeOptions
  /** By their columns, and what is given besides. */
  readonly #taken = new Map<string, Taken>()
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

  /**
   * What all batches told; there is one in every source that could be read.
   *
   * @throws TableFailure where a column is missing in all files of a source
   */
  get taken(): { readonly work: Work; readonly drift: readonly string[] } {
    const all = [...this.#taken.values()]
    const [first] = all
    if (first === undefined) throw new Error('no batch was taken')
    const { table, acceptsDrift, hasElsewhere } = this.#options
    const missing = first.lacking.filter(
      (name) => !hasElsewhere(name) && all.every(({ lacking }) => lacking.includes(name)),
    )
    const drift = [...new Set([...missing.map(missingColumn), ...all.flatMap((one) => one.drift)])]
    if (missing.length > 0 && !acceptsDrift)
      throw new TableFailure(misfit(missing.map(missingColumn), first.header, table.source.delimiter))
    return { work: first.work, drift }
  }

  /** The fields that are null in rows of these columns, since other files alone have theirs. */
  lackingIn(header: readonly string[], constants: Constants): readonly string[] {
    return this.#taken.get(keyOf(header, [...constants.keys()]))?.lacking ?? []
  }

  /** @throws TableFailure where the header does not fit, or two readers do not agree on the batch */
  async take(batch: Batch): Promise<void> {
    const { work } = this.#takenFor(batch)
    const found = await reconcileStaged(work, batch, await stage(work, batch))
    if (found.badRows > 0) {
      const bad = await badValues(work, batch, rejectsKeptMax - this.badValues.length)
      this.badCount += bad.count
      this.badValues.push(...bad.values)
    }
    this.#staged = together(this.#staged, found)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }

  #takenFor({ header, pieces }: Batch): Taken {
    const { table, db, scratch, acceptsDrift } = this.#options
    const given = new Set(pieces.flatMap(({ constants }) => [...constants.keys()]))
    const key = keyOf(header, [...given])
    const known = this.#taken.get(key)
    if (known !== undefined) return known
    const { fields, drift, lacking } = matchHeader(table, header, given, acceptsDrift)
    const weights = drawWeights(fields)
    const work = { db, table, fields, columns: header.length, weights, scratch, parts: null }
    const taken = { header, work, drift, lacking }
    this.#taken.set(key, taken)
    return taken
  }
}

function keyOf(header: readonly string[], given: readonly string[]): string {
  return JSON.stringify([header, given])
}
