import type { LimitClass } from '../../core/catalog/names.ts'

export interface Meter {
  /** @param ms until the response is sent, or the client has disconnected */
  readonly answered: (request: AnsweredRequest, ms: number) => void
  /** @param code of the problem in the response */
  readonly refused: (code: string) => void
  /** Reports how long a statement waited and ran, in ms. */
  readonly queried: (pool: PoolName, timing: { readonly queue: number; readonly query: number }) => void
}

interface AnsweredRequest {
  /** Resource; `none` for an unknown address. */
  readonly route: string
  readonly countsAs: LimitClass
  readonly status: number
}

/** One pool reads pages, the other scans for matching rows. */
export type PoolName = 'pages' | 'scans'
