import { rm } from 'node:fs/promises'
import type { Table } from '../../../core/catalog/catalog.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import { TableFailure, detailedRejectsMax } from '../../base/rejects.ts'
import type { Batch, Constants } from '../../source/batches.ts'
import { type Staged, type Work, nothingStaged, together } from '../work.ts'
import { reconcileStaged } from './agreement.ts'
import { type BadValue, badValues } from './bad-values.ts'
import { matchHeader, misfit, missingColumn } from './match.ts'
import { drawWeights } from './plain.ts'
import { stage } from './stage.ts'

interface IntakeOptions {
  readonly table: Table
  readonly db: Connection
  readonly scratch: string
  readonly acceptsDrift: boolean
  /** Returns whether a file of a reused partition has a column for the field. */
  readonly hasElsewhere: (field: string) => boolean
}

interface ConvertedSource {
  readonly header: Pick<Batch, 'header' | 'headerLine'>
  readonly work: Work
  readonly drift: readonly string[]
  readonly lacking: readonly string[]
}

export class Intake {
  readonly #options: IntakeOptions
  /** Conversions by columns and constants. */
  readonly #conversions = new Map<string, ConvertedSource>()
  #staged = nothingStaged
  badCount = 0
  readonly badValues: BadValue[] = []

  constructor(options: IntakeOptions) {
    this.#options = options
  }

  get staged(): Staged {
    return this.#staged
  }

  /**
   * Conversion of the first batch, and drift of all.
   * @throws TableFailure if a column is missing in all files of a source
   */
  get conversion(): { readonly work: Work; readonly drift: readonly string[] } {
    const conversions = [...this.#conversions.values()]
    const [first] = conversions
    if (first === undefined) throw new Error('no batch was read')
    const { table, acceptsDrift, hasElsewhere } = this.#options
    const missing = first.lacking.filter(
      (name) => !hasElsewhere(name) && conversions.every(({ lacking }) => lacking.includes(name)),
    )
    const drift = [
      ...new Set([...missing.map(missingColumn), ...conversions.flatMap((conversion) => conversion.drift)]),
    ]
    if (missing.length > 0 && !acceptsDrift)
      throw new TableFailure(misfit(missing.map(missingColumn), first.header, table.source.delimiter))
    return { work: first.work, drift }
  }

  /** Fields whose columns only other files have. */
  lackingIn(header: readonly string[], constants: Constants): readonly string[] {
    return this.#conversions.get(keyOf(header, [...constants.keys()]))?.lacking ?? []
  }

  /** @throws TableFailure if the header does not match, or two readers disagree about the batch */
  async convert(batch: Batch): Promise<void> {
    const { work } = this.#conversionFor(batch)
    const outcome = await reconcileStaged(work, batch, await stage(work, batch))
    if (outcome.badRows > 0) {
      const bad = await badValues(work, batch, detailedRejectsMax - this.badValues.length)
      this.badCount += bad.count
      this.badValues.push(...bad.values)
    }
    this.#staged = together(this.#staged, outcome)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }

  #conversionFor({ header, headerLine, pieces }: Batch): ConvertedSource {
    const { table, db, scratch, acceptsDrift } = this.#options
    const constantFields = new Set(pieces.flatMap(({ constants }) => [...constants.keys()]))
    const key = keyOf(header, [...constantFields])
    const existing = this.#conversions.get(key)
    if (existing !== undefined) return existing
    const { fields, drift, lacking } = matchHeader(
      table,
      { header, headerLine },
      constantFields,
      acceptsDrift,
    )
    const weights = drawWeights(fields)
    const work = { db, table, fields, columns: header.length, weights, scratch, parts: null }
    const conversion = { header: { header, headerLine }, work, drift, lacking }
    this.#conversions.set(key, conversion)
    return conversion
  }
}

function keyOf(header: readonly string[], constantFields: readonly string[]): string {
  return JSON.stringify([header, constantFields])
}
