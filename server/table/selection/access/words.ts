import { duckdbVersion } from '../../../../core/duckdb/database.ts'
import type { Pool } from '../../engine/pool.ts'
import { RowSet } from '../row-set.ts'
import { checkScanBudget } from '../scan-budget.ts'
import type { Search } from '../selections.ts'
import type { AccessPath } from '../access-path.ts'
import { costOfWords, planWords, readBits, scanOf } from './duckdb/statements.ts'
import { leadingSpan } from './order.ts'

export interface WordsStep {
  readonly words: readonly string[]
  readonly indexes: readonly string[]
}

export class WordSearch implements AccessPath<WordsStep, RowSet> {
  readonly #pool: Pool
  readonly #scanValuesMax: number

  /** @param limits maximum number of values that a query may read */
  constructor(pool: Pool, { scanValuesMax }: { readonly scanValuesMax: number }) {
    this.#pool = pool
    this.#scanValuesMax = scanValuesMax
  }

  /** Null if a part lacks the index, or another version of DuckDB wrote it, which may fold differently. */
  plan({ snapshot: { manifest, table }, filter: { words } }: Search): WordsStep | null {
    if (words.length === 0 || manifest.tools['duckdb'] !== duckdbVersion) return null
    const indexes = manifest.parts.flatMap((_part, number) => {
      const index = manifest.indexes?.find(({ part }) => part === number)
      return index?.fields.join('\n') === table.search.join('\n') ? [index.file] : []
    })
    return indexes.length === manifest.parts.length && indexes.length > 0 ? { words, indexes } : null
  }

  async find(search: Search, { words, indexes }: WordsStep): Promise<RowSet> {
    const { snapshot, requester } = search
    const scan = scanOf(snapshot, await leadingSpan(search))
    const files = scan.parts.map((part) => indexes[snapshot.manifest.parts.indexOf(part)] ?? '')
    await checkScanBudget(costOfWords(scan, words), this.#scanValuesMax, snapshot, requester)
    if (files.length === 0) return new RowSet([])
    const plan = planWords(snapshot, scan, files, words)
    const { rows } = await this.#pool.rows(plan, requester.client, requester.signal())
    return new RowSet(readBits(scan, rows))
  }
}
