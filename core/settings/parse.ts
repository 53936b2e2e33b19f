/** The texts of settings as values; null where they are malformed. */

import { isIP } from 'node:net'

export function wholeNumber(text: string, min: number, max: number): number | null {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? value : null
}

export function multiple(value: number | null, by: number): number | null {
  return value === null ? null : value * by
}

export function megabytes(text: string, min: number): number | null {
  return multiple(wholeNumber(text, min, 1_000_000), 1_000_000)
}

export function memory(text: string): string | null {
  return /^[1-9]\d{0,6}(MB|GB)$/.test(text) ? text : null
}

export function bytesOf(size: string | null): number | null {
  if (size === null) return null
  return Number(size.slice(0, -2)) * (size.endsWith('GB') ? 1e9 : 1e6)
}

export function baseAddress(text: string): URL | null {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') return null
  url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

/** What each of several workers has of a number. */
export function divided(least: number): (value: number, workers: number) => number {
  return (value, workers) => (value === 0 ? 0 : Math.max(least, Math.floor(value / workers)))
}

export function dividedMemory(size: string, workers: number): string {
  return `${Math.max(1, Math.floor((bytesOf(size) ?? 0) / 1e6 / workers))}MB`
}

const namedSubnets = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** A list with commas; null where one of them is no subnet, or so wide that it would be everybody. */
export function subnets(text: string): readonly string[] | null {
  const all = text.split(',').map((one) => one.trim())
  return all.every(isNarrow) ? all : null
}

function isNarrow(subnet: string): boolean {
  if (namedSubnets.has(subnet)) return true
  const [address = '', prefix, ...rest] = subnet.split('/')
  const bits = isIP(address) === 4 ? 32 : 128
  if (isIP(address) === 0 || rest.length > 0) return false
  return prefix === undefined || wholeNumber(prefix, 8, bits) !== null
}

export function isRedis(text: string): boolean {
  return /^rediss?:\/\/[^/]/.test(text) && URL.canParse(text)
}
