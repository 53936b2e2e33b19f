import type { RequestWork } from '../base/request-work.ts'

/** Approximate ms of one processor. */
export type Cost = number

const pieceBytes = 4_000_000
/** Cost of the smallest page; `pieceCost` is that of 4 MB of rows, from Parquet to compressed text. */
const pageCost = 8
const pieceCost = 110
const filePieceCost = 20
/** Cost of a million values, weighted as in `server/table/selection/access/duckdb/statements.ts`. */
const millionCost = 20

export function costOfWork({ rowBytes, fileBytes, values = 0 }: RequestWork): Cost {
  const rows = rowBytes === undefined ? 0 : pageCost + Math.ceil((rowBytes / pieceBytes) * pieceCost)
  const file = fileBytes === undefined ? 0 : 1 + Math.ceil((fileBytes / pieceBytes) * filePieceCost)
  const scan = Math.ceil((values / 1_000_000) * millionCost)
  return Math.max(1, rows + file + scan)
}
