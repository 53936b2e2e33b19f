import type { IncomingMessage } from 'node:http'
import { ipKeyGenerator } from 'express-rate-limit'
import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import proxyAddress from 'proxy-addr'

export type ClientOf = (req: IncomingMessage) => string

/** One client for all requests with an invalid reported address: otherwise each would have full quotas. */
const unknownClient = 'unknown'

interface ClientSettings {
  /** Number or subnets of trusted proxies, which alone may set X-Forwarded-For. */
  readonly trustProxy: number | readonly string[]
  /** Bits of IPv6 that identify a client. */
  readonly clientIpv6Prefix: number
}

/**
 * Identifies clients by the address of the connection, or by the one that trusted proxies report. An IPv6
 * address counts as its network.
 * @param onUntrustedHeader called once if a request has X-Forwarded-For although no proxy is trusted
 */
export function clientOf(
  { trustProxy, clientIpv6Prefix }: ClientSettings,
  onUntrustedHeader: () => void = () => undefined,
): ClientOf {
  const isTrusted =
    typeof trustProxy === 'number'
      ? (_address: string, hop: number) => hop < trustProxy
      : proxyAddress.compile([...trustProxy])
  let isReported = trustProxy !== 0
  const findCached = lastResultCache()
  const find = (req: IncomingMessage): string => {
    // A closed connection has no address, although the type promises one.
    const address = withoutPort(proxyAddress(req, isTrusted))
    // Unusual notations of IPv4, such as 1 or 0x7f.1, are invalid.
    const isAddress = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
    if (!isAddress) return unknownClient
    const ipAddress = ipaddr.process(address)
    return ipAddress.kind() === 'ipv4'
      ? ipAddress.toString()
      : ipKeyGenerator(ipAddress.toNormalizedString(), clientIpv6Prefix)
  }
  return (req) => {
    const forwardedFor = req.headers['x-forwarded-for']
    if (!isReported && forwardedFor !== undefined) {
      isReported = true
      onUntrustedHeader()
    }
    const { remoteAddress = '' } = req.socket
    const key = trustProxy === 0 ? remoteAddress : `${remoteAddress} ${String(forwardedFor)}`
    return findCached(key, () => find(req))
  }
}

const knownLengthMax = 200

function lastResultCache(): (key: string, find: () => string) => string {
  const cache = new LRUCache<string, string>({ max: 10_000 })
  return (key, find) => {
    const cachedValue = cache.get(key)
    if (cachedValue !== undefined) return cachedValue
    const value = find()
    if (key.length <= knownLengthMax) cache.set(key, value)
    return value
  }
}

/** Some proxies write ports: `192.0.2.1:80` or `[2001:db8::1]:80`. */
function withoutPort(address: string | undefined): string {
  const text = address?.trim() ?? ''
  const [, six, four] = /^\[([^\]]*)\](?::\d*)?$|^([\d.]+):\d*$/.exec(text) ?? []
  return (six ?? four ?? text).split('%', 1)[0] ?? ''
}

/** Network of a client: /24 for IPv4, /48 for IPv6. */
export function anonymize(client: string): string {
  return networks(client, () => networkOf(client))
}

const networks = lastResultCache()

function networkOf(client: string): string {
  const [address = ''] = client.split('/')
  if (!ipaddr.isValid(address)) return client
  const [kind, prefix] =
    ipaddr.parse(address).kind() === 'ipv4' ? ([ipaddr.IPv4, 24] as const) : ([ipaddr.IPv6, 48] as const)
  return `${kind.networkAddressFromCIDR(`${address}/${prefix}`).toString()}/${prefix}`
}
