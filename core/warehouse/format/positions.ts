import type { Field } from '../../catalog/catalog.ts'

/**
 * The layout of the positions of rows in another order: UINT32, little endian, in that order; 1,024 of them are a chunk.
 */
export const chunkPositions = 1024

export const positionBytes = 4

/** JSON has decimals with more digits as the nearest double. */
const precisionMax = 15

/**
 * Returns whether values of a field can be found by bisection in an order: the row store has them exactly,
 * and they compare as DuckDB orders them.
 */
export function isBisected({ type, precision }: Pick<Field, 'type' | 'precision'>): boolean {
  if (type === 'decimal') return precision <= precisionMax
  return ['string', 'text', 'integer', 'date', 'datetime', 'time'].includes(type)
}
