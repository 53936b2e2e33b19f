import dns from 'node:dns'
import net, { type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Redirects must not lead to addresses that only this network can reach. */

export class PrivateAddress extends Error {
  readonly host: string

  constructor(host: string) {
    super(`${host} is a private address`)
    this.host = host
  }
}

function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ipAddress = ipaddr.process(address)
  const isGivenOut = ipAddress.kind() === 'ipv4' || (ipAddress.toByteArray()[0] ?? 0) >> 5 === 1
  return isGivenOut && ipAddress.range() === 'unicast'
}

/** An IP address needs no DNS lookup, so `publicLookup` never sees it. */
export function requirePublicLiteral({ hostname }: URL): void {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  if (net.isIP(host) !== 0 && !isPublic(host)) throw new PrivateAddress(host)
}

/** Names whose addresses were all private at the first request. */
const privateNames = new Set<string>()

/** Records names of private networks for `isOnPrivateNetwork`. */
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

/** Returns whether the first request to this host, chosen by an operator, reached a private network. */
export function isOnPrivateNetwork({ hostname }: URL): boolean {
  const host = hostname.replaceAll(/^\[|\]$/g, '')
  return net.isIP(host) === 0 ? privateNames.has(host) : !isPublic(host)
}

/** Checks the very addresses that are connected to, so that a second DNS answer cannot differ. */
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
