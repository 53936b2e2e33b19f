import { createHash } from 'node:crypto'

/** As any version seals a manifest: all but the hash, and the hash of it as the last key. */
export function sealed(manifest: object): string {
  const { manifest_sha256: _own, ...rest } = manifest as Record<string, unknown>
  const digest = createHash('sha256').update(JSON.stringify(rest)).digest('hex')
  return `${JSON.stringify({ ...rest, manifest_sha256: digest }, null, 2)}\n`
}
