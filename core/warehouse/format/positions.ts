import type { Field } from '../../catalog/catalog.ts'

/**
 * Number of positions in a chunk of a file for another order. Positions are UINT32, little endian, sorted by
 * that order.
 */
export const chunkPositions = 1024

export const positionBytes = 4

/** Maximum precision that JSON preserves; it has longer decimals as the nearest double. */
const precisionMax = 15

/**
 * Returns whether values of a field can be found by bisection in an order: the row store has them exactly,
 * and they compare as DuckDB orders them.
 */
export function isBisected({ type, precision }: Pick<Field, 'type' | 'precision'>): boolean {
  if (type === 'decimal') return precision <= precisionMax
  return ['string', 'text', 'integer', 'date', 'datetime', 'time'].includes(type)
}
