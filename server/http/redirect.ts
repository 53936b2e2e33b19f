import type { ServerResponse } from 'node:http'

export interface Redirect {
  readonly status: 301 | 303
  readonly location: string
}

/**
 * @param location another service, or an absolute path of this one: some clients, such as PHP, resolve
 * relative paths wrongly
 */
export function sendRedirect(
  res: ServerResponse,
  status: 301 | 302 | 303,
  location: string,
  cacheControl?: string,
): void {
  res.statusCode = status
  res.setHeader('Location', location)
  if (cacheControl !== undefined) res.setHeader('Cache-Control', cacheControl)
  res.setHeader('Content-Length', 0)
  res.end()
}

export const absolutePath = (address: string): string => new URL(address).pathname

/**
 * Path as clients see it: after the path of PUBLIC_URL, which a proxy removes.
 * @param path as received
 */
export function publicPath(publicUrl: URL, path: string): string {
  // Two slashes at the start would lead to another host.
  return `${publicUrl.pathname.replace(/\/$/, '')}${path.replace(/^\/+/, '/')}`
}
