import type { LimitClass } from '../../core/catalog/names.ts'

/** What counts what happens, for metrics. */
export interface Meter {
  /** @param ms from its coming in until its answer is sent, or its reader gone */
  readonly answered: (request: AnsweredRequest, ms: number) => void
  /** @param code of the problem that was answered */
  readonly refused: (code: string) => void
  /** What it waited and ran, in ms. */
  readonly queried: (pool: PoolName, timing: { readonly queue: number; readonly query: number }) => void
}

interface AnsweredRequest {
  /** What the resource is called; `none` for an address of which there is none. */
  readonly route: string
  readonly countsAs: LimitClass
  readonly status: number
}

/** Pages are read by one pool of connections, and rows are looked for by another. */
export type PoolName = 'pages' | 'scans'
