import { rm } from 'node:fs/promises'
import type { Field, Table } from '../../core/catalog/catalog.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { constantSql, drawWeights, numberOf, plainSql, seenSql, type Work } from '../convert/convert.ts'
import { quotedText } from '../../core/sql.ts'
import { matchHeader, type MatchedField } from '../convert/match.ts'
import { requireAgreement } from '../convert/reconcile.ts'
import { valuesSql } from '../convert/values.ts'
import type { Progress } from '../progress.ts'
import type { Batch } from '../source/batches.ts'
import type { PlacedFile, UnpackLimits } from '../source/member.ts'
import { readSource, type ReadSource } from '../source/read.ts'
import type { Found } from './column.ts'

/** A text that is not what its field declares. */
export interface Misfit {
  readonly text: string
  readonly rows: number
  /** The first record that has it. */
  readonly record: number
}

/** What became of a field on all rows. */
export interface Tried extends Found {
  /** Values that are not as declared, and the most frequent of them. */
  readonly bad: number
  readonly misfits: readonly Misfit[]
}

export interface Trial {
  readonly read: ReadSource
  readonly fields: readonly Tried[]
  /** Of each probe; null where there is none. */
  readonly probes: readonly (Tried | null)[]
  /** Of the fields that have days: all of them, in their order, where they are not too many. */
  readonly days: ReadonlyMap<string, readonly string[]>
}

export interface TrialOptions {
  readonly files: readonly PlacedFile[]
  readonly table: Table
  /** RE2 patterns per field; a text that does not match all of them is a misfit. */
  readonly spellings: readonly (readonly string[])[]
  /** Of each field another that its column might be. */
  readonly probes: readonly (Field | null)[]
  readonly db: Connection
  readonly scratch: string
  readonly limits: UnpackLimits
  readonly progress: Progress
}

/** Of text: little, since it is held in memory while it is read. */
const batchBytes = 32 * 1024 * 1024
/** Of a field; of more different ones the most frequent are told of those that were met first. */
const misfitsMax = 200
const daysMax = 20_000
/** Fields whose days are gathered. */
const dayFieldsMax = 3

/**
 * Reads and casts all rows as an ingest would, and publishes nothing.
 *
 * @throws TableFailure where the source cannot be read, or two readers of it do not agree
 */
export async function tryEntry(options: TrialOptions): Promise<Trial> {
  const { table, probes, scratch, limits, progress, files } = options
  const tallies = [...table.fields, ...probes].map(() => new Tally())
  const days = new Map(
    table.fields
      .filter(({ type }) => ['date', 'datetime'].includes(typeRow(type).moment ?? ''))
      .slice(0, dayFieldsMax)
      .map(({ name }) => [name, new Set<string>()] as const),
  )
  const take = async (batch: Batch): Promise<void> => {
    await tryBatch(options, batch, tallies, days)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }
  const taker = { folder: scratch, bytes: batchBytes, take }
  const read = await readSource(files, { table, progress, limits, taker, hashes: false })
  const found = tallies.map((tally) => tally.found)
  return {
    read,
    fields: found.slice(0, table.fields.length),
    probes: probes.map((probe, index) =>
      probe === null ? null : (found[table.fields.length + index] ?? null),
    ),
    days: new Map([...days].map(([name, all]) => [name, all.size > daysMax ? [] : [...all].toSorted()])),
  }
}

async function tryBatch(
  { table, spellings, probes, db, scratch }: TrialOptions,
  batch: Batch,
  tallies: readonly Tally[],
  days: ReadonlyMap<string, Set<string>>,
): Promise<void> {
  const given = new Set(batch.pieces.flatMap(({ constants }) => [...constants.keys()]))
  const { fields: own } = matchHeader(table, batch.header, given, false)
  const other = probes.map((field, index): MatchedField | null =>
    field === null ? null : { field, column: own[index]?.column ?? null },
  )
  const work: Work = {
    db,
    table,
    fields: own,
    columns: batch.header.length,
    weights: drawWeights(own),
    scratch,
    parts: null,
  }
  const all = [...own, ...other]
  const matched = all.filter((one) => one !== null)
  const { fields, from } = valuesSql(matched, plainSql(work, batch), constantSql(batch))
  const spelled = all.flatMap((one, index) => (one === null ? [] : [spellings[index] ?? []]))
  const isFit = fields.map(({ text, isGood }, index) =>
    [
      isGood,
      ...(spelled[index] ?? []).map(
        (pattern) => `coalesce(regexp_matches(${text}, ${quotedText(pattern)}), true)`,
      ),
    ].join(' and '),
  )
  const counts = fields.map(
    ({ text }, index) =>
      `count(${text}), coalesce(max(length(${text})), 0), count(*) filter (where not (${isFit[index] ?? ''}))`,
  )
  const dayTexts = [...days].map(([name]) => {
    const value = fields[own.findIndex(({ field }) => field.name === name)]?.value ?? 'null'
    return `string_agg(distinct (${value})::date::varchar, ' ')`
  })
  const [row = []] = await db.rows(
    `select count(*), coalesce(sum(${seenSql(work)}), 0)::varchar, ${[...counts, ...dayTexts].join(', ')} from ${from}`,
  )
  await requireAgreement(work, batch, row[0], row[1])
  for (const [index, set] of [...days.values()].entries()) {
    const said = row[2 + 3 * fields.length + index]
    if (typeof said === 'string' && set.size <= daysMax) for (const day of said.split(' ')) set.add(day)
  }
  let at = 0
  const inOrder = valuesSql(matched, plainSql(work, batch, true), constantSql(batch)).from
  for (const [index, one] of all.entries()) {
    if (one === null) continue
    const [filled = 0, longest = 0, bad = 0] = row.slice(2 + 3 * at, 5 + 3 * at).map(numberOf)
    const [text, fits] = [fields[at]?.text ?? '', isFit[at] ?? '']
    at += 1
    const misfits =
      bad === 0
        ? []
        : await db.rows(`select text, count(*), min(record) from (
            select ${batch.before} + row_number() over () - 1 as record, ${text} as text, ${fits} as is_good from ${inOrder})
            where not is_good group by text order by 2 desc, 3 limit ${misfitsMax}`)
    tallies[index]?.add({ filled, longest, bad }, misfits)
  }
}

/** What was found of a field, batch after batch. */
class Tally {
  #filled = 0
  #longest = 0
  #bad = 0
  readonly #misfits = new Map<string, { rows: number; record: number }>()

  add(
    { filled, longest, bad }: { filled: number; longest: number; bad: number },
    misfits: readonly (readonly unknown[])[],
  ): void {
    this.#filled += filled
    this.#longest = Math.max(this.#longest, longest)
    this.#bad += bad
    for (const [text, rows, record] of misfits) {
      const known = this.#misfits.get(String(text))
      if (known !== undefined) known.rows += numberOf(rows)
      else if (this.#misfits.size < 5 * misfitsMax)
        this.#misfits.set(String(text), { rows: numberOf(rows), record: numberOf(record) })
    }
  }

  get found(): Tried {
    const misfits = [...this.#misfits].map(([text, facts]) => ({ text, ...facts }))
    return {
      filled: this.#filled,
      longest: this.#longest,
      bad: this.#bad,
      misfits: misfits.toSorted((a, b) => b.rows - a.rows || a.record - b.record),
    }
  }
}
