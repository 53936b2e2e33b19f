import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import path from 'node:path'
import { typeRow } from '../../core/catalog/field-types.ts'
import { Database } from '../../core/duckdb/database.ts'
import { quotedText } from '../../core/sql.ts'
import { stopChild, freePort, startProgram, type Peer } from './peer.ts'
import type { Source } from './source.ts'

/**
 * DataPress over DataFusion. It orders and counts only on request; the count is a second request.
 * @param isOrdered true to request the order of Acervo's table where a case has no other order
 */
export function dataPress({ isOrdered }: { readonly isOrdered: boolean }): (source: Source) => Promise<Peer> {
  return async ({ folder, file, table, bin, rows }) => {
    const parquet = path.join(folder, `${rows}.parquet`)
    if (!existsSync(parquet)) await writeParquet(folder, file, table, parquet)
    const port = await freePort()
    const api = `http://127.0.0.1:${port}/api/v1/datasets/caso_full`
    const child = await startProgram(
      path.join(bin, 'python'),
      ['bench/peers/datapress.py', parquet, String(port)],
      { RUST_LOG: 'error' },
      `${api}/schema`,
    )
    const tableOrder = isOrdered
      ? table.order.map(({ field, direction }) => ({ col: field, dir: direction }))
      : []
    const page = (predicates: readonly object[], number = 1, order: readonly object[] = tableOrder) => ({
      address: `${api}/query`,
      json: { predicates, page: number, page_size: 100, ...(order.length > 0 && { order_by: order }) },
    })
    const grouped = (json: object, fields: readonly string[]) => ({
      address: `${api}/query`,
      json: {
        ...json,
        page: 1,
        page_size: 1000,
        ...(isOrdered && { order_by: fields.map((col) => ({ col, dir: 'asc' })) }),
      },
    })
    return {
      name: `DataPress${isOrdered ? ', ordered' : ''}`,
      asks: {
        page: (share) => page([], 1 + Math.floor(share * Math.floor(rows / 100))),
        first: (state) => page([stateIs(state)]),
        deep: (state, { rows: count }) => page([stateIs(state)], Math.floor(count / 200)),
        ordered: (state) => page([stateIs(state)], 1, [{ col: 'order_for_place', dir: 'desc' }]),
        contains: (text) => page([{ col: 'city', op: 'ilike', val: `%${text}%` }]),
        count: (state) => ({ address: `${api}/count`, json: { predicates: [stateIs(state)] } }),
        groups: (fields) =>
          grouped({ group_by: fields, aggregations: [{ op: 'count', alias: 'rows' }] }, fields),
        distinct: (field) => grouped({ columns: [field], distinct: true }, [field]),
      },
      rowsIn: (body) => (body as { data?: unknown[] }).data?.length ?? 0,
      countIn: (body) => (body as { count: number }).count,
      roots: [child.pid ?? 0],
      stop: () => stopChild(child),
    }
  }
}

function stateIs(state: string): object {
  return { col: 'state', op: 'eq', val: state }
}

async function writeParquet(
  folder: string,
  file: string,
  { fields }: Source['table'],
  parquet: string,
): Promise<void> {
  const scratch = path.join(folder, 'scratch')
  const folders = [folder, path.dirname(file)]
  const database = await Database.open({ memory: '1GB', threads: 2, scratch, folders })
  const connection = await database.connect()
  const columns = fields.map(
    (field) => `${quotedText(field.name)}: ${quotedText(typeRow(field.type).stored(field))}`,
  )
  await connection.rows(
    `copy (from read_csv(${quotedText(file)}, header = true, types = {${columns.join(', ')}})) to ${quotedText(`${parquet}.new`)} (format parquet)`,
  )
  await rename(`${parquet}.new`, parquet)
  connection.close()
  database.close()
}
