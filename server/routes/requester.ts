import type { Requester } from '../table/engine/requester.ts'
import type { ResourceRequest } from '../http/resource.ts'

/** Who waits for the rows of a request: what has to be looked for counts as a scan. */
export function requesterOf(
  { client, account }: ResourceRequest,
  signal: () => AbortSignal,
  pageBytesMax: number,
): Requester {
  return { client, pageBytesMax, signal, pay: (price) => account.charge(price, 'scans') }
}
