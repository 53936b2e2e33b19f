import path from 'node:path'
import { fileNames } from '../../core/warehouse/layout.ts'
import type { Condition } from '../../server/query/conditions.ts'
import type { RowFilter } from '../../server/query/query.ts'
import type {
  Group,
  Grouping,
  Search,
  Selection,
  Selections,
} from '../../server/table/selection/selections.ts'
import type { Snapshot } from '../../server/snapshots/snapshot.ts'
import { cellOf, evaluate, readRows, textOf, type Asked, type Row } from './evaluator.ts'

/** Another engine than DuckDB: it reads the published CSV into memory, and goes through all rows for each query. */
export class LinearSelections implements Selections {
  readonly #rows = new WeakMap<Snapshot, Promise<Row[]>>()

  async find({ snapshot, filter }: Omit<Search, 'requester'>): Promise<Selection> {
    const { rows, found } = await this.#found(snapshot, filter)
    const places = new Map(rows.map((row, position) => [row, position]))
    const positions = Uint32Array.from(found, (row) => places.get(row) ?? 0)
    return {
      count: positions.length,
      slice: async (first, count) => positions.slice(first, first + count),
    }
  }

  async groups({ snapshot, filter }: Omit<Search, 'requester'>, grouping: Grouping): Promise<Group[]> {
    const { by, length, measure } = grouping
    const { fields } = snapshot.table
    const at = (name: string): number => fields.findIndex((field) => field.name === name)
    const { found } = await this.#found(snapshot, filter)
    const groups = new Map<string | null, { rows: number; sum: bigint | null }>()
    for (const row of found) {
      const cell = row[at(by.name)] ?? null
      const whole = cell === null ? null : textOf(by, cell)
      const key = whole === null || length === null ? whole : Array.from(whole).slice(0, length).join('')
      const measured = measure === null ? null : row[at(measure.name)]
      const group = groups.get(key) ?? { rows: 0, sum: null }
      const sum = typeof measured === 'bigint' ? (group.sum ?? 0n) + measured : group.sum
      groups.set(key, { rows: group.rows + 1, sum })
    }
    const text = (sum: bigint | null): string | null =>
      sum === null || measure === null ? null : textOf(measure, sum)
    return [...groups].map(([key, { rows, sum }]) => ({ key, rows, sum: text(sum) })).toSorted(byKey)
  }

  async #found(
    snapshot: Snapshot,
    { conditions, words, ordering }: RowFilter,
  ): Promise<{ rows: Row[]; found: Row[] }> {
    const { table, folder } = snapshot
    const reading = this.#rows.get(snapshot) ?? readRows(path.join(folder, fileNames.download(table)), table)
    this.#rows.set(snapshot, reading)
    const rows = await reading
    return { rows, found: evaluate(table, rows, { conditions: conditions.map(asked), words, ordering }) }
  }
}

/** By the bytes of their keys, null last. */
function byKey({ key: a }: Group, { key: b }: Group): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function asked({ field, operator, values }: Condition): Asked {
  if (operator === 'isnull') return { field, operator, values: [values[0] === 'true'] }
  return { field, operator, values: values.map((value) => cellOf(field, value)) }
}
