/** Parsers of settings; they return null for malformed texts. */

import { BlockList, isIP } from 'node:net'

export function wholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : null
}

export function multiple(value: number | null, factor: number): number | null {
  return value === null ? null : value * factor
}

export function megabytes(text: string, min: number): number | null {
  return multiple(wholeNumber(text, min, 1_000_000), 1_000_000)
}

export function memory(text: string): string | null {
  return /^[1-9]\d{0,6}(MB|GB)$/.test(text) ? text : null
}

export function parseBytes(size: string | null): number | null {
  if (size === null) return null
  return Number(size.slice(0, -2)) * (size.endsWith('GB') ? 1e9 : 1e6)
}

export function baseAddress(text: string): URL | null {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return null
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '')
  return url
}

/** Returns a function that divides down to a minimum; 0 stays 0. */
export function divided(min: number): (value: number, workers: number) => number {
  return (value, workers) => (value === 0 ? 0 : Math.max(min, Math.floor(value / workers)))
}

const namedSubnets = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** Returns null if an item is not a subnet, or is too wide, since all its addresses are trusted. */
export function subnets(text: string): readonly string[] | null {
  const networks = text.split(',').map((item) => item.trim())
  return networks.every(isNarrow) ? networks : null
}

function isNarrow(subnet: string): boolean {
  if (namedSubnets.has(subnet)) return true
  const [address = '', prefix, ...rest] = subnet.split('/')
  if (isIP(address) === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  if (isIP(address) === 4) return wholeNumber(prefix, 8, 32) !== null
  // Private networks (fc00::/7) may be wider than those of any provider.
  const bits = wholeNumber(prefix, /^f[cd]/i.test(address) ? 7 : 16, 128)
  return bits !== null && !isWideForIpv4(address, bits)
}

/**
 * Returns whether an IPv6 network includes more mapped IPv4 addresses than a /8, the widest IPv4 network
 * allowed.
 */
function isWideForIpv4(network: string, bits: number): boolean {
  const list = new BlockList()
  list.addSubnet(network, bits, 'ipv6')
  const firsts = Array.from({ length: 256 }, (_, first) => `::ffff:${first}.0.0.1`)
  return firsts.filter((address) => list.check(address, 'ipv6')).length > 1
}

export function isRedis(text: string): boolean {
  return /^rediss?:\/\/[^/]/.test(text) && URL.canParse(text)
}

export function host(text: string): string | null {
  return /^[\w.:-]+$/.test(text) ? text : null
}

export function webAddress(text: string): string | null {
  return text === '' || /^https?:\/\/\S+$/.test(text) ? text : null
}
