import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import path from 'node:path'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

export function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}

export function totalOf(headers: Headers, offset: number): { bytes: number | null; from: number } {
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(firstValue(headers['content-range']) ?? '')
  if (offset > 0) return { from: Number(range?.[1] ?? -1), bytes: range === null ? null : Number(range[2]) }
  const length = firstValue(headers['content-length'])
  return { from: 0, bytes: length === undefined ? null : Number(length) }
}

/**
 * Validator for If-Range (RFC 9110, 13.1.5): a strong ETag; without an ETag, a Last-Modified at least one
 * second before the response; else null.
 */
export function validatorOf(headers: Headers): string | null {
  const [etag, modified, date] = [headers['etag'], headers['last-modified'], headers['date']].map(firstValue)
  if (etag !== undefined) return etag.startsWith('W/') ? null : etag
  const age = Date.parse(date ?? '') - Date.parse(modified ?? '')
  return modified !== undefined && age >= 1000 ? modified : null
}

/** Returns whether a later part belongs to the same version: some servers ignore If-Range. */
export function isPartOf(complete: Headers, part: Headers, total: number | null): boolean {
  const length = firstValue(complete['content-length'])
  const [modified, stated] = [firstValue(complete['last-modified']), firstValue(part['last-modified'])]
  return (
    firstValue(complete['etag']) === firstValue(part['etag']) &&
    (stated === undefined || stated === modified) &&
    (length === undefined || Number(length) === total)
  )
}

/** Pause in Retry-After, in ms; null if missing, invalid or past. */
export function pauseOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null
  const ms = /^\d+$/.test(retryAfter) ? 1000 * Number(retryAfter) : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) && ms >= 0 ? ms : null
}

/** Name for messages, and to detect compression. */
export function nameIn({ pathname }: URL): string {
  const last = pathname.split('/').at(-1) ?? ''
  let name = last
  try {
    name = path.posix.basename(decodeURIComponent(last))
  } catch {
    // Not UTF-8: keep it as written.
  }
  return /^\.{0,2}$|\p{Cc}/u.test(name) ? 'source' : name
}

export function pathIn({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname).replace(/^\//, '')
  } catch {
    return pathname.replace(/^\//, '')
  }
}

/** Compares a file with Repr-Digest, Digest and Content-MD5. Explains a difference; null for none. */
export async function wrongDigest(file: string, responseHeaders: readonly Headers[]): Promise<string | null> {
  const digestHeaders = responseHeaders
    .flatMap((headers) => [firstValue(headers['repr-digest']), firstValue(headers['digest'])])
    .join(',')
  const digests = [...digestHeaders.matchAll(/(?<![\w-])(sha-256|sha-512)=:?([A-Za-z0-9+/]+=*):?/gi)].map(
    ([, name = '', value = '']) => [name.toLowerCase().replace('-', ''), value] as const,
  )
  for (const headers of responseHeaders) {
    const md5 = firstValue(headers['content-md5'])
    if (md5 !== undefined && headers['content-range'] === undefined) digests.push(['md5', md5])
  }
  for (const [algorithm, value] of digests) {
    const hash = createHash(algorithm)
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
    if (hash.digest('base64') !== value)
      return `its ${algorithm} digest differs from the one that the server states`
  }
  return null
}
