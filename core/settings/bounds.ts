interface Share {
  readonly memoryBytes: number
  /** -1 if CACHE_MB is not set: caches then take a part of the memory. */
  readonly cacheBytes: number
  readonly processors: number
}

export interface Bounds {
  /** Concurrent statements for pages and exports, and their memory in DuckDB. */
  readonly queryConnections: number
  readonly queryBytes: number
  /** Concurrent filters, searches and orders, which spill to files, and their memory in DuckDB. */
  readonly scanConnections: number
  readonly scanBytes: number
  /** Requests that wait for a connection, and their timeout, after which most clients have given up. */
  readonly queueLengthMax: number
  readonly queueTimeoutMs: number
  /** Cached selections; a sort order takes 4 bytes per row. */
  readonly selectionBytesMax: number
  /** Cached codes and dictionaries: a byte or two per row, about 50 per distinct value. */
  readonly codesBytesMax: number
  readonly dictionaryBytesMax: number
  readonly groupBytesMax: number
  readonly cachedBytesMax: number
  /** Pages that are being built; a larger page is built alone. */
  readonly makingBytesMax: number
  /** Unsent responses; above this limit, no new body is built. */
  readonly unsentBytesMax: number
  /** Concurrent compressions; further bodies are sent uncompressed. */
  readonly compressionsMax: number
  /** Each export takes about 20 MB. */
  readonly exportsMax: number
  readonly finishedBytesMax: number
  readonly headersTimeoutMs: number
  /** Above it, the least recently seen client is forgotten. */
  readonly clientsMax: number
}

/** Divides the memory and processors of a process among its caches, queues and connections. */
export function processBounds({ memoryBytes, cacheBytes, processors }: Share): Bounds {
  const partOfMemory = (divisor: number): number => Math.max(1, Math.floor(memoryBytes / divisor / 1e6)) * 1e6
  return {
    queryConnections: clamp(processors + 1, 2, 8),
    queryBytes: partOfMemory(8),
    scanConnections: clamp(processors, 2, 8),
    scanBytes: partOfMemory(8),
    queueLengthMax: 2000,
    queueTimeoutMs: 5000,
    selectionBytesMax: cacheBytes === -1 ? partOfMemory(32) : Math.floor((cacheBytes * 2) / 3),
    codesBytesMax: partOfMemory(32) / 2,
    dictionaryBytesMax: partOfMemory(32) / 2,
    groupBytesMax: partOfMemory(32),
    cachedBytesMax: cacheBytes === -1 ? partOfMemory(64) : Math.floor(cacheBytes / 3),
    makingBytesMax: partOfMemory(256),
    unsentBytesMax: partOfMemory(32),
    compressionsMax: clamp(2 * processors, 2, 8),
    exportsMax: 4,
    finishedBytesMax: 256_000_000,
    headersTimeoutMs: 10_000,
    clientsMax: 100_000,
  }
}

const clamp = (number: number, min: number, max: number): number =>
  Math.min(Math.max(Math.floor(number), min), max)
