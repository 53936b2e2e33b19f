import type { Table } from '../../core/catalog/catalog.ts'
import type { Expectation, FieldAddress } from '../../core/catalog/expectations.ts'
import { typeRow } from '../../core/catalog/field-types.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { messageOf } from '../../core/errors.ts'
import { quotedName, quotedText } from '../../core/sql.ts'
import { TableFailure, detailedRejectsMax } from '../base/rejects.ts'
import { type Staged, type Conversion, numberOf, sortedSql, stagedSql } from './conversion.ts'

interface BrokenRow {
  readonly record: number
  /** Earlier record with the same values, for `unique`. */
  readonly earlierRecord: number | null
  readonly field: string
  readonly text: string | null
  readonly reason: string
}

/** Parquet files of a referenced table; null for the table itself. */
export type ReferencedFiles = (target: FieldAddress) => readonly string[] | null

interface Rule {
  readonly names: readonly string[]
  readonly columns: readonly string[]
  /** SQL condition of rows that break it; null if it depends on several rows. */
  readonly brokenSql: string | null
  readonly reason: string
}

interface BrokenRule {
  readonly rule: Rule
  readonly count: number
}

/** Rules that are broken, and by how many rows, reused ones included. */
export async function brokenRules(conversion: Conversion, files: ReferencedFiles): Promise<BrokenRule[]> {
  const rules = rulesOf(conversion, files)
  const from = sortedSql(conversion)
  const rowRules = rules.filter(({ brokenSql }) => brokenSql !== null)
  const conditions = rowRules.map(({ brokenSql }) => `count_if(${brokenSql ?? ''})`)
  // One statement reads the rows once for all rules that a row breaks by itself.
  const [counts = []] =
    conditions.length === 0 ? [] : await conversion.db.rows(`select ${conditions.join(', ')} from ${from}`)
  const countOfRule = new Map(rowRules.map((rule, index) => [rule, numberOf(counts[index])]))
  const broken: BrokenRule[] = []
  for (const rule of rules) {
    const count = countOfRule.get(rule) ?? (await countRepeats(conversion, rule, from))
    if (count > 0) broken.push({ rule, count })
  }
  return broken
}

async function countRepeats(conversion: Conversion, rule: Rule, from: string): Promise<number> {
  const [[count] = []] = await conversion.db.rows(
    `select coalesce(sum(repeats - 1), 0) from (${repeatsSql(rule, 'count(*) as repeats', from)})`,
  )
  return numberOf(count)
}

/** @throws TableFailure if RE2 cannot read an expected pattern */
export async function requirePatterns(db: Connection, { expectations }: Table): Promise<void> {
  for (const expectation of expectations) {
    if (expectation.kind !== 'matches') continue
    const { field, pattern } = expectation
    await db.rows(`select regexp_full_match('', ${quotedText(pattern)})`).catch((cause: unknown) => {
      throw Object.assign(
        new TableFailure(
          `"${pattern}", which the catalog expects "${field}" to match, is not a regular expression of RE2: ${messageOf(cause)}`,
        ),
        { cause },
      )
    })
  }
}

export async function brokenRows(
  conversion: Conversion,
  { files: staged }: Staged,
  rules: readonly BrokenRule[],
): Promise<BrokenRow[]> {
  const broken: BrokenRow[] = []
  const rowsSql = `(select *, before + file_row_number as record from ${stagedSql(staged)} where is_good)`
  for (const { rule } of rules) {
    const { names, columns, brokenSql, reason } = rule
    const text = textSql(conversion, rule)
    const sameKeySql = columns.map((column) => `rows.${column} = repeated.${column}`).join(' and ')
    const firstRecordSql = `${columns.join(', ')}, min(record) as first`
    const sql =
      brokenSql === null
        ? `select record, ${text}, first from ${rowsSql} as rows
           join (${repeatsSql(rule, firstRecordSql, rowsSql)}) as repeated on ${sameKeySql} where record <> first`
        : `select record, ${text}, null from ${rowsSql} as rows where ${brokenSql}`
    for (const [record, value, first] of await conversion.db.rows(
      `${sql} order by record limit ${detailedRejectsMax}`,
    ))
      broken.push({
        record: numberOf(record),
        earlierRecord: first === null ? null : numberOf(first),
        field: names.join(', '),
        text: value === null ? null : String(value),
        reason,
      })
  }
  return broken.toSorted((a, b) => a.record - b.record).slice(0, detailedRejectsMax)
}

function repeatsSql({ columns }: Rule, selectedSql: string, from: string): string {
  const present = columns.map((column) => `${column} is not null`).join(' and ')
  return `select ${selectedSql} from ${from} where ${present} group by ${columns.join(', ')} having count(*) > 1`
}

function textSql({ fields }: Conversion, { names, columns }: Rule): string {
  const texts = columns.map((column, place) => {
    const field = fields.find((matchedField) => matchedField.field.name === names[place])?.field
    return `(${field === undefined ? column : typeRow(field.type).rendered(`rows.${column}`)})::varchar`
  })
  return texts.join(` || ', ' || `)
}

function rulesOf(conversion: Conversion, files: ReferencedFiles): Rule[] {
  const columnOf = (name: string): string =>
    `f${conversion.fields.findIndex(({ field }) => field.name === name)}`
  return conversion.table.expectations.map((expectation): Rule => {
    const names = expectation.kind === 'unique' ? expectation.fields : [expectation.field]
    const columns = names.map(columnOf)
    return { names, columns, ...conditionOf(conversion, expectation, columns[0] ?? '', files) }
  })
}

/** SQL condition of rows that break an expectation, with the reason for people. */
function conditionOf(
  conversion: Conversion,
  expectation: Expectation,
  column: string,
  files: ReferencedFiles,
): Pick<Rule, 'brokenSql' | 'reason'> {
  switch (expectation.kind) {
    case 'not_null':
      return {
        brokenSql: `${column} is null`,
        reason: `is missing, although ${expectation.ofKey === true ? 'it is in the key of the table' : '`not_null` requires one'}`,
      }
    case 'unique':
      return { brokenSql: null, reason: 'is not unique' }
    case 'between': {
      const { min, max } = expectation
      const type = typeIn(conversion, expectation.field)
      const ends = [
        ...(min === null ? [] : [`${column} < ${quotedText(min)}::${type}`]),
        ...(max === null ? [] : [`${column} > ${quotedText(max)}::${type}`]),
      ]
      const range =
        min === null ? `at most ${max ?? ''}` : max === null ? `at least ${min}` : `between ${min} and ${max}`
      return { brokenSql: ends.length === 0 ? 'false' : `(${ends.join(' or ')})`, reason: `is not ${range}` }
    }
    case 'matches': {
      const { pattern } = expectation
      return {
        brokenSql: `not regexp_full_match(${column}, ${quotedText(pattern)})`,
        reason: `does not match ${pattern}`,
      }
    }
    case 'references': {
      const { target } = expectation
      const paths = files(target)
      const index = conversion.fields.findIndex(({ field }) => field.name === target.field)
      const values =
        paths === null
          ? `select f${index} as value from ${sortedSql(conversion)}`
          : `select ${quotedName(target.field)} as value from read_parquet([${paths.map(quotedText).join(', ')}])`
      // A table without rows has no files.
      const missingSql =
        paths?.length === 0
          ? 'true'
          : `${column} not in (select value from (${values}) where value is not null)`
      return {
        brokenSql: `(${column} is not null and ${missingSql})`,
        reason: `is not in ${target.dataset}/${target.table}.${target.field}`,
      }
    }
  }
}

function typeIn({ fields }: Conversion, name: string): string {
  const field = fields.find((matchedField) => matchedField.field.name === name)?.field
  if (field === undefined) throw new RangeError(`there is no field ${name}`)
  return typeRow(field.type).stored(field)
}
