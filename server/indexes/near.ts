import type { PiecewiseFile } from '../../core/warehouse/manifest.ts'

/** Rows that can be read from packs: from which, null being those of the table as it lies, and at which places. */
export interface Near {
  readonly packs: PiecewiseFile | null
  readonly places: Uint32Array
}
