/** What a request costs: about how many ms one processor works for it. */
export type Cost = number

/** In bytes. */
const pieceBytes = 4_000_000
/** Of the smallest page, and of each 4 MB of rows from Parquet to compressed text. */
const pageCost = 8
const pieceCost = 110
/** Of 4 MB of a file, which is hashed as it is sent. */
const filePieceCost = 20
/** Of a million values that are read, weighed by what they cost (`server/table/selection/duckdb/scan.ts`). */
const millionCost = 20

/** What is small, or written already but not cached. */
export const smallCost: Cost = 1

/** Of rows that are written, as a page or as an export of about so many bytes. */
export function costOfRows(bytes: number): Cost {
  return pageCost + Math.ceil((bytes / pieceBytes) * pieceCost)
}

/** Of a file, or a range of it. */
export function costOfFile(bytes: number): Cost {
  return 1 + Math.ceil((bytes / pieceBytes) * filePieceCost)
}

/** Of looking for rows, or gathering them: about so many values are read, weighed by what they cost. */
export function costOfScan(values: number): Cost {
  return Math.ceil((values / 1_000_000) * millionCost)
}
