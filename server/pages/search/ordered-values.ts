import { allTables } from '../../../core/catalog/catalog.ts'
import { foldText } from '../../../core/folding.ts'
import { parseAggregateQuery } from '../../query/aggregate-query.ts'
import { formatList } from '../../query/list.ts'
import { aggregate } from '../../table/representations/aggregate-page.ts'
import { dictionarySize } from '../../table/indexes/dictionaries.ts'
import type { Requester } from '../../table/engine/requester.ts'
import type { PageService } from '../service.ts'
import type { ValueMatch } from './value-search.ts'

const [columnsMax, rowsMax] = [20, 5_000_000]
/** Conditions refuse NUL. */
const possibleName = /^[^\0]{1,100}$/

/**
 * Values of fields without a dictionary that equal the text in a usual spelling. Searches only fields that
 * order their table, where DuckDB skips most rows.
 */
export async function findOrderedValues(
  { context, snapshots, engine }: PageService,
  text: string,
  requester: Requester,
): Promise<ValueMatch[]> {
  if (!possibleName.test(text)) return []
  const columns = allTables(context.catalog).flatMap((table) => {
    const snapshot = snapshots.current(table)
    const field = table.fields.find(({ name }) => name === table.order[0]?.field)
    if (snapshot === null || field?.type !== 'string' || !table.filters.includes(field.name)) return []
    return dictionarySize(snapshot, field.name) > 0 ? [] : [{ table, field, snapshot }]
  })
  const matches: ValueMatch[] = []
  let rowsSearched = 0
  const rowsOf = ({ snapshot }: (typeof columns)[number]): number => snapshot.manifest.rows
  for (const column of columns.toSorted((a, b) => rowsOf(a) - rowsOf(b)).slice(0, columnsMax)) {
    rowsSearched += rowsOf(column)
    if (rowsSearched > rowsMax) break
    const { table, field, snapshot } = column
    const condition = `${field.name}__in=${encodeURIComponent(formatList(spellingsOf(text)))}`
    const query = parseAggregateQuery(table, `?${condition}&group=${field.name}`)
    const { groups, selected } = await aggregate(snapshot, query, engine, requester)
    const [values = [], counts = []] = groups.columns
    for (const group of selected) {
      const value = values[group] ?? ''
      const rows = Number(counts[group] ?? 0)
      if (rows >= table.minGroupSize)
        matches.push({ table, field, value, name: value, rows, isPartOfValue: false })
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
