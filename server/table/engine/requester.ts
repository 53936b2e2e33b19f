import type { RequestWork } from '../../base/request-work.ts'

/** Client that waits for rows. */
export interface Requester {
  readonly client: string
  /** Limit of a page, in bytes. */
  readonly pageBytesMax: number
  /** Fires when the client disconnects. */
  readonly signal: () => AbortSignal
  /**
   * Called before expensive work that not every request needs, such as a scan.
   * @param paid work that was paid before; small costs beyond it are free
   * @throws if the client may not spend that much
   */
  readonly pay: (work: RequestWork, paid?: RequestWork) => Promise<void>
}
