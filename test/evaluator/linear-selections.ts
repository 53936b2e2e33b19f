import path from 'node:path'
import { fileNames } from '../../core/warehouse/layout.ts'
import type { Condition } from '../../server/query/conditions.ts'
import type { RowFilter } from '../../server/query/query.ts'
import type { Grouping, Groups } from '../../server/table/groups/groups.ts'
import type { Search, Selection, Selections } from '../../server/table/selection/selections.ts'
import type { Snapshot } from '../../server/snapshots/snapshot.ts'
import { canonicalCell, evaluateGroups } from './aggregates.ts'
import { cellOf, evaluate, readRows, type Asked, type Row } from './rows.ts'

/** Another engine than DuckDB: it reads the published CSV into memory, and goes through all rows for each query. */
export class LinearSelections implements Selections {
  readonly #rows = new WeakMap<Snapshot, Promise<Row[]>>()

  async find({ snapshot, filter }: Omit<Search, 'requester'>): Promise<Selection> {
    const { rows, matching } = await this.#matching(snapshot, filter)
    const places = new Map(rows.map((row, position) => [row, position]))
    const positions = Uint32Array.from(matching, (row) => places.get(row) ?? 0)
    return {
      count: positions.length,
      slice: async (first, count) => positions.slice(first, first + count),
    }
  }

  async groups(
    { snapshot, filter }: Omit<Search, 'requester'>,
    { terms, measures }: Grouping,
  ): Promise<Groups> {
    const { matching } = await this.#matching(snapshot, filter)
    const groups = evaluateGroups(snapshot.table, matching, terms, measures)
    const fields = [...terms, ...measures.map(({ column }) => column)]
    const columns = fields.map((field, at) =>
      groups.map(({ cells }) => canonicalCell(field, cells[at] ?? null)),
    )
    return { rows: matching.length, count: groups.length, columns, bytes: 0 }
  }

  async #matching(
    snapshot: Snapshot,
    { conditions, words, ordering }: RowFilter,
  ): Promise<{ rows: Row[]; matching: Row[] }> {
    const { table, folder } = snapshot
    const reading = this.#rows.get(snapshot) ?? readRows(path.join(folder, fileNames.download(table)), table)
    this.#rows.set(snapshot, reading)
    const rows = await reading
    return { rows, matching: evaluate(table, rows, { conditions: conditions.map(asked), words, ordering }) }
  }
}

function asked({ field, operator, values }: Condition): Asked {
  if (operator === 'isnull') return { field, operator, values: [values[0] === 'true'] }
  return { field, operator, values: values.map((value) => cellOf(field, value)) }
}
