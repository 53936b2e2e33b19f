import type { ServerResponse } from 'node:http'

/** A response that sends the client to another address of this service. */
export interface Redirect {
  readonly status: 301 | 303
  /** Absolute path, and query. */
  readonly location: string
}

/**
 * Sends a redirect without a body.
 * @param location address of another service, or an absolute path of this one: some clients, such as PHP,
 *   resolve relative paths wrongly
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

/** Returns the absolute path of an address of this service. */
export const absolutePath = (address: string): string => new URL(address).pathname

/**
 * Returns the absolute path of a request, as clients see it: behind the path of PUBLIC_URL, which a proxy
 * removes.
 * @param path as received
 */
export function publicPath(publicUrl: URL, path: string): string {
  // Two slashes at the start would lead to another host.
  return `${publicUrl.pathname.replace(/\/$/, '')}${path.replace(/^\/+/, '/')}`
}
