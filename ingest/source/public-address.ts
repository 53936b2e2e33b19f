import dns from 'node:dns'
import net, { type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Keeps a server from leading us to where only we can reach. */

export class PrivateAddress extends Error {
  readonly host: string

  constructor(host: string) {
    super(`${host} is a private address`)
    this.host = host
  }
}

/** What is given out of IPv6 lies in 2000::/3; the rest maps or tunnels to elsewhere. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const isGivenOut = parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
  return isGivenOut && parsed.range() === 'unicast'
}

/** A host that is written as an address is never looked up. */
export function requirePublicLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (net.isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host)
}

/** Looks at the very addresses that are connected to, so that no name can change in between. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, found) => {
    // Where there is an error, nothing was found, not even an empty list.
    const hidden = error === null ? found.find(({ address }) => !isPublic(address)) : undefined
    if (error !== null) callback(error, [])
    else if (hidden !== undefined) callback(new PrivateAddress(`${hostname} (${hidden.address})`), [])
    else callback(null, found)
  })
}
