import { isInFileOrder, isUnfiltered, isWholeTable, type Search } from './selections.ts'
import type { ClickHouseScan, ClickHouseStep } from './access/clickhouse.ts'
import type { CodeScan, CodesStep } from './access/codes.ts'
import type { DuckDbScan, ScanStep } from './access/duckdb.ts'

/** Ways of finding rows; `clickHouse` may be null. */
export interface AccessPaths {
  readonly clickHouse: ClickHouseScan | null
  readonly codes: CodeScan
  readonly duckDb: DuckDbScan
}

export type SelectionPlan =
  | { readonly by: 'table' }
  | { readonly by: 'clickhouse'; readonly scan: ClickHouseScan; readonly step: ClickHouseStep }
  | { readonly by: 'codes'; readonly step: CodesStep }
  | { readonly by: 'duckdb'; readonly step: ScanStep }

/**
 * ClickHouse finds rows of tables assigned to it. Codes cost less than DuckDB, which narrows a scan by orders
 * and indexes of words.
 * @throws QueueFull, QueryTimeout or DamagedTable when reading dictionaries
 */
export async function planOf(search: Search, paths: AccessPaths): Promise<SelectionPlan> {
  if (isWholeTable(search.snapshot, search.filter)) return { by: 'table' }
  const scan = paths.clickHouse
  const remote = scan?.plan(search) ?? null
  if (scan !== null && remote !== null) return { by: 'clickhouse', scan, step: remote }
  const codes = await paths.codes.plan(search)
  if (codes !== null) return { by: 'codes', step: codes }
  return { by: 'duckdb', step: paths.duckDb.plan(search) }
}

/**
 * Steps in order, for headers and logs: `codes in -date`, `order city + words + engine duckdb`. Names are
 * percent-encoded.
 */
export function describePlan({ snapshot, filter }: Search, plan: SelectionPlan): string {
  if (plan.by === 'table') return 'table'
  if (plan.by === 'clickhouse') return 'engine clickhouse'
  if (plan.by === 'codes') {
    const { sequence, clauses } = plan.step
    const { order, isInOrder } = sequence
    if (order === null) return isInOrder ? 'codes' : 'codes + sort'
    const keys = order.keys.map(
      ({ field, direction }) => `${direction === 'desc' ? '-' : ''}${encodeURIComponent(field)}`,
    )
    return `${clauses.length === 0 ? 'in' : 'codes in'} ${keys.join(',')}`
  }
  const { orders, words, remaining } = plan.step
  const isSorted = !isInFileOrder(snapshot, filter)
  return [
    ...orders.map(({ condition }) => `order ${encodeURIComponent(condition.field.name)}`),
    ...(words === null ? [] : ['words']),
    ...(isUnfiltered(remaining) ? [] : ['engine duckdb']),
    ...(isSorted ? ['sort'] : []),
  ].join(' + ')
}
