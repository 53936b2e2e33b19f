import type { Questions, Replies } from '../limits/channel.ts'
import type { Policy } from '../limits/policies.ts'

/** What the process that keeps the workers tells one of them. */
export type ToWorker =
  | Replies
  /** A connection goes with it. */
  | { readonly connection: number }
  | { readonly tell: 'stop' }

/** What a worker tells it. */
export type FromWorker =
  | Questions
  | { readonly told: 'serving' }
  /** The connection is its own now. */
  | { readonly took: number }
  /** What is to be counted, before the first question. */
  | { readonly policies: readonly Policy[] }
