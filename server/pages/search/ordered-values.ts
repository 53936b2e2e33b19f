import { allTables } from '../../../core/catalog/catalog.ts'
import { typeRow } from '../../../core/catalog/field-types.ts'
import { foldText } from '../../../core/folding.ts'
import { parseAggregateQuery } from '../../query/aggregate-query.ts'
import { formatList } from '../../query/list.ts'
import { aggregate } from '../../table/representations/aggregate-page.ts'
import { dictionarySize } from '../../table/indexes/dictionaries.ts'
import type { Requester } from '../../table/engine/requester.ts'
import type { PageService } from '../service.ts'
import type { ValueMatch } from './value-search.ts'

/**
 * Values of fields without a dictionary that equal the text in a usual spelling. Searches only fields that
 * order their table, where DuckDB skips most rows.
 */
export async function findOrderedValues(
  { context, snapshots, engine }: PageService,
  text: string,
  requester: Requester,
): Promise<ValueMatch[]> {
  const matches: ValueMatch[] = []
  for (const table of allTables(context.catalog)) {
    const snapshot = snapshots.current(table)
    const field = table.fields.find(({ name }) => name === table.order[0]?.field)
    if (snapshot === null || field === undefined || !typeRow(field.type).isText) continue
    if (!table.filters.includes(field.name) || dictionarySize(snapshot, field.name) > 0) continue
    const condition = `${field.name}__in=${encodeURIComponent(formatList(spellingsOf(text)))}`
    const query = parseAggregateQuery(table, `?${condition}&group=${field.name}`)
    const { groups, selected } = await aggregate(snapshot, query, engine, requester)
    const [values = [], counts = []] = groups.columns
    for (const group of selected) {
      const value = values[group] ?? ''
      const rows = Number(counts[group] ?? 0)
      if (rows >= table.minGroupSize) matches.push({ table, field, value, name: value, rows, isPart: false })
    }
  }
  return matches
}

function spellingsOf(text: string): string[] {
  const spellings = [text, foldText(text)].flatMap((spelling) => [
    spelling,
    spelling.toUpperCase(),
    spelling.toLowerCase(),
    spelling.charAt(0).toUpperCase() + spelling.slice(1).toLowerCase(),
  ])
  return [...new Set(spellings)]
}
