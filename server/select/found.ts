import { RowSet } from './row-set.ts'

/** What a selection keeps: the rows as they lie, or numbers. */
export type Found = RowSet | Uint32Array

/** In bytes. */
export function sizeOfFound(found: Found): number {
  return Math.max(1, found instanceof RowSet ? found.bytes : found.byteLength)
}
