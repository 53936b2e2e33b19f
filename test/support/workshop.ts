import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { allTables, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { parseCatalog } from '../../core/catalog/load.ts'
import { fileNames, layout } from '../../core/warehouse/layout.ts'
import { filesOf, type Manifest } from '../../core/warehouse/manifest.ts'
import { openStore } from '../../core/warehouse/stores/open.ts'
import type { Store } from '../../core/warehouse/stores/store.ts'
import { ingest } from '../../ingest/run/ingest.ts'
import type { IngestOptions } from '../../ingest/run/options.ts'
import { check, type CheckedTable } from '../../ingest/check/check.ts'
import { silentProgress } from '../../ingest/base/progress.ts'
import type { Outcome } from '../../ingest/job/report.ts'
import type { PlacedFile } from '../../ingest/source/member.ts'
import { endWithFile } from './each-file.ts'
import { firstMember } from './gzip.ts'

/** Holds all folders of the test files of this worker. */
export const testFolder = mkdtempSync(path.join(os.tmpdir(), 'acervo-test-'))

process.once('exit', () => rmSync(testFolder, { recursive: true, force: true }))

/** A new folder, removed at the end of the test file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(testFolder, 'folder-'))
  // A server writes a file to its end although the reader who asked for it has gone.
  endWithFile(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
  return folder
}

/** Sources and a warehouse of one test. */
export interface Workshop {
  readonly catalog: Catalog
  readonly sources: string
  readonly warehouse: string
  /** The same, as the programs see it. */
  readonly store: Store
  /** Writes a source, such as `d/t.csv`. */
  readonly write: (name: string, content: string | Uint8Array) => Promise<void>
  /** Ingests tables (all of them) and returns what came of each. */
  readonly ingest: (options?: Partial<IngestOptions> & { tables?: readonly string[] }) => Promise<Outcome[]>
  /** Checks all tables, or some, and returns the result of each. */
  readonly check: (tables?: readonly string[]) => Promise<CheckedTable[]>
}

export const importDate = new Date('2026-01-02T03:04:05.678Z')

/** @param home folder of an earlier workshop, whose sources and warehouse are used again */
export async function workshop(
  catalog: Catalog,
  files: Record<string, string | Uint8Array> = {},
  home: string | null = null,
): Promise<Workshop> {
  const folder = home ?? (await temporaryFolder())
  const [sources, warehouse] = [path.join(folder, 'sources'), path.join(folder, 'warehouse')]
  const store = openStore(warehouse)
  const write: Workshop['write'] = async (name, content) => {
    await mkdir(path.dirname(path.join(sources, name)), { recursive: true })
    await writeFile(path.join(sources, name), content)
  }
  for (const [name, content] of Object.entries(files)) await write(name, content)
  const chosenTables = (names?: readonly string[]) =>
    allTables(catalog).filter((table) => names?.includes(table.name) ?? true)
  const defaults = {
    catalog,
    sources,
    store,
    memoryBytes: 900_000_000,
    unpackedBytesMax: 10_000_000_000,
    jobs: 1,
    now: () => importDate,
    progress: () => silentProgress,
  }
  return {
    catalog,
    sources,
    warehouse,
    store,
    write,
    ingest: async ({ tables, ...options } = {}) => {
      const outcomes: Outcome[] = []
      for await (const outcome of ingest(chosenTables(tables), { ...defaults, ...options })) {
        if (outcome.status === 'published') {
          await expectKnownFiles(warehouse, outcome.table, outcome.manifest)
          await expectOneMember(warehouse, outcome.table, outcome.manifest)
        }
        outcomes.push(outcome)
      }
      return outcomes
    },
    check: async (tables) => {
      const checked: CheckedTable[] = []
      const options = { ...defaults, scratchFolder: path.join(folder, 'checks'), hasClickHouse: false }
      await check(chosenTables(tables), options, (result) => checked.push(result))
      // The sources of a test are in a folder of a random name.
      return JSON.parse(JSON.stringify(checked).replaceAll(sources, 'sources')) as CheckedTable[]
    },
  }
}

/** @throws Error where a snapshot has a file that is missing in `filesOf`, so that nothing would verify it; local stores only */
async function expectKnownFiles(warehouse: string, table: Table, manifest: Manifest): Promise<void> {
  const folder = path.join(warehouse, layout.snapshot(table, manifest.snapshot))
  const names = await readdir(folder).catch(() => null)
  if (names === null) return
  const published = new Set([fileNames.manifest, ...filesOf(manifest).map(({ file }) => file)])
  const unknown = names.filter((name) => !published.has(name))
  if (unknown.length > 0) throw new Error(`no list of the snapshot has ${unknown.join(', ')}`)
}

/** @throws Error where the download has more than one gzip member, or its checksum is wrong; local stores only */
async function expectOneMember(warehouse: string, table: Table, manifest: Manifest): Promise<void> {
  const file = path.join(warehouse, layout.snapshot(table, manifest.snapshot), fileNames.download(table))
  const bytes = await readFile(file).catch(() => null)
  if (bytes === null) return
  const { text, unread } = firstMember(bytes)
  if (unread > 0 || !gunzipSync(bytes).equals(text))
    throw new Error(`${unread} bytes follow the first gzip member of the download`)
}

/** A file of a source that is read by itself. */
export function placed(file: string, name: string, bytes: number): PlacedFile {
  return { path: file, name, bytes, place: name, constants: new Map() }
}

interface TinyTable {
  readonly name?: string
  /** `name:type` or `name:decimal:precision:scale`. */
  readonly fields: readonly string[]
  readonly order?: readonly string[]
  readonly source?: object
  readonly filters?: readonly string[]
  readonly search?: readonly string[]
  readonly may_be_empty?: boolean
  /** False has DuckDB read all pages. */
  readonly packed?: boolean
}

/** A catalog of one dataset `d` with a few tables, families as in the real one. */
export function tinyCatalog(...tables: readonly TinyTable[]): Catalog {
  return catalogAround(
    tables.map((table) => ({ name: 't', order: [], ...table, fields: table.fields.map(fieldOf) })),
  )
}

/** `name:type`, `name:decimal:precision:scale`, or a field as the catalog has it. */
export function fieldOf(field: string | object): object {
  if (typeof field === 'object') return field
  const [name, type, precision, scale] = field.split(':')
  return { name, type, ...(scale !== undefined && { precision: Number(precision), scale: Number(scale) }) }
}

/** The rest of a catalog around tables as the catalog has them. */
export function catalogAround(tables: readonly object[]): Catalog {
  // JSON is YAML, so the real loader checks what the tests work with.
  return parseCatalog(catalogText(tables), 'tiny.yaml')
}

/** The same, as its file holds it. */
export function catalogText(tables: readonly object[]): string {
  const party = { name: 'N', url: 'https://example.org/' }
  const definition = {
    title: 'T',
    description: 'D',
    notice: 'Use sparingly.',
    limits: {
      rows: [
        { requests: 2, per: '1m' },
        { requests: 3, per: '1h' },
      ],
      catalog: [{ requests: 3, per: '1h' }],
    },
    families: {
      v1: { prefix: '/api/v1', scheme: 'http', trailing_slash: true },
      unversioned: { prefix: '/api', scheme: 'https', trailing_slash: false },
    },
    datasets: [
      {
        slug: 'd',
        name: 'D',
        description: 'D',
        author: party,
        source: party,
        license: party,
        code_url: 'https://example.org/',
        listed_in: ['v1'],
        collected_at: '2020-01-01',
        links: [],
        tables,
      },
    ],
  }
  return JSON.stringify(definition)
}
