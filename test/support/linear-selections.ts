import path from 'node:path'
import { fileNames } from '../../core/warehouse/layout.ts'
import type { Condition } from '../../server/query/conditions.ts'
import type { RowFilter } from '../../server/query/query.ts'
import type { Selection, Selections } from '../../server/select/selections.ts'
import type { Snapshot } from '../../server/snapshots/snapshot.ts'
import { cellOf, evaluate, readRows, type Asked, type Row } from './evaluator.ts'

/** Another engine than DuckDB: it reads the published CSV into memory, and goes through all rows for each query. */
export class LinearSelections implements Selections {
  readonly #rows = new WeakMap<Snapshot, Promise<Row[]>>()

  async find(snapshot: Snapshot, { conditions, words, ordering }: RowFilter): Promise<Selection> {
    const { table, folder } = snapshot
    const reading = this.#rows.get(snapshot) ?? readRows(path.join(folder, fileNames.download(table)), table)
    this.#rows.set(snapshot, reading)
    const rows = await reading
    const places = new Map(rows.map((row, position) => [row, position]))
    const found = evaluate(table, rows, { conditions: conditions.map(asked), words, ordering })
    const positions = Uint32Array.from(found, (row) => places.get(row) ?? 0)
    return {
      count: positions.length,
      slice: async (first, count) => positions.slice(first, first + count),
    }
  }
}

function asked({ field, operator, values }: Condition): Asked {
  if (operator === 'isnull') return { field, operator, values: [values[0] === 'true'] }
  return { field, operator, values: values.map((value) => cellOf(field, value)) }
}
