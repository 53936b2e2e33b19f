import { typeRow } from '../../../core/catalog/field-types.ts'
import { orderTerm, quotedName, quotedText } from '../../../core/sql.ts'
import type { Aggregation } from '../../query/aggregate-query.ts'
import { baseOf, termSql } from '../../query/date-parts.ts'
import type { Measure } from '../../query/measures.ts'
import type { Snapshot } from '../../snapshots/snapshot.ts'
import { Parameters } from '../engine/plan.ts'
import { duckDbDialect } from '../selection/access/duckdb/dialect.ts'
import { conditionSql, wordSql, type SqlDialect } from '../selection/where.ts'

class Literals extends Parameters {
  override add(value: Parameters['values'][number]): string {
    return value === null ? 'null' : quotedText(String(value))
  }
}

export function aggregateSql(
  { table, manifest }: Snapshot,
  { filter, terms, measures, conditions, ordering }: Aggregation,
  addressOf: (file: string) => string,
): string {
  const dialect = duckDbDialect(new Literals())
  const files = manifest.parts.map(({ file }) => quotedText(addressOf(file)))
  const columns = [
    ...terms.map((term) => `${termSql(term, quotedName(baseOf(term).name))} as ${quotedName(term.name)}`),
    ...measures.map((measure) => `${publicSql(measure)} as ${quotedName(measure.name)}`),
  ]
  const searchedColumns = table.fields
    .filter(({ name }) => table.search.includes(name))
    .map(dialect.foldedSql)
  const where = [
    ...filter.conditions.map((condition) => conditionSql(condition, dialect)),
    ...filter.words.map((word) => wordSql(searchedColumns, word, dialect)),
  ]
  // Measures may have more digits than a type of DuckDB.
  const ofMeasures: SqlDialect = {
    ...dialect,
    valueSql: (field, value) =>
      typeRow(field.type).wire.kind === 'number' ? value : dialect.valueSql(field, value),
  }
  const having = conditions.map((condition) => conditionSql(condition, ofMeasures))
  const order = [...ordering, ...terms.map(({ name }) => ({ field: name, direction: 'asc' as const }))]
  return [
    'INSTALL httpfs; LOAD httpfs;',
    `SELECT ${columns.join(', ')}`,
    `FROM read_parquet([${files.join(', ')}])`,
    ...(where.length === 0 ? [] : [`WHERE ${where.join(' AND ')}`]),
    ...(terms.length === 0 ? [] : [`GROUP BY ${terms.map((_, index) => index + 1).join(', ')}`]),
    ...(having.length === 0 ? [] : [`HAVING ${having.join(' AND ')}`]),
    ...(order.length === 0 ? [] : [`ORDER BY ${order.map((key) => orderTerm(key)).join(', ')}`]),
  ].join(' ')
}

/** SQL on public files. Last digits may differ, since DuckDB computes means and medians as doubles. */
function publicSql({ aggregate, field, column: { type, scale } }: Measure): string {
  if (field === null) return 'count(*)'
  const name = quotedName(field.name)
  switch (aggregate) {
    case 'distinct':
      return `count(distinct ${name})`
    case 'sum':
    case 'avg':
      // Unlike `fsum` and `favg`, `sum` and `avg` depend on row order.
      if (field.type === 'float') return `f${aggregate}(${name})`
      return aggregate === 'sum' ? `sum(${name})` : `round(avg(${name}), ${scale})`
    case 'median':
      // DuckDB's median of decimals keeps their scale, so it cannot be an exact mean.
      return type === 'decimal' ? `round(median(${name}::double), ${scale})` : `median(${name})`
    default:
      return `${aggregate}(${name})`
  }
}
