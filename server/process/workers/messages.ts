import type { Questions, Replies } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { AggregatedMetrics } from '../metrics/metrics.ts'

export type ToWorker =
  | Replies
  /** Id of the connection sent with this message. */
  | { readonly connection: number }
  /** Cut off responses after this time; a second message may shorten it. */
  | { readonly stopWithinMs: number }
  | { readonly measureAs: number }
  /** Reason why this worker was not replaced, for `/health`. */
  | { readonly notReplaced: string }

export type FromWorker =
  | Questions
  | { readonly event: 'serving' }
  /** Answer to the request with this number. */
  | { readonly measuredAs: number; readonly metrics: AggregatedMetrics }
  | { readonly accepted: number }
  /** Sent before the first request to count. */
  | { readonly policies: readonly Policy[] }
