import type { Cost } from '../../limits/costs.ts'

/** Who waits for rows. */
export interface Requester {
  readonly client: string
  /** What a page may come to, in bytes. */
  readonly pageBytesMax: number
  /** Fires when the reader has gone. */
  readonly signal: () => AbortSignal
  /**
   * Told before something is done that not every ask comes to, such as a scan.
   *
   * @throws where that is more than the client may have
   */
  readonly pay: (cost: Cost) => Promise<void>
}
