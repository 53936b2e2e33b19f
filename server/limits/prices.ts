/** What an ask costs the service decides what it counts. */
export interface Price {
  /** Of the quota of its class. */
  readonly counts: number
  /** Of the share of the machine: about how long one processor works for it, in ms. */
  readonly work: number
}

/** In bytes, of what counts one. */
const pieceBytes = 4_000_000
/** About what the smallest page takes, and each 4 MB of rows from Parquet to compressed text, in ms. */
const pageWork = 8
const pieceWork = 110
/** The same of 4 MB of a file, which are hashed on their way. */
const filePieceWork = 20
/** Weighed values that count one (`select/duckdb/cost.ts`), and about what they take, in ms. */
const scannedValues = 1_000_000
const scannedWork = 20

/** What lies there, or is small. */
export const atHand: Price = { counts: 1, work: 1 }

/** Of rows that are made, as a page or as an export: about so many bytes. */
export function priceOfRows(bytes: number): Price {
  const pieces = bytes / pieceBytes
  return { counts: Math.max(1, Math.ceil(pieces)), work: pageWork + Math.ceil(pieces * pieceWork) }
}

/** Of rows that have to be fetched from where they lie: about so many values are decoded for so many bytes. */
export function priceOfGathered(values: number, bytes: number): Price {
  const [decoded, written] = [priceOfScan(values), priceOfRows(bytes)]
  return { counts: Math.max(decoded.counts, written.counts), work: decoded.work + written.work }
}

/** Of a file, or a range of it. */
export function priceOfFile(bytes: number): Price {
  const pieces = bytes / pieceBytes
  return { counts: Math.max(1, Math.ceil(pieces)), work: 1 + Math.ceil(pieces * filePieceWork) }
}

/** Of looking for rows: about so many values are read, weighed by what they cost. */
export function priceOfScan(values: number): Price {
  const pieces = values / scannedValues
  return { counts: Math.max(1, Math.ceil(pieces)), work: Math.ceil(pieces * scannedWork) }
}
