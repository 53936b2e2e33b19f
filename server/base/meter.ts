import type { LimitClass } from '../../core/catalog/names.ts'

/** Counts events for the metrics. */
export interface Meter {
  /** @param ms from the arrival of the request until its response is sent, or its client has disconnected */
  readonly answered: (request: AnsweredRequest, ms: number) => void
  /** @param code of the problem in the response */
  readonly refused: (code: string) => void
  /** Reports how long a statement waited and ran, in ms. */
  readonly queried: (pool: PoolName, timing: { readonly queue: number; readonly query: number }) => void
}

interface AnsweredRequest {
  /** Name of the resource; `none` for an unknown address. */
  readonly route: string
  readonly countsAs: LimitClass
  readonly status: number
}

/** Pools of connections: one reads pages, the other scans for matching rows. */
export type PoolName = 'pages' | 'scans'
