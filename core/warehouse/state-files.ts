import { type TableName, isSnapshotId, layout, type SnapshotId } from './layout.ts'
import { z } from 'zod'
import { filesOf, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

/**
 * Small JSON files beside the snapshots: verified files, source hashes, checks, failures and rollbacks. Jobs
 * write them under the lock of the table. A missing, damaged or foreign file counts as empty, except for
 * rollbacks.
 */

async function read<T>(store: Store, key: string, shape: z.ZodType<T>): Promise<T | null> {
  return parseBytes(await store.get(key).catch(() => null), shape)
}

function parseBytes<T>(bytes: Buffer | null, shape: z.ZodType<T>): T | null {
  try {
    return shape.parse(JSON.parse(String(bytes)))
  } catch {
    return null
  }
}

async function write(store: Store, key: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`
  const before = await store.get(key)
  if (before?.toString() !== text) await store.put(key, text)
}

/** A version changes whenever the bytes may have changed. */
type Versions = ReadonlyMap<string, string>

const verifiedShape = z.record(z.string(), z.record(z.string(), z.string()))

/** Call it before reading the files, so that a later change is not recorded as verified. */
export async function versionsIn(store: Store, table: TableName, manifest: Manifest): Promise<Versions> {
  const versions = new Map<string, string>()
  for (const { file } of filesOf(manifest)) {
    const object = await store.stat(`${layout.snapshot(table, manifest.snapshot)}/${file}`)
    if (object !== null) versions.set(file, object.version)
  }
  return versions
}

/** Records versions of files that need no further reading. */
export async function recordVerified(
  store: Store,
  table: TableName,
  id: SnapshotId,
  versions: Versions,
): Promise<void> {
  const key = layout.verified(table)
  const existingNames = new Set(await store.list(layout.table(table)))
  const storedEntries = Object.entries((await read(store, key, verifiedShape)) ?? {})
  const otherEntries = storedEntries.filter(([entryId]) => entryId !== id && existingNames.has(entryId))
  await write(store, key, { [id]: Object.fromEntries(versions), ...Object.fromEntries(otherEntries) })
}

export async function readVerified(store: Store, table: TableName, id: SnapshotId): Promise<Versions> {
  const content = await read(store, layout.verified(table), verifiedShape)
  return new Map(Object.entries(content?.[id] ?? {}))
}

const hashShape = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  at: z.iso.datetime(),
})

/** Hashes by version of each file before it was read (see `settledVersion`). */
export type RecordedHashes = ReadonlyMap<string, z.infer<typeof hashShape>>

export async function readHashes(store: Store, table: TableName): Promise<RecordedHashes> {
  const content = await read(store, layout.hashed(table), z.record(z.string(), hashShape))
  return new Map(Object.entries(content ?? {}))
}

export async function recordHashes(store: Store, table: TableName, hashed: RecordedHashes): Promise<void> {
  const key = layout.hashed(table)
  if (hashed.size === 0 && (await store.get(key)) === null) return
  await write(store, key, Object.fromEntries(hashed))
}

export interface SourceCheck {
  readonly at: string
  /** `held`: not published again, since its snapshot was rolled back. */
  readonly outcome: 'unchanged' | 'held' | 'failed'
}

const unchangedShape = z.object({ at: z.iso.datetime(), outcome: z.enum(['unchanged', 'held']) })
const failureShape = z.object({ at: z.iso.datetime() })

export async function recordCheck(
  store: Store,
  table: TableName,
  outcome: 'unchanged' | 'held',
  at: Date,
): Promise<void> {
  await write(store, layout.lastCheck(table), { at: at.toISOString(), outcome })
}

export async function writeFailure(store: Store, table: TableName, report: object): Promise<string> {
  await write(store, layout.failure(table), report)
  return `${store.address}/${layout.failure(table)}`
}

export async function clearFailure(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.failure(table))
}

/** Last check that published nothing, and last failure, the later one first. */
export async function readChecks(store: Store, table: TableName): Promise<SourceCheck[]> {
  const unchanged = await read(store, layout.lastCheck(table), unchangedShape)
  const failure = await read(store, layout.failure(table), failureShape)
  const checks: SourceCheck[] = unchanged === null ? [] : [unchanged]
  if (failure !== null) checks.push({ at: failure.at, outcome: 'failed' })
  return checks.toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

const withdrawnShape = z.strictObject({
  snapshot: z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id)),
  at: z.iso.datetime(),
  /** SHA-256 of the sources. Equal sources of the same definition are not published again. */
  sources: z.array(z.string()),
  definition: z.string(),
})

export type Withdrawn = z.infer<typeof withdrawnShape>

/**
 * Snapshots rolled back since the last publication.
 * @throws Error if the list is damaged: a rolled back snapshot might be published again
 */
export async function readRollbacks(store: Store, table: TableName): Promise<Withdrawn[]> {
  const key = layout.withdrawn(table)
  const bytes = await store.get(key)
  if (bytes === null) return []
  const withdrawn = parseBytes(bytes, z.array(withdrawnShape))
  if (withdrawn === null)
    throw new Error(
      `${key}, the list of rollbacks, is damaged: remove it; \`acervo ingest\` may then publish a source again that was rolled back`,
    )
  return withdrawn
}

export async function recordRollback(
  store: Store,
  table: TableName,
  manifest: Manifest,
  at: Date,
): Promise<void> {
  const { snapshot, sources, definition } = manifest
  const before = await readRollbacks(store, table)
  await write(store, layout.withdrawn(table), [
    ...before.filter((entry) => entry.snapshot !== snapshot),
    { snapshot, at: at.toISOString(), sources: sources.map(({ sha256 }) => sha256), definition },
  ])
}

export async function clearRollbacks(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.withdrawn(table))
}
