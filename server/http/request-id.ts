import type { ServerResponse } from 'node:http'

export const idHeader = 'X-Request-Id'

/** The id of a request, in its log line and as the `instance` of its problem. */
export function requestId(res: ServerResponse): string {
  return String(res.getHeader(idHeader))
}
