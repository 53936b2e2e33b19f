import { spawnSync } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Database } from '../../../core/duckdb/database.ts'
import { layout } from '../../../core/warehouse/layout.ts'
import { publishedOf } from '../../../core/warehouse/publish.ts'
import { openStore } from '../../../core/warehouse/stores/open.ts'
import { filesInFolder, verifyFiles } from '../../../core/warehouse/verify-files.ts'
import { temporaryFolder } from '../../support/workshop.ts'

/** The built ingest of one table, every row of which says which version of the source it is of. */

export const table = { dataset: 'socios-brasil', name: 'empresas' }

/** Arguments of node. */
export const program = ['dist/ingest/main.js', 'ingest', 'socios-brasil/empresas']

/** Rows of a version: different for versions that follow each other, and never so few that the ingest asks. */
const rowsOf = (version: number): number => 500 + (version % 100)

export interface Versions {
  readonly folder: string
  readonly warehouse: string
  /** Environment of the ingest. */
  readonly environment: () => Record<string, string | undefined>
  readonly write: (version: number) => Promise<void>
  /** Replaces the source by any text. */
  readonly writeText: (text: string) => Promise<void>
  /** Runs an ingest to its end. */
  readonly ingest: () => { code: number | null; out: string }
  /** The published version, after every file of it was read and found intact; 0 without one. */
  readonly published: () => Promise<number>
  /** Files of jobs that did not end. */
  readonly leftovers: () => Promise<string[]>
}

/** @param warehouse a folder of its own where it is not given */
export async function versions(warehouse?: string): Promise<Versions> {
  const folder = await temporaryFolder()
  const [sources, home] = [path.join(folder, 'sources'), warehouse ?? path.join(folder, 'warehouse')]
  await mkdir(path.join(sources, table.dataset), { recursive: true })
  const environment = () => ({
    PATH: process.env['PATH'],
    // With it, the program runs the job in its own process.
    UV_THREADPOOL_SIZE: '16',
    SOURCES: sources,
    WAREHOUSE: home,
  })
  const writeText = (text: string): Promise<void> =>
    writeFile(path.join(sources, table.dataset, 'empresas.csv'), text)
  return {
    folder,
    warehouse: home,
    environment,
    writeText,
    write: async (version) => {
      const line = (_: unknown, row: number): string => `${String(row).padStart(14, '0')},v${version},DF`
      const rows = Array.from({ length: rowsOf(version) }, line)
      await writeText(`cnpj,razao_social,uf\n${rows.join('\n')}\n`)
    },
    ingest: () => {
      const { status, stdout, stderr } = spawnSync(process.execPath, program, {
        env: environment(),
        encoding: 'utf8',
      })
      return { code: status, out: stdout + stderr }
    },
    published: () => publishedVersion(home, path.join(folder, 'spill')),
    leftovers: async () => {
      const names = (await readdir(home, { recursive: true })).map(String)
      return names.filter((name) => name.includes('.scratch/') || name.endsWith('.draft'))
    },
  }
}

async function publishedVersion(warehouse: string, scratch: string): Promise<number> {
  const store = openStore(warehouse)
  const manifest = await publishedOf(store, table)
  if (manifest === null) return 0
  const home = store.place(layout.snapshot(table, manifest.snapshot))
  await verifyFiles(filesInFolder(home), manifest)
  const [changes] = manifest.changes ?? []
  expect(changes?.since ?? null).toBe(manifest.previous)
  expect(manifest.files.some(({ file }) => file === changes?.file)).toBe(changes !== undefined)
  const database = await Database.open({ memory: '100MB', threads: 1, scratch, folders: [warehouse] })
  const db = await database.connect()
  try {
    const files = manifest.parts.map(({ file }) => `'${path.join(home, file)}'`)
    const [row] = await db.rows(
      `select count(*)::int, min(razao_social), max(razao_social) from read_parquet([${files.join(', ')}])`,
    )
    const [rows, first, last] = row ?? []
    const version = Number(String(first).slice(1))
    expect([rows, last]).toEqual([rowsOf(version), `v${version}`])
    return version
  } finally {
    db.close()
    database.close()
  }
}
