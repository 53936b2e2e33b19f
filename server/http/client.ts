import type { IncomingMessage } from 'node:http'
import { ipKeyGenerator } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'
import proxyAddress from 'proxy-addr'

/** Tells one client from another. */
export type ClientOf = (req: IncomingMessage) => string

/** Whatever a proxy passes on that is no address counts as one client: else each new junk would be a new one. */
const unknownClient = 'unknown'

/**
 * By the address of the connection, or as many proxies before it as are believed. An IPv6 address counts as its
 * /56, since whoever has one has all of those; a port behind an address tells nobody apart.
 *
 * @param trustProxy proxies in front whose X-Forwarded-For is believed
 */
export function clientOf(trustProxy: number): ClientOf {
  return (req) => {
    // Of a connection that is gone there is none, whatever its types say.
    const address = withoutPort(proxyAddress(req, (_address, hop) => hop < trustProxy))
    // Numbers that are no address to people, such as 1 or 0x7f.1, are none here.
    const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    if (!isAddress) return unknownClient
    const parsed = ipaddr.process(address)
    return parsed.kind() === 'ipv4' ? parsed.toString() : ipKeyGenerator(parsed.toNormalizedString())
  }
}

/** `192.0.2.1:80` and `[2001:db8::1]:80`, as some proxies write them, or an address alone. */
function withoutPort(written: string | undefined): string {
  const text = written?.trim() ?? ''
  const [, six, four] = /^\[([^\]]*)\](?::\d*)?$|^([\d.]+):\d*$/.exec(text) ?? []
  return (six ?? four ?? text).replace(/%.*$/, '')
}
