import { access, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { Catalog } from '../../core/catalog/catalog.ts'
import type { Connection } from '../../core/duckdb/connection.ts'
import { Database, duckdbVersion } from '../../core/duckdb/database.ts'
import type { Settings } from '../../core/settings/read.ts'
import { quotedText } from '../../core/sql.ts'
import { layout } from '../../core/warehouse/layout.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { isAsSummed, replaceSummed } from '../../core/warehouse/summed-files.ts'
import { bringUpToDate } from './lake-commits.ts'
import { withWarehouse } from './lock.ts'
import { inScratch } from './scratch.ts'

export interface LakeOptions {
  /** The file of DuckDB's extension; empty to look where DuckDB itself keeps it. */
  readonly extension: string
  /** Under which the files are served, without a final slash. */
  readonly filesAddress: string
  readonly now: Date
}

export function lakeOptions(
  { publicUrl, ducklakeExtension }: Pick<Settings, 'publicUrl' | 'ducklakeExtension'>,
  now: Date,
): LakeOptions {
  return { extension: ducklakeExtension, filesAddress: `${publicUrl.href.replace(/\/$/, '')}/files`, now }
}

/** What came of it, for whoever runs the ingest. */
export type LakeOutcome =
  | { readonly status: 'written'; readonly commits: number }
  | { readonly status: 'unchanged' }
  | { readonly status: 'skipped'; readonly reason: string }

/** Its blocks hold little: with DuckDB's own size the file would have 5 MB. */
const blockBytes = 16_384

/**
 * Brings `acervo.ducklake` up to date: a DuckLake over the published files that nobody writes to but this, one commit a
 * snapshot, so that analysts ask for the rows of a version or a time. The file of before is gone on with, since a version that
 * was cited must stay what it was; it is made anew, of what is kept, where there is none that can be read.
 */
export async function publishLake(
  store: Store,
  catalog: Catalog,
  options: LakeOptions,
): Promise<LakeOutcome> {
  if (store.isElsewhere) return { status: 'skipped', reason: `${store.address} is no folder of this machine` }
  const extension = options.extension === '' ? await usualExtension() : options.extension
  if (extension === null) {
    const reason = `DuckDB's extension ducklake for ${duckdbVersion} is not here; DUCKLAKE_EXTENSION may name its file`
    return { status: 'skipped', reason }
  }
  return withWarehouse(store, () =>
    inScratch(store, async (scratch) => {
      const file = path.join(scratch, layout.lake)
      const before = await store.get(layout.lake)
      // Older versions wrote no sum.
      const isSound =
        (await store.get(layout.sumOf(layout.lake))) === null || (await isAsSummed(store, layout.lake))
      const isKept = before !== null && isSound
      if (isKept) await writeFile(file, before)
      const outcome = await written(store, catalog, file, extension, options).catch(
        async (error: unknown) => {
          if (!isKept) throw error
          for (const name of [file, `${file}.wal`]) await rm(name, { force: true })
          return written(store, catalog, file, extension, options)
        },
      )
      // After what may fail of an old lake, so that a full disk makes no lake anew.
      if (outcome.status === 'written') await replaceSummed(store, file, layout.lake)
      return outcome
    }),
  )
}

/** Where DuckDB keeps what it has fetched for itself; null where it has not. */
async function usualExtension(): Promise<string | null> {
  const folder = path.join(os.homedir(), '.duckdb', 'extensions', duckdbVersion)
  for (const platform of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, platform, 'ducklake.duckdb_extension')
    const isThere = await access(file).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return null
}

async function written(
  store: Store,
  catalog: Catalog,
  file: string,
  extension: string,
  { filesAddress, now }: LakeOptions,
): Promise<LakeOutcome> {
  const base = `${filesAddress}/`
  const database = await Database.open({
    memory: '200MB',
    threads: 1,
    scratch: path.join(path.dirname(file), 'spill'),
    folders: [store.localFolder, path.dirname(file)],
    extensions: [extension],
  })
  try {
    const db = await database.connect()
    try {
      const addressBefore = await dataPath(db, file, `${store.localFolder}/`)
      const isNew = addressBefore === null
      await db.rows(
        `attach ${quotedText(`ducklake:${file}`)} as lake (data_path ${quotedText(`${store.localFolder}/`)}${isNew ? `, meta_block_size ${blockBytes}` : ''})`,
      )
      const commits = await bringUpToDate(store, catalog, db, now)
      await db.rows('detach lake')
      if (commits === 0 && addressBefore === base && (await isAsSummed(store, layout.lake)))
        return { status: 'unchanged' }
      await dataPath(db, file, base)
      return { status: 'written', commits }
    } finally {
      db.close()
    }
  } finally {
    database.close()
  }
}

/**
 * Says in the file itself where its data lie: here while it is written, and under the address of the files for those who
 * read it.
 *
 * @returns what it said before; null where there is no file yet
 */
async function dataPath(db: Connection, file: string, to: string): Promise<string | null> {
  const isThere = await access(file).then(
    () => true,
    () => false,
  )
  if (!isThere) return null
  await db.rows(`attach ${quotedText(file)} as plain`)
  const [[before = null] = []] = await db.rows(
    "select value from plain.main.ducklake_metadata where key = 'data_path'",
  )
  await db.rows("update plain.main.ducklake_metadata set value = $1 where key = 'data_path'", [to])
  await db.rows('checkpoint plain')
  await db.rows('detach plain')
  return before === null ? null : String(before)
}
