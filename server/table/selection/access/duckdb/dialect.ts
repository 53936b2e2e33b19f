import { typeRow } from '../../../../../core/catalog/field-types.ts'
import { quotedJson } from '../../../../../core/text.ts'
import { foldedSql } from '../../../../../core/folding.ts'
import { quotedName } from '../../../../../core/sql.ts'
import type { Parameters } from '../../../engine/plan.ts'
import { blanks } from '../../../../query/operators.ts'
import { baseOf, termSql, type Term } from '../../../../query/date-parts.ts'
import { wordStart } from '../../../../query/search-terms.ts'
import type { SqlDialect } from '../../where.ts'

export function duckDbDialect(
  parameters: Parameters,
  sqlOf: (name: string) => string = quotedName,
): SqlDialect {
  const columnSql = (term: Term): string => termSql(term, sqlOf(baseOf(term).name))
  return {
    columnSql,
    foldedSql: (field) => foldedSql(columnSql(field)),
    valueSql: (field, value) => `${parameters.add(value)}::${typeRow(field.type).stored(field)}`,
    foldedOperand: (text) => foldedSql(`${parameters.add(text)}::varchar`),
    isNull: (text) => `${text} is null`,
    differs: (text, value) => `${text} is distinct from ${value}`,
    equalsTrimmed: (text, operand) => `trim(${text}, '${blanks}') = trim(${operand}, '${blanks}')`,
    contains: (text, operand) => `contains(${text}, ${operand})`,
    startsWith: (text, operand) => `starts_with(${text}, ${operand})`,
    // `contains` first, since it takes a tenth of the time.
    startsWord: (text, operand) =>
      `(contains(${text}, ${operand}) and regexp_matches(${text}, '${wordStart}' || regexp_escape(${operand})))`,
    parts: {
      has: (text, item) => {
        // A search would also match the end of a text that ends with a comma.
        if (item === ',')
          return `list_contains(from_json(${text}, '["varchar"]'), ${parameters.add(',')}::varchar)`
        const itemParameter = `${parameters.add(quotedJson(item))}::varchar`
        // In JSON, `["` and `,"` occur only where an item starts.
        return `(starts_with(${text}, '[' || ${itemParameter}) or contains(${text}, ',' || ${itemParameter}))`
      },
      within: (text, box) =>
        boxSql(
          text,
          box.map((degrees) => `${parameters.add(degrees)}::varchar::double`),
        ),
    },
  }
}

function boxSql(column: string, [west = '', south = '', east = '', north = '']: readonly string[]): string {
  const [latitude, longitude] = [1, 2].map((part) => `split_part(${column}, ',', ${part})::double`)
  const isWithinSql = `case when ${west} <= ${east} then ${longitude} between ${west} and ${east}
    else ${longitude} >= ${west} or ${longitude} <= ${east} end`
  return `(${latitude} between ${south} and ${north} and ${isWithinSql})`
}
