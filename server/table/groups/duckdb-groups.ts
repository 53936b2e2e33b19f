import { typeRow } from '../../../core/catalog/field-types.ts'
import type { Answer } from '../../../core/duckdb/connection.ts'
import { quotedName } from '../../../core/sql.ts'
import { baseOf, termSql } from '../../query/date-parts.ts'
import type { Measure } from '../../query/measures.ts'
import { DoubleSum, unscaled } from './exact.ts'
import {
  canonicalText,
  exactText,
  floatText,
  groupsOf,
  medianText,
  type Grouping,
  type Groups,
} from './groups.ts'

interface Rows {
  readonly from: string
  readonly where: string
}

interface MeasureSql {
  readonly texts: readonly string[]
  readonly value: (texts: readonly (string | null)[]) => string | null
}

/**
 * Returns SQL of one row: per term and per text of a measure, a BLOB of all groups' texts and their lengths.
 */
export function groupsSql(grouping: Grouping, rows: Rows): string {
  const aggregates = [
    'count(*)::varchar',
    ...grouping.measures.flatMap((measure) => measureSql(measure).texts),
  ]
  const texts = [...new Set(aggregates)]
  return packedSql(grouping, texts, `select ${columnsOf(grouping)} from ${rows.from} where ${rows.where}`)
}

/** Adds up a float field as whole numbers by power of two, since sums of doubles depend on their order. */
export function floatSumsSql(grouping: Grouping, name: string, rows: Rows): string {
  const column = quotedName(name)
  const keys = keysOf(grouping)
  // One more bit than a double has, since the logarithm may be off by one.
  const power = `${significantBits + 1} - floor(log2(abs(value)))::integer`
  const scaled = `value * pow(2.0, least(power, 1000)) * pow(2.0, greatest(power - 1000, 0))`
  const values = `select ${[...termColumns(grouping), `nullif(${column}, 0) as value`].join(', ')} from ${rows.from} where ${rows.where}`
  const units = `select *, (${scaled})::hugeint as units from (select *, ${power} as power from (${values}))`
  const sums = `select ${[...keys, '-power as power', 'sum(units) as units'].join(', ')} from (${units}) group by ${[...keys, 'power'].join(', ')}`
  return packedSql(grouping, [`string_agg(power || ' ' || units, ' ')`], sums)
}

const significantBits = 53

/**
 * Builds SQL of one row. Each column of the groups becomes two values: its texts joined in a BLOB, and their
 * lengths.
 */
function packedSql(grouping: Grouping, measureTexts: readonly string[], rowsSql: string): string {
  const keys = keysOf(grouping)
  const allTexts = [
    ...grouping.terms.map((term, index) => typeRow(term.type).rendered(keys[index] ?? '')),
    ...measureTexts,
  ]
  const columns = allTexts.map((text, index) => `${text} as text_${index}`)
  const packedColumns = allTexts.flatMap((_, index) => [
    `encode(string_agg(coalesce(text_${index}, ''), ''))`,
    `list(strlen(text_${index})::uinteger)`,
  ])
  const groupClause = keys.length === 0 ? '' : ` group by ${keys.join(', ')}`
  const orderClause =
    keys.length === 0 ? '' : ` order by ${keys.map((key) => `${key} nulls last`).join(', ')}`
  const orderedSql = `select ${columns.join(', ')} from (${rowsSql})${groupClause}${orderClause}`
  // DuckDB reads over 122,880 rows in threads; a window keeps their order.
  const singleThreadSql = `select *, row_number() over () as place from (${orderedSql})`
  return `select ${packedColumns.join(', ')} from (${singleThreadSql}) where place > 0`
}

function keysOf({ terms }: Grouping): string[] {
  return terms.map((_, index) => `key_${index}`)
}

function termColumns({ terms }: Grouping): string[] {
  return terms.map((term, index) => `${termSql(term, quotedName(baseOf(term).name))} as key_${index}`)
}

function columnsOf(grouping: Grouping): string {
  const measured = new Set(grouping.measures.flatMap(({ field }) => field?.name ?? []))
  const columns = [...measured].map((name) => `${quotedName(name)} as ${valueColumn(name)}`)
  return [...termColumns(grouping), ...columns, '1 as one'].join(', ')
}

function valueColumn(name: string): string {
  return quotedName(`value ${name}`)
}

export function floatSumsIn({ measures }: Grouping): string[] {
  const names = measures.flatMap(({ aggregate, field }) =>
    (aggregate === 'sum' || aggregate === 'avg') && field.type === 'float' ? [field.name] : [],
  )
  return [...new Set(names)]
}

/** Reads groups from the answer to `groupsSql`. Sums and means of floats come from `sums`, by field name. */
export function readGroups(
  grouping: Grouping,
  answerColumns: readonly Answer[],
  sums: ReadonlyMap<string, readonly Answer[]>,
): Groups {
  const { terms, measures } = grouping
  const columns = textColumns(answerColumns)
  const measuresWithSql = measures.map((measure) => ({ measure, sql: measureSql(measure) }))
  // The answer has a column for each term, then for each expression.
  const expressions = [...new Set(['count(*)::varchar', ...measuresWithSql.flatMap(({ sql }) => sql.texts)])]
  const columnByExpression = new Map(
    expressions.map((text, index) => [text, columns[terms.length + index] ?? []]),
  )
  const counts = columnByExpression.get('count(*)::varchar') ?? []
  const termTexts = terms.map((term, index) =>
    (columns[index] ?? []).map((text) => (text === null ? null : canonicalText(term, text))),
  )
  const measureTexts = measuresWithSql.map(({ measure, sql }) => {
    const floatSumAnswer = sums.get(measure.field?.name ?? '')
    if (floatSumAnswer !== undefined && (measure.aggregate === 'sum' || measure.aggregate === 'avg')) {
      const sumParts = textColumns(floatSumAnswer)[terms.length] ?? []
      // The first expression of a sum or mean counts its values.
      const valueCounts = columnByExpression.get(sql.texts[0] ?? '') ?? []
      return valueCounts.map((count, group) =>
        floatText(measure, sumOf(sumParts[group] ?? null), Number(count)),
      )
    }
    const ownColumns = sql.texts.map((text) => columnByExpression.get(text) ?? [])
    return counts.map((_, group) => sql.value(ownColumns.map((column) => column[group] ?? null)))
  })
  const rows = counts.reduce((sum, count) => sum + Number(count), 0)
  return groupsOf(rows, [...termTexts, ...measureTexts], counts.length)
}

function sumOf(parts: string | null): DoubleSum {
  const sum = new DoubleSum()
  const numbers = parts?.split(' ') ?? []
  for (let index = 0; index < numbers.length; index += 2)
    sum.add(BigInt(numbers[index + 1] ?? 0), Number(numbers[index]))
  return sum
}

function textColumns(answer: readonly Answer[]): (string | null)[][] {
  const columns: (string | null)[][] = []
  for (let index = 0; index < answer.length; index += 2) {
    const [bytes, lengths] = [answer[index], answer[index + 1]]
    if (!(bytes instanceof Uint8Array) || lengths === undefined || lengths instanceof Uint8Array)
      throw new TypeError('expected a BLOB and a list')
    const { values, validBits } = lengths
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let end = 0
    columns.push(
      Array.from({ length: values.length }, (_, row) => {
        const start = end
        end += Number(values[row])
        const isNull = validBits !== null && ((validBits[row >> 3] ?? 0) & (1 << (row & 7))) === 0
        return isNull ? null : buffer.toString('utf8', start, end)
      }),
    )
  }
  return columns
}

const summedDigitsMax = 18
/** Greater decimals are added up in two parts, below and above this many units. */
const partUnits = 10n ** 18n

function measureSql(measure: Measure): MeasureSql {
  if (measure.field === null) return { texts: ['count(*)::varchar'], value: ([count = null]) => count }
  const { aggregate, field, column } = measure
  const { rendered, isOrdered } = typeRow(field.type)
  const value = valueColumn(field.name)
  const count = `count(${value})::varchar`
  const canonical = ([input = null]: readonly (string | null)[]): string | null =>
    input === null ? null : canonicalText(column, input)
  switch (aggregate) {
    case 'count':
      return { texts: [count], value: canonical }
    case 'distinct':
      return { texts: [`count(distinct ${value})::varchar`], value: canonical }
    case 'min':
    case 'max': {
      // Values without an order are compared as texts.
      const sql = isOrdered ? rendered(`${aggregate}(${value})`) : `${aggregate}(${rendered(value)})`
      return { texts: [sql], value: canonical }
    }
    case 'median': {
      const middle = (direction: string): string =>
        rendered(`percentile_disc(0.5) within group (order by ${value} ${direction})`)
      return {
        texts: [middle('asc'), middle('desc')],
        value: ([low = null, high = null]) =>
          low === null || high === null ? null : medianText(measure, low, high),
      }
    }
    default: {
      // Sums and means of floats come from `floatSumsSql`.
      if (field.type === 'float') return { texts: [count], value: () => null }
      if (field.type === 'integer' || field.precision <= summedDigitsMax) {
        const sum = `sum(${value})::varchar`
        return {
          texts: aggregate === 'sum' ? [sum] : [sum, count],
          value: ([total = null, rows = '1']) =>
            total === null ? null : exactText(measure, unscaled(total), Number(rows)),
        }
      }
      // The sum could overflow a hugeint, so two parts are added up.
      const units = `replace(${value}::varchar, '.', '')::hugeint`
      return {
        texts: [count, `sum(${units} // ${partUnits})::varchar`, `sum(${units} % ${partUnits})::varchar`],
        value: ([rows = null, high = null, low = null]) =>
          high === null || low === null
            ? null
            : exactText(measure, BigInt(high) * partUnits + BigInt(low), Number(rows)),
      }
    }
  }
}
