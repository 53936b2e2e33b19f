/** The share of one process in MEMORY and CACHE_MB, in bytes, and in the processors. */
interface Share {
  readonly memoryBytes: number
  /** -1 if CACHE_MB is not set: caches then take a part of the memory. */
  readonly cacheBytes: number
  readonly processors: number
}

/** Bounds of a process that serves. */
export interface Bounds {
  /** Statements for pages and exports at the same time, and their bytes in DuckDB. */
  readonly queryConnections: number
  readonly queryBytes: number
  /** The same for filters, searches and orders, whose sorting continues in files. */
  readonly scanConnections: number
  readonly scanBytes: number
  /** Requests that wait for a connection, and for how long: most readers have given up later. */
  readonly queueLengthMax: number
  readonly queueTimeoutMs: number
  /** Cached positions of rows: an order takes 4 bytes a row. */
  readonly selectionBytesMax: number
  /** Cached codes and dictionaries: a byte or two a row, some 50 a distinct value. */
  readonly indexBytesMax: number
  /** Cached answers. */
  readonly pageCacheBytes: number
  /** Pages that are made at the same time, a larger one alone. */
  readonly makingBytesMax: number
  /** Answers that readers have not taken. */
  readonly unsentBytesMax: number
  /** Answers that are compressed at the same time; others are sent as they are. */
  readonly compressionsMax: number
  /** Exports at the same time, of about 20 MB each. */
  readonly exportsMax: number
  /** Bytes of exports that are stored on disk for ranges. */
  readonly finishedBytesMax: number
  /** A request whose headers or body arrive later is refused. */
  readonly headersTimeoutMs: number
  /** Clients that the limits distinguish; the longest unseen is forgotten. */
  readonly clientsMax: number
}

export function boundsOf({ memoryBytes, cacheBytes, processors }: Share): Bounds {
  const part = (share: number): number => Math.max(1, Math.floor(memoryBytes / share / 1e6)) * 1e6
  return {
    queryConnections: among(processors + 1, 2, 8),
    queryBytes: part(8),
    scanConnections: among(processors, 2, 8),
    scanBytes: part(8),
    queueLengthMax: 2000,
    queueTimeoutMs: 5000,
    selectionBytesMax: cacheBytes === -1 ? part(32) : Math.floor((cacheBytes * 2) / 3),
    indexBytesMax: part(32),
    pageCacheBytes: cacheBytes === -1 ? part(64) : Math.floor(cacheBytes / 3),
    makingBytesMax: part(256),
    unsentBytesMax: part(128),
    compressionsMax: among(2 * processors, 2, 8),
    exportsMax: 4,
    finishedBytesMax: 256_000_000,
    headersTimeoutMs: 10_000,
    clientsMax: 100_000,
  }
}

const among = (number: number, least: number, most: number): number =>
  Math.min(Math.max(Math.floor(number), least), most)
