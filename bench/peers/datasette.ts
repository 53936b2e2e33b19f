import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { stopChild, freePort, startProgram, type Peer } from './peer.ts'
import type { Source } from './source.ts'

export async function datasette({ folder, file, fields, bin, rows }: Source): Promise<Peer> {
  const database = path.join(folder, `${rows}.sqlite`)
  if (!existsSync(database)) {
    const load = spawnSync(path.join(bin, 'python'), ['bench/peers/load_sqlite.py', file, database, fields], {
      stdio: 'inherit',
    })
    if (load.status !== 0) throw new Error('SQLite did not take the table')
  }
  const port = await freePort()
  const urlUpToPageSize = `http://127.0.0.1:${port}/${rows}/caso_full.json?_shape=objects&_size=`
  const settings = { suggest_facets: 'off', max_returned_rows: '1000', num_sql_threads: '1' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['--setting', name, value])
  const child = await startProgram(
    path.join(bin, 'datasette'),
    ['serve', '--immutable', database, '--port', String(port), ...args],
    {},
    `${urlUpToPageSize}1`,
  )
  const stateUrl = (state: string): string => `${urlUpToPageSize}100&state=${state}`
  return {
    name: 'Datasette (SQLite)',
    asks: {
      page: (share) => `${urlUpToPageSize}100&_next=${Math.floor(share * (rows - 100))}`,
      first: stateUrl,
      deep: (state, { row }) => `${stateUrl(state)}&_next=${row}`,
      ordered: (state) => `${stateUrl(state)}&_sort_desc=order_for_place`,
      contains: (text) => `${urlUpToPageSize}100&city__contains=${text}`,
      count: (state) => `${urlUpToPageSize}1&state=${state}`,
    },
    rowsIn: (body) => (body as { rows: unknown[] }).rows.length,
    countIn: (body) => (body as { filtered_table_rows_count: number | null }).filtered_table_rows_count,
    roots: [child.pid ?? 0],
    stop: () => stopChild(child),
  }
}
