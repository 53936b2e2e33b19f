import type { Pool } from '../engine/pool.ts'
import type { Dictionaries } from '../indexes/dictionaries.ts'
import { CodedSelections, type CodedLimits } from './codes/coded-selections.ts'
import { DuckDbSelections, type SelectionLimits } from './duckdb/duckdb-selections.ts'
import type { SelectionCache, Selections } from './selections.ts'
import type { ClickHouse } from '../../../core/clickhouse/link.ts'
import { ClickHouseSelections, type ClickHouseLimits } from './clickhouse/clickhouse-selections.ts'
import { ListedSelections } from './listed-selections.ts'

/**
 * Chains all engines: each leaves queries that it cannot answer to the next, and DuckDB answers the rest.
 * @param found caches results
 */
export function openSelections(
  pool: Pool,
  dictionaries: Dictionaries,
  found: SelectionCache,
  limits: SelectionLimits & CodedLimits & ClickHouseLimits,
  clickHouse: ClickHouse | null = null,
): Selections {
  const duckdb = new DuckDbSelections(pool, found, limits)
  const localSelections =
    limits.codesBytesMax === 0 ? duckdb : new CodedSelections(duckdb, pool, dictionaries, found, limits)
  const all =
    clickHouse === null
      ? localSelections
      : new ClickHouseSelections(localSelections, clickHouse, pool, found, limits)
  return new ListedSelections(all, dictionaries, pool)
}
