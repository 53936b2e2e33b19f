import type { Field } from '../../catalog/catalog.ts'

/**
 * Number of positions in a chunk of a file for another order. Positions are UINT32, little endian, sorted by
 * that order.
 */
export const chunkPositions = 1024

export const positionBytes = 4

/** Returns a position of a chunk, by its rank in the order. */
export function positionIn(chunk: Buffer, rank: number): number {
  return chunk.readUInt32LE((rank % chunkPositions) * positionBytes)
}

/**
 * Returns whether values of a field can be found by bisection in an order: the row store has them exactly,
 * and they compare as DuckDB orders them.
 */
export function isBisected({ type }: Pick<Field, 'type'>): boolean {
  return ['string', 'text', 'integer', 'decimal', 'date', 'datetime', 'time'].includes(type)
}
