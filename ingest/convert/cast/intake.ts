import { rm } from 'node:fs/promises'
import type { Table } from '../../../core/catalog/catalog.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import { TableFailure, detailedRejectsMax } from '../../base/rejects.ts'
import type { Batch, Constants } from '../../source/batches.ts'
import { type Staged, type Conversion, nothingStaged, addStaged } from '../conversion.ts'
import { reconcileStaged } from './agreement.ts'
import { type BadValue, badValues } from './bad-values.ts'
import { type Header, matchHeader, misfit, missingColumn } from './match.ts'
import { constantFieldsOf, conversionOf } from './plain.ts'
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
  readonly header: Header
  readonly conversion: Conversion
  readonly drift: readonly string[]
  readonly lacking: readonly string[]
}

export class Intake {
  readonly #options: IntakeOptions
  readonly #sources = new Map<string, ConvertedSource>()
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
   * Conversion of the first batch, and drift of all batches.
   * @throws TableFailure if a column is missing in all files of a source
   */
  get matched(): { readonly conversion: Conversion; readonly drift: readonly string[] } {
    const sources = [...this.#sources.values()]
    const [first] = sources
    if (first === undefined) throw new Error('no batch was read')
    const { table, acceptsDrift, hasElsewhere } = this.#options
    const missingNames = first.lacking.filter(
      (name) => !hasElsewhere(name) && sources.every(({ lacking }) => lacking.includes(name)),
    )
    const drift = [
      ...new Set([...missingNames.map(missingColumn), ...sources.flatMap((source) => source.drift)]),
    ]
    if (missingNames.length > 0 && !acceptsDrift)
      throw new TableFailure(
        misfit(table, missingNames.map(missingColumn), { ...first.header, headerFile: null }, true),
      )
    return { conversion: first.conversion, drift }
  }

  /** Fields whose columns only other files have. */
  lackingIn(header: readonly string[], constants: Constants): readonly string[] {
    return this.#sources.get(keyOf(header, [...constants.keys()]))?.lacking ?? []
  }

  /** @throws TableFailure if the header does not match, or two readers disagree about the batch */
  async convert(batch: Batch): Promise<void> {
    const { conversion } = this.#sourceFor(batch)
    const outcome = await reconcileStaged(conversion, batch, await stage(conversion, batch))
    if (outcome.badRows > 0) {
      const bad = await badValues(conversion, batch, detailedRejectsMax - this.badValues.length)
      this.badCount += bad.count
      this.badValues.push(...bad.values)
    }
    this.#staged = addStaged(this.#staged, outcome)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }

  #sourceFor(batch: Batch): ConvertedSource {
    const { header, headerLine, headerFile } = batch
    const { table, acceptsDrift } = this.#options
    const constantFields = constantFieldsOf(batch)
    const key = keyOf(header, [...constantFields])
    const existing = this.#sources.get(key)
    if (existing !== undefined) return existing
    const { fields, drift, lacking } = matchHeader(table, batch, constantFields, acceptsDrift)
    const conversion = conversionOf(this.#options, fields, header.length)
    const source = { header: { header, headerLine, headerFile }, conversion, drift, lacking }
    this.#sources.set(key, source)
    return source
  }
}

function keyOf(header: readonly string[], constantFields: readonly string[]): string {
  return JSON.stringify([header, constantFields])
}
