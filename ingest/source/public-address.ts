import dns from 'node:dns'
import net, { type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Redirects of a server must not lead this process to addresses that only its own network can reach. */

export class PrivateAddress extends Error {
  readonly host: string

  constructor(host: string) {
    super(`${host} is a private address`)
    this.host = host
  }
}

/** Only 2000::/3 is global unicast in IPv6. Other ranges may map or tunnel to private networks. */
function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  const isGivenOut = parsed.kind() === 'ipv4' || (parsed.toByteArray()[0] ?? 0) >> 5 === 1
  return isGivenOut && parsed.range() === 'unicast'
}

/** Checks an IP address in a URL, which needs no DNS lookup, so that `publicLookup` never sees it. */
export function requirePublicLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (net.isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host)
}

/** Names whose addresses were all private when a source was requested there. */
const privateNames = new Set<string>()

/** Looks up any address, and records names of private networks for `isOnPrivateNetwork`. */
export const anyLookup: LookupFunction = (hostname, options, callback) => {
  // oxlint-disable-next-line id-denylist -- Option of Node.
  dns.lookup(hostname, { ...options, all: true }, (error, resolvedAddresses) => {
    // On an error, `resolvedAddresses` is undefined.
    const addresses = error === null ? resolvedAddresses : []
    if (addresses.some(({ address }) => isPublic(address))) privateNames.delete(hostname)
    else if (addresses.length > 0) privateNames.add(hostname)
    callback(error, addresses)
  })
}

/** Returns true if the first request to this host, which an operator chose, reached a private network. */
export function isOnPrivateNetwork({ hostname }: URL): boolean {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  return net.isIP(host) === 0 ? privateNames.has(host) : !isPublic(host)
}

/** Checks the same addresses that are then connected to, so that a second DNS answer cannot differ. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  // oxlint-disable-next-line id-denylist -- Option of Node.
  dns.lookup(hostname, { ...options, all: true }, (error, resolvedAddresses) => {
    // On an error, `resolvedAddresses` is undefined.
    const hidden = error === null ? resolvedAddresses.find(({ address }) => !isPublic(address)) : undefined
    if (error !== null) callback(error, [])
    else if (hidden !== undefined) callback(new PrivateAddress(`${hostname} (${hidden.address})`), [])
    else callback(null, resolvedAddresses)
  })
}
