import type { RequestWork } from '../../base/request-work.ts'

export interface Requester {
  readonly client: string
  readonly pageBytesMax: number
  readonly signal: () => AbortSignal
  /**
   * Called before expensive work, such as a scan.
   * @param paid work that was paid before; small costs beyond it are free
   * @throws if the client may not spend that much
   */
  readonly pay: (work: RequestWork, paid?: RequestWork) => Promise<void>
}
