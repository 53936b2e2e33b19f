import type { Requester } from '../table/engine/requester.ts'
import type { ResourceRequest } from '../http/resource.ts'

/** Who waits for the rows of a request, and pays for looking for them. */
export function requesterOf(
  { client, account }: ResourceRequest,
  signal: () => AbortSignal,
  pageBytesMax: number,
): Requester {
  return { client, pageBytesMax, signal, pay: (cost) => account.spend(cost) }
}
