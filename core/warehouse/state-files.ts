import type { TableName } from './layout.ts'
import { z } from 'zod'
import { isSnapshotId, layout, type SnapshotId } from './layout.ts'
import { filesOf, type Manifest } from './manifest.ts'
import type { Store } from './stores/store.ts'

/**
 * Small JSON files beside the snapshots of a table, in which jobs note what later jobs and the server can then skip. Jobs
 * write them under the lock of the table. A file that is absent, damaged or of another version
 * says nothing, but for what was rolled back.
 */

async function read<T>(store: Store, key: string, shape: z.ZodType<T>): Promise<T | null> {
  return parsed(await store.get(key).catch(() => null), shape)
}

function parsed<T>(bytes: Buffer | null, shape: z.ZodType<T>): T | null {
  try {
    return shape.parse(JSON.parse(String(bytes)))
  } catch {
    return null
  }
}

/** Writes a value as JSON, unless the file says it already. */
async function write(store: Store, key: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`
  const before = await store.get(key)
  if (before?.toString() !== text) await store.put(key, text)
}

/** By file: the version that the store tells of it (`FileState`), which changes whenever its bytes may have changed. */
type Versions = ReadonlyMap<string, string>

/** By snapshot and file. */
const verifiedShape = z.record(z.string(), z.record(z.string(), z.string()))

/** The versions of the files of a snapshot now. Ask for them before the files are read, so that no later change passes for what was read. */
export async function versionsIn(store: Store, table: TableName, manifest: Manifest): Promise<Versions> {
  const versions = new Map<string, string>()
  for (const { file } of filesOf(manifest)) {
    const found = await store.stat(`${layout.snapshot(table, manifest.snapshot)}/${file}`)
    if (found !== null) versions.set(file, found.version)
  }
  return versions
}

/** Notes the versions of the files of a snapshot that a job found whole: files of the same version need not be read again. */
export async function noteVerified(
  store: Store,
  table: TableName,
  id: SnapshotId,
  versions: Versions,
): Promise<void> {
  const key = layout.verified(table)
  const there = new Set(await store.list(layout.table(table)))
  const noted = Object.entries((await read(store, key, verifiedShape)) ?? {})
  const others = noted.filter(([other]) => other !== id && there.has(other))
  await write(store, key, { [id]: Object.fromEntries(versions), ...Object.fromEntries(others) })
}

/** The versions that were noted of the files of a snapshot. */
export async function readVerified(store: Store, table: TableName, id: SnapshotId): Promise<Versions> {
  const noted = await read(store, layout.verified(table), verifiedShape)
  return new Map(Object.entries(noted?.[id] ?? {}))
}

const hashShape = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** When the file was read for it, UTC. */
  at: z.iso.datetime(),
})

/** SHA-256 of files of a source, by the version that each had before it was read for it (see `settledVersion`). */
export type Hashed = ReadonlyMap<string, z.infer<typeof hashShape>>

export async function readHashed(store: Store, table: TableName): Promise<Hashed> {
  const noted = await read(store, layout.hashed(table), z.record(z.string(), hashShape))
  return new Map(Object.entries(noted ?? {}))
}

/** Notes the hashes of the files of a source, in place of what was noted before. */
export async function noteHashed(store: Store, table: TableName, hashed: Hashed): Promise<void> {
  const key = layout.hashed(table)
  if (hashed.size === 0 && (await store.get(key)) === null) return
  await write(store, key, Object.fromEntries(hashed))
}

/** When a job last looked at the source of a table, and its outcome, where that was no snapshot. */
export interface Looked {
  /** UTC. */
  readonly at: string
  /** `held`: it is the source of a snapshot that was rolled back. */
  readonly outcome: 'unchanged' | 'held' | 'failed'
}

const unchangedShape = z.object({ at: z.iso.datetime(), outcome: z.enum(['unchanged', 'held']) })
const failureShape = z.object({ at: z.iso.datetime() })

/** Notes that a job looked at a source, which gave no new snapshot. */
export async function noteLooked(
  store: Store,
  table: TableName,
  outcome: 'unchanged' | 'held',
  at: Date,
): Promise<void> {
  await write(store, layout.looked(table), { at: at.toISOString(), outcome })
}

/** Writes why a table was not published. Returns the address of the file, for people. */
export async function writeFailure(store: Store, table: TableName, report: object): Promise<string> {
  await write(store, layout.failure(table), report)
  return `${store.address}/${layout.failure(table)}`
}

/** Removes the failure of a table that is well again. */
export async function clearFailure(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.failure(table))
}

/** The last look that found nothing new, and the last that failed, the later one first. */
export async function readLooks(store: Store, table: TableName): Promise<Looked[]> {
  const unchanged = await read(store, layout.looked(table), unchangedShape)
  const failure = await read(store, layout.failure(table), failureShape)
  const looks: Looked[] = unchanged === null ? [] : [unchanged]
  if (failure !== null) looks.push({ at: failure.at, outcome: 'failed' })
  return looks.toSorted((a, b) => (a.at < b.at ? 1 : -1))
}

const withdrawnShape = z.strictObject({
  snapshot: z.custom<SnapshotId>((id) => typeof id === 'string' && isSnapshotId(id)),
  /** UTC. */
  at: z.iso.datetime(),
  /** SHA-256 of its sources, and how they were read: while both are the same it is not published again. */
  sources: z.array(z.string()),
  definition: z.string(),
})

/** A snapshot that a rollback took back. */
type Withdrawn = z.infer<typeof withdrawnShape>

/**
 * The snapshots of a table that were taken back since one was last published.
 *
 * @throws Error naming the file where it is damaged, since a snapshot that was taken back might be published again
 */
export async function readWithdrawn(store: Store, table: TableName): Promise<Withdrawn[]> {
  const key = layout.withdrawn(table)
  const bytes = await store.get(key)
  if (bytes === null) return []
  const withdrawn = parsed(bytes, z.array(withdrawnShape))
  if (withdrawn === null)
    throw new Error(`${key} is damaged: remove it, and what was rolled back may be published again`)
  return withdrawn
}

/** Takes a snapshot back, with those that were taken back before it. */
export async function withdraw(store: Store, table: TableName, manifest: Manifest, at: Date): Promise<void> {
  const { snapshot, sources, definition } = manifest
  const before = await readWithdrawn(store, table)
  await write(store, layout.withdrawn(table), [
    ...before.filter((one) => one.snapshot !== snapshot),
    { snapshot, at: at.toISOString(), sources: sources.map(({ sha256 }) => sha256), definition },
  ])
}

/** Allows every snapshot to be published again. */
export async function forgetWithdrawn(store: Store, table: TableName): Promise<void> {
  await store.remove(layout.withdrawn(table))
}
