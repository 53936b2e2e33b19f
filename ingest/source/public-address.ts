import dns from 'node:dns'
import net, { type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** A server must not lead us to addresses that only we can reach. */

export class PrivateAddress extends Error {
  readonly host: string

  constructor(host: string) {
    super(`${host} is a private address`)
    this.host = host
  }
}

/** Global unicast of IPv6 is 2000::/3; the rest maps or tunnels to other networks. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const isGivenOut = parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
  return isGivenOut && parsed.range() === 'unicast'
}

/** A literal address is never looked up. */
export function requirePublicLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (net.isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host)
}

/** Checks the very addresses to connect to, so that DNS cannot change in between. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, found) => {
    // On an error, `found` is undefined.
    const hidden = error === null ? found.find(({ address }) => !isPublic(address)) : undefined
    if (error !== null) callback(error, [])
    else if (hidden !== undefined) callback(new PrivateAddress(`${hostname} (${hidden.address})`), [])
    else callback(null, found)
  })
}
