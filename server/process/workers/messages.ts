import type { Questions, Replies } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'

/** Message from the primary to a worker. */
export type ToWorker =
  | Replies
  /** Comes with a connection. */
  | { readonly connection: number }
  /** Stop, and cut off responses after this time; a second message may shorten it. */
  | { readonly stopWithinMs: number }
  | { readonly measureAs: number }

/** Message from a worker to the primary. */
export type FromWorker =
  | Questions
  | { readonly told: 'serving' }
  /** Metrics, in answer to the request with this number. */
  | { readonly measuredAs: number; readonly metrics: AggregatedMetrics }
  /** The worker has accepted the connection. */
  | { readonly took: number }
  /** Policies to count by, before the first question. */
  | { readonly policies: readonly Policy[] }
