/** Cost of a request: approximate time on one processor, in ms. */
export type Cost = number

const pieceBytes = 4_000_000
/** Cost of the smallest page; `pieceCost` is the cost of 4 MB of rows, from Parquet to compressed text. */
const pageCost = 8
const pieceCost = 110
/** Cost of 4 MB of a file, which is hashed as it is sent. */
const filePieceCost = 20
/** Cost of reading a million values, weighted as in `server/table/selection/duckdb/scan.ts`. */
const millionCost = 20

/** Cost of a response that needs little work, such as an error, a redirect, or the headers for HEAD. */
export const smallCost: Cost = 1

/** Cost of writing rows, as a page or an export of approximately this size. */
export function costOfRows(bytes: number): Cost {
  return pageCost + Math.ceil((bytes / pieceBytes) * pieceCost)
}

/** Cost of sending a file or a range of it. */
export function costOfFile(bytes: number): Cost {
  return 1 + Math.ceil((bytes / pieceBytes) * filePieceCost)
}

/** Cost of a scan that reads this many weighted values. */
export function costOfScan(values: number): Cost {
  return Math.ceil((values / 1_000_000) * millionCost)
}
