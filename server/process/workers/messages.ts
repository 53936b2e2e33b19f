import type { Questions, Replies } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'

/** Message from the primary to a worker. */
export type ToWorker =
  | Replies
  /** Id of the connection that is sent with this message. */
  | { readonly connection: number }
  /** Stop, and cut off responses after this time; a second message may shorten it. */
  | { readonly stopWithinMs: number }
  | { readonly measureAs: number }
  /** Reason why this worker was not replaced, for `/health`. */
  | { readonly notReplaced: string }

/** Message from a worker to the primary. */
export type FromWorker =
  | Questions
  | { readonly event: 'serving' }
  /** Metrics, in answer to the request with this number. */
  | { readonly measuredAs: number; readonly metrics: AggregatedMetrics }
  /** Id of a connection that the worker has accepted. */
  | { readonly accepted: number }
  /** Policies of the rate limits, sent before the first request to count. */
  | { readonly policies: readonly Policy[] }
