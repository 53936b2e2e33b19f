import type { Field } from '../../catalog/catalog.ts'

/** Positions in a chunk of an order file: UINT32, little endian, sorted by that order. */
export const chunkPositions = 1024

export const positionBytes = 4

export function positionIn(chunk: Buffer, rank: number): number {
  return chunk.readUInt32LE((rank % chunkPositions) * positionBytes)
}

/**
 * Returns whether bisection can find values in an order: the row store has them exactly, and they compare as
 * in DuckDB.
 */
export function isBisected({ type }: Pick<Field, 'type'>): boolean {
  return ['string', 'text', 'integer', 'decimal', 'date', 'datetime', 'time'].includes(type)
}
