import type { Questions, Replies } from '../../limits/channel.ts'
import type { Policy } from '../../limits/policies.ts'
import type { Measured } from '../metrics/metrics.ts'

/** What the process that keeps the workers tells one of them. */
export type ToWorker =
  | Replies
  /** A connection goes with it. */
  | { readonly connection: number }
  /** To end, and to cut off what is not answered within so many ms; told again, sooner. */
  | { readonly stopWithinMs: number }
  | { readonly measureAs: number }

/** What a worker tells it. */
export type FromWorker =
  | Questions
  | { readonly told: 'serving' }
  /** Its metrics, as they were asked for under that number. */
  | { readonly measuredAs: number; readonly metrics: Measured }
  /** The connection is its own now. */
  | { readonly took: number }
  /** What is to be counted, before the first question. */
  | { readonly policies: readonly Policy[] }
