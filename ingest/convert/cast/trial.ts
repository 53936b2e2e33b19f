import { rm } from 'node:fs/promises'
import type { Field, Table } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Connection } from '../../../core/duckdb/connection.ts'
import { quotedText } from '../../../core/sql.ts'
import type { Progress } from '../../base/progress.ts'
import type { Batch } from '../../source/batches.ts'
import type { PlacedFile, UnpackLimits } from '../../source/member.ts'
import { type ReadSource, readSource } from '../../source/read.ts'
import { type MatchedField, type Conversion, numberOf } from '../conversion.ts'
import { requireSameReading } from './agreement.ts'
import { textsSql } from './bad-values.ts'
import { matchHeader } from './match.ts'
import { constantFieldsOf, constantSql, conversionOf, plainSql, rowChecksumSql } from './plain.ts'
import { type ValuesSql, valuesSql } from './values.ts'

export interface FieldFacts {
  readonly filled: number
  readonly longest: number
}

export interface Misfit {
  readonly text: string
  readonly rows: number
  readonly records: readonly number[]
}

interface Tried extends FieldFacts {
  /** Number of bad values; `misfits` has the most frequent ones. */
  readonly bad: number
  readonly misfits: readonly Misfit[]
}

export interface Trial {
  readonly read: ReadSource
  readonly fields: readonly Tried[]
  /** Results of each field's probe; null without a probe. */
  readonly probes: readonly (Tried | null)[]
  /** First distinct values of each field, at most `examplesMax`; none for fields beyond `fieldsShown`. */
  readonly examples: readonly (readonly string[])[]
  /** All days of date fields, in order, unless there are too many. */
  readonly days: ReadonlyMap<string, readonly string[]>
}

interface TrialOptions {
  readonly files: readonly PlacedFile[]
  readonly table: Table
  /** RE2 patterns per field, all of which a text must match. */
  readonly spellings: readonly (readonly string[])[]
  /** Alternative type to try on each column; null for none. */
  readonly probes: readonly (Field | null)[]
  readonly db: Connection
  readonly scratch: string
  readonly limits: UnpackLimits
  readonly progress: Progress
}

const batchBytes = 32 * 1024 * 1024
/** Maximum distinct misfits of a field: the most frequent of each batch, and in all batches. */
const misfitsMax = 200
const allMisfitsMax = 5 * misfitsMax
const recordsMax = 5
const daysMax = 20_000
const exampleRows = 100
const examplesMax = 3
export const fieldsShown = 30
const fieldsAtOnce = 250
const statementsMax = 12
const dayFieldsMax = 3

/**
 * Reads and casts all rows without publishing; counts and collects values that do not fit.
 * @throws TableFailure if the source is unreadable, or its two readers disagree
 */
export async function tryEntry(options: TrialOptions): Promise<Trial> {
  const { table, probes, scratch, limits, progress, files } = options
  const tallies = [...table.fields, ...probes].map(() => new Tally())
  const datesByField = new Map(
    table.fields
      .filter(({ type }) => ['date', 'datetime'].includes(typeRow(type).moment ?? ''))
      .slice(0, dayFieldsMax)
      .map(({ name }) => [name, new Set<string>()] as const),
  )
  const examples: string[][] = []
  const castBatch = async (batch: Batch): Promise<void> => {
    if (batch.before === 0) examples.push(...(await examplesIn(options, batch)))
    await tryBatch(options, batch, tallies, datesByField)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }
  const taker = { folder: scratch, bytes: batchBytes, take: castBatch }
  const sourceRead = await readSource(files, { table, progress, limits, taker, hashes: false })
  const results = tallies.map((tally) => tally.result)
  return {
    read: sourceRead,
    fields: results.slice(0, table.fields.length),
    probes: probes.map((probe, index) =>
      probe === null ? null : (results[table.fields.length + index] ?? null),
    ),
    examples,
    days: new Map(
      [...datesByField].map(([name, dates]) => [name, dates.size > daysMax ? [] : [...dates].toSorted()]),
    ),
  }
}

function matchedIn(table: Table, batch: Batch): readonly MatchedField[] {
  return matchHeader(table, batch, constantFieldsOf(batch), false).fields
}

async function examplesIn(options: TrialOptions, batch: Batch): Promise<string[][]> {
  const { table, db } = options
  const fields = matchedIn(table, batch).slice(0, fieldsShown)
  const conversion = conversionOf(options, fields, batch.header.length)
  const values = valuesSql(fields, plainSql(conversion, batch, true), constantSql(batch))
  const terms = values.fields.map(({ value, isGood }) => `(case when ${isGood} then ${value} end)::varchar`)
  const rows = await db.rows(`select ${terms.join(', ')} from ${values.from} limit ${exampleRows}`)
  return fields.map((_, index) => {
    const texts = rows.flatMap((row) => (typeof row[index] === 'string' ? [row[index]] : []))
    return [...new Set(texts)].slice(0, examplesMax)
  })
}

/**
 * Returns the first key whose values occur once and are never null.
 * @throws TableFailure if the source is unreadable
 */
export async function uniqueKey(
  { files, table, db, scratch, limits, progress }: Omit<TrialOptions, 'spellings' | 'probes'>,
  keys: readonly (readonly string[])[],
): Promise<readonly string[] | undefined> {
  if (keys.length === 0) return undefined
  progress.step('comparing rows')
  const columns = keys.map((_, index) => `k${index}`)
  await db.rows(
    `create or replace temp table acervo_keys (${columns.map((name) => `${name} ubigint`).join(', ')})`,
  )
  const hashBatch = async (batch: Batch): Promise<void> => {
    const keyFields = new Set(keys.flat())
    const fields = matchedIn(table, batch).filter(({ field }) => keyFields.has(field.name))
    const conversion = conversionOf({ db, table, scratch }, fields, batch.header.length)
    const values = valuesSql(fields, plainSql(conversion, batch, true), constantSql(batch))
    const valueSqlByField = new Map(
      values.fields.map(({ value }, index) => [fields[index]?.field.name, value]),
    )
    // A null value makes the hash null, so the key is not unique.
    const hashes = keys.map((names) => {
      const parts = names.map((name) => `(${valueSqlByField.get(name) ?? 'null'})`)
      return `case when ${parts.map((part) => `${part} is not null`).join(' and ')} then hash(${parts.join(', ')}) end`
    })
    await db.rows(`insert into acervo_keys select ${hashes.join(', ')} from ${values.from}`)
    await Promise.all(batch.pieces.map(({ file }) => rm(file)))
  }
  const taker = { folder: scratch, bytes: batchBytes, take: hashBatch }
  await readSource(files, { table, progress, limits, taker, hashes: false })
  try {
    for (const [index, name] of columns.entries()) {
      const [[isUnique] = []] = await db.rows(`select count(distinct ${name}) = count(*) from acervo_keys`)
      if (isUnique === true) return keys[index]
    }
    return undefined
  } finally {
    await db.rows('drop table acervo_keys')
  }
}

async function tryBatch(
  options: TrialOptions,
  batch: Batch,
  tallies: readonly Tally[],
  days: ReadonlyMap<string, Set<string>>,
): Promise<void> {
  const { table, spellings, probes } = options
  const matchedFields = matchedIn(table, batch)
  const probeFields = probes.map((field, index): MatchedField | null =>
    field === null ? null : { field, column: matchedFields[index]?.column ?? null },
  )
  // Tallies follow fields, then probes; probes have no patterns.
  const attempts = [...matchedFields, ...probeFields].flatMap((matchedField, index): Attempt[] => {
    const [tally, patterns = []] = [tallies[index], spellings[index]]
    return matchedField === null || tally === undefined ? [] : [{ matched: matchedField, patterns, tally }]
  })
  const attemptsAtOnce = Math.max(fieldsAtOnce, Math.ceil(attempts.length / statementsMax))
  for (let first = 0; first < attempts.length; first += attemptsAtOnce) {
    const chunk = attempts.slice(first, first + attemptsAtOnce)
    const fields = chunk.map(({ matched }) => matched)
    await tryFields(conversionOf(options, fields, batch.header.length), batch, chunk, days)
  }
}

interface Attempt {
  readonly matched: MatchedField
  readonly patterns: readonly string[]
  readonly tally: Tally
}

/** Counts filled and bad values per field; collects the bad values as misfits, and the days. */
async function tryFields(
  conversion: Conversion,
  batch: Batch,
  attempts: readonly Attempt[],
  days: ReadonlyMap<string, Set<string>>,
): Promise<void> {
  const { fields, from } = fitsSql(attempts, plainSql(conversion, batch), batch)
  const counts = fields.map(
    ({ text, isGood }) => `count(${text}), coalesce(max(length(${text})), 0), count_if(not (${isGood}))`,
  )
  const dayTerms = [...days].flatMap(([name, dates]) => {
    const value = fields[attempts.findIndex(({ matched }) => matched.field.name === name)]?.value
    return value === undefined ? [] : [{ dates, sql: `string_agg(distinct (${value})::date::varchar, ' ')` }]
  })
  const terms = [...counts, ...dayTerms.map(({ sql }) => sql)]
  const [[rows, checksum, ...totals] = []] = await conversion.db.rows(
    `select count(*), coalesce(sum(checksum), 0)::varchar, ${terms.join(', ')} from (select *, ${rowChecksumSql(conversion)} as checksum from ${from})`,
  )
  await requireSameReading(conversion, batch, rows, checksum)
  const countsOfField = fields.map((_, index) => {
    const [filled = 0, longest = 0, bad = 0] = totals.slice(3 * index, 3 * index + 3).map(numberOf)
    return { filled, longest, bad }
  })
  const dayLists = totals.slice(3 * fields.length)
  for (const [index, { dates }] of dayTerms.entries()) {
    const dayList = dayLists[index]
    if (typeof dayList === 'string' && dates.size <= daysMax)
      for (const day of dayList.split(' ')) dates.add(day)
  }
  const badFields = fields.flatMap((field, index) =>
    countsOfField[index]?.bad === 0 ? [] : [{ ...field, index }],
  )
  const misfits = badFields.length === 0 ? [] : await misfitsIn(conversion, batch, attempts, badFields)
  for (const [index, { tally }] of attempts.entries()) {
    tally.add(
      countsOfField[index] ?? { filled: 0, longest: 0, bad: 0 },
      misfits.filter(([field]) => numberOf(field) === index),
    )
  }
}

async function misfitsIn(
  conversion: Conversion,
  batch: Batch,
  attempts: readonly Attempt[],
  badFields: Parameters<typeof textsSql>[1],
): Promise<readonly (readonly unknown[])[]> {
  const orderedSql = fitsSql(attempts, plainSql(conversion, batch, true), batch).from
  return conversion.db.rows(`select field, text, count(*), array_to_string(min(record, ${recordsMax}), ' ')
    from ${textsSql(batch, badFields, orderedSql)} where not is_good
    group by field, text
    qualify row_number() over (partition by field order by count(*) desc, min(record)) <= ${misfitsMax}
    order by field, count(*) desc, min(record)`)
}

/** Returns the SQL of `valuesSql`, where a good text also matches the patterns of its field. */
function fitsSql(attempts: readonly Attempt[], csvSql: string, batch: Batch): ValuesSql {
  const { fields, from } = valuesSql(
    attempts.map(({ matched }) => matched),
    csvSql,
    constantSql(batch),
  )
  const strictFields = fields.map((field, index) => {
    const patterns = attempts[index]?.patterns ?? []
    const patternTests = patterns.map(
      (pattern) => `coalesce(regexp_matches(${field.text}, ${quotedText(pattern)}), true)`,
    )
    return { ...field, isGood: [field.isGood, ...patternTests].join(' and ') }
  })
  return { fields: strictFields, from }
}

class Tally {
  #filled = 0
  #longest = 0
  #bad = 0
  readonly #misfits = new Map<string, { rows: number; records: readonly number[] }>()

  add(
    { filled, longest, bad }: { filled: number; longest: number; bad: number },
    misfits: readonly (readonly unknown[])[],
  ): void {
    this.#filled += filled
    this.#longest = Math.max(this.#longest, longest)
    this.#bad += bad
    for (const [, text, rows, recordList] of misfits) {
      const earlierMisfit = this.#misfits.get(String(text))
      if (earlierMisfit === undefined && this.#misfits.size >= allMisfitsMax) continue
      const records = [...(earlierMisfit?.records ?? []), ...String(recordList).split(' ').map(Number)]
      this.#misfits.set(String(text), {
        rows: (earlierMisfit?.rows ?? 0) + numberOf(rows),
        records: records.slice(0, recordsMax),
      })
    }
  }

  get result(): Tried {
    const misfits = [...this.#misfits].map(([text, facts]) => ({ text, ...facts }))
    return {
      filled: this.#filled,
      longest: this.#longest,
      bad: this.#bad,
      misfits: misfits.toSorted((a, b) => b.rows - a.rows || (a.records[0] ?? 0) - (b.records[0] ?? 0)),
    }
  }
}
