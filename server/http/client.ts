import type { IncomingMessage } from 'node:http'
import { ipKeyGenerator } from 'express-rate-limit'
import proxyAddress from 'proxy-addr'

/** Tells one client from another. */
export type ClientOf = (req: IncomingMessage) => string

/**
 * By the address of the connection, or as many proxies before it as are believed. An IPv6 address counts as its
 * /56, since whoever has one has all of those.
 *
 * @param trustProxy proxies in front whose X-Forwarded-For is believed
 */
export function clientOf(trustProxy: number): ClientOf {
  return (req) => ipKeyGenerator(proxyAddress(req, (_address, hop) => hop < trustProxy))
}
