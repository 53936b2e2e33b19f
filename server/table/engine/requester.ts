import type { Cost } from '../../limits/costs.ts'

/** Client that waits for rows. */
export interface Requester {
  readonly client: string
  /** Limit of a page, in bytes. */
  readonly pageBytesMax: number
  /** Fires when the client disconnects. */
  readonly signal: () => AbortSignal
  /**
   * Called before expensive work that not every request needs, such as a scan.
   * @throws if the client may not spend that much
   */
  readonly pay: (cost: Cost) => Promise<void>
}
