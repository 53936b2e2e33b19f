import { z } from 'zod'
import type { Table } from '../catalog/catalog.ts'
import { layout } from './layout.ts'
import type { Store } from './stores/store.ts'

type TableName = Pick<Table, 'dataset' | 'name'>

const hashShape = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** When the file was read for it, UTC. */
  at: z.iso.datetime(),
})
const hashedShape = z.record(z.string(), hashShape)

/** SHA-256 of files of a source, by what each was like before it was read for it (see `settledVersion`). */
export type Hashed = ReadonlyMap<string, z.infer<typeof hashShape>>

/** What was noted; nothing where that cannot be read. */
export async function readHashed(store: Store, table: TableName): Promise<Hashed> {
  try {
    return new Map(
      Object.entries(hashedShape.parse(JSON.parse(String(await store.get(layout.hashed(table)))))),
    )
  } catch {
    return new Map()
  }
}

/** Notes what the files of a source were like when they were hashed, in place of what was noted before. Only under the lock of the table. */
export async function noteHashed(store: Store, table: TableName, hashed: Hashed): Promise<void> {
  const text = `${JSON.stringify(Object.fromEntries(hashed), null, 2)}\n`
  const before = await store.get(layout.hashed(table))
  if (before === null && hashed.size === 0) return
  if (before?.toString() !== text) await store.put(layout.hashed(table), text)
}
