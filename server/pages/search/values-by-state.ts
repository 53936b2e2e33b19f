import { stateNames } from '../../documents/words/state-names.ts'
import { parseAggregateQuery } from '../../query/aggregate-query.ts'
import { formatList } from '../../query/list.ts'
import type { Requester } from '../../table/engine/requester.ts'
import { aggregate } from '../../table/representations/aggregate-page.ts'
import type { PageService } from '../service.ts'
import { equalTo } from '../table/view.ts'
import type { ValueMatch } from './value-search.ts'

const statesMax = 6

/** A value within one state, if other states have it too. */
export interface PlacedValue extends ValueMatch {
  readonly state: { readonly parameter: readonly [name: string, text: string]; readonly name: string } | null
}

/**
 * Returns one value per state that has it; a single value for one state or too many.
 * @throws the errors of `aggregate`
 */
export async function valuesByState(
  { snapshots, engine }: PageService,
  match: ValueMatch,
  requester: Requester,
): Promise<PlacedValue[]> {
  const { table, field, value } = match
  const unsplit = [{ ...match, state: null }]
  const stateField = table.fields.find(({ kind, name }) => kind === 'uf' && table.filters.includes(name))
  const condition = equalTo(field, value)
  const snapshot = snapshots.current(table)
  if (
    stateField === undefined ||
    stateField === field ||
    condition === null ||
    match.isPartOfValue ||
    snapshot === null
  )
    return unsplit
  const parameters = new URLSearchParams([condition, ['group', formatList([stateField.name])]])
  const query = parseAggregateQuery(table, `?${parameters.toString()}`)
  const { groups, selected } = await aggregate(snapshot, query, engine, requester)
  if (selected.length < 2 || selected.length > statesMax) return unsplit
  const [states = [], counts = []] = groups.columns
  return [...selected].flatMap((group) => {
    const state = states[group] ?? null
    const parameter = state === null ? null : equalTo(stateField, state)
    if (state === null || parameter === null) return []
    const name = stateNames.get(state) ?? state
    return { ...match, rows: Number(counts[group] ?? 0), state: { parameter, name } }
  })
}
