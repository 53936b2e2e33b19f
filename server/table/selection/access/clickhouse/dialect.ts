import type { ClickHouseColumn } from '../../../../../core/clickhouse/tables.ts'
import type { Field } from '../../../../../core/catalog/catalog.ts'
import { blanks } from '../../../../query/operators.ts'
import { wordStart } from '../../../../query/search-terms.ts'
import type { SqlDialect } from '../../where.ts'

/** Values for SQL that has only their names and types. */
export class NamedParameters {
  readonly values: Record<string, string> = {}
  #number = 0

  add(value: string, type: string): string {
    const name = `p${this.#number}`
    this.#number += 1
    this.values[name] = value
    return `{${name}:${type}}`
  }
}

export function clickHouseDialect(
  columns: ReadonlyMap<string, ClickHouseColumn>,
  parameters: NamedParameters,
  foldedPart: (text: string) => string,
): SqlDialect {
  const columnOf = ({ name }: Field): ClickHouseColumn => {
    const column = columns.get(name)
    if (column === undefined) throw new RangeError(`${name} is not in ClickHouse`)
    return column
  }
  return {
    columnSql: (field) => columnOf(field).name,
    foldedSql: (field) => columnOf(field).foldedColumn ?? columnOf(field).name,
    valueSql: (field, value) => {
      const { type, parameter } = columnOf(field)
      return parameters.add(parameter(value), type)
    },
    foldedOperand: (text) => parameters.add(foldedPart(text), 'String'),
    isNull: (column) => `isNull(${column})`,
    differs: (column, value) => `(isNull(${column}) or ${column} != ${value})`,
    equalsTrimmed: (text, operand) =>
      `ifNull(trim(BOTH '${blanks}' FROM ${text}) = trim(BOTH '${blanks}' FROM ${operand}), 0)`,
    contains: (text, operand) => `ifNull(position(${text}, ${operand}) > 0, 0)`,
    startsWith: (text, operand) => `ifNull(startsWith(${text}, ${operand}), 0)`,
    startsWord: (text, operand) =>
      `ifNull(match(${text}, concat('${wordStart.replaceAll('\\', String.raw`\\`)}', regexpQuoteMeta(${operand}))), 0)`,
    // Conditions on lists and locations are not sent to ClickHouse.
    parts: null,
  }
}
