import type { IncomingMessage } from 'node:http'
import { ipKeyGenerator } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import proxyAddress from 'proxy-addr'

/** Tells one client from another. */
export type ClientOf = (req: IncomingMessage) => string

/** Whatever a proxy passes on that is no address counts as one client: else each new junk would be a new one. */
const unknownClient = 'unknown'

export interface ClientSettings {
  /** Proxies in front whose X-Forwarded-For is believed: how many, or their subnets. */
  readonly trustProxy: number | readonly string[]
  /** Bits of an IPv6 address that tell clients apart. */
  readonly clientIpv6Prefix: number
}

/**
 * By the address of the connection, or as many proxies before it as are believed. An IPv6 address counts as its
 * network, since whoever has one has all of those; a port behind an address tells nobody apart.
 *
 * @param tellDisbelieved told once where a proxy passes on an address that is not believed
 */
export function clientOf(
  { trustProxy, clientIpv6Prefix }: ClientSettings,
  tellDisbelieved: () => void = () => undefined,
): ClientOf {
  const isTrusted =
    typeof trustProxy === 'number'
      ? (_address: string, hop: number) => hop < trustProxy
      : proxyAddress.compile([...trustProxy])
  let isTold = trustProxy !== 0
  const known = remembering()
  const find = (req: IncomingMessage): string => {
    // Of a connection that is gone there is none, whatever its types say.
    const address = withoutPort(proxyAddress(req, isTrusted))
    // Numbers that are no address to people, such as 1 or 0x7f.1, are none here.
    const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    if (!isAddress) return unknownClient
    const parsed = ipaddr.process(address)
    return parsed.kind() === 'ipv4'
      ? parsed.toString()
      : ipKeyGenerator(parsed.toNormalizedString(), clientIpv6Prefix)
  }
  return (req) => {
    const passedOn = req.headers['x-forwarded-for']
    if (!isTold && passedOn !== undefined) {
      isTold = true
      tellDisbelieved()
    }
    const { remoteAddress = '' } = req.socket
    const key = trustProxy === 0 ? remoteAddress : `${remoteAddress} ${String(passedOn)}`
    return known(key, () => find(req))
  }
}

/** Longer ones are not kept: they are nobody's address. */
const knownLengthMax = 200

/** Works a text out of another once for those who ask again and again, of so many that nobody can fill the memory. */
function remembering(): (key: string, find: () => string) => string {
  const known = new LRUCache<string, string>({ max: 10_000 })
  return (key, find) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = find()
    if (key.length <= knownLengthMax) known.set(key, made)
    return made
  }
}

/** `192.0.2.1:80` and `[2001:db8::1]:80`, as some proxies write them, or an address alone. */
function withoutPort(written: string | undefined): string {
  const text = written?.trim() ?? ''
  const [, six, four] = /^\[([^\]]*)\](?::\d*)?$|^([\d.]+):\d*$/.exec(text) ?? []
  return (six ?? four ?? text).split('%', 1)[0] ?? ''
}

/** A client without what tells one person from another: a /24 of IPv4, a /48 of IPv6. */
export function cutShort(client: string): string {
  return networks(client, () => networkOf(client))
}

const networks = remembering()

function networkOf(client: string): string {
  const [address = ''] = client.split('/')
  if (!ipaddr.isValid(address)) return client
  const [kind, prefix] =
    ipaddr.parse(address).kind() === 'ipv4' ? ([ipaddr.IPv4, 24] as const) : ([ipaddr.IPv6, 48] as const)
  return `${kind.networkAddressFromCIDR(`${address}/${prefix}`).toString()}/${prefix}`
}
