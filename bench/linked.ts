import { createHash } from 'node:crypto'
import { copyFile, link, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sumsOf } from '../core/warehouse/hash.ts'
import { fileNames, layout, type SnapshotId } from '../core/warehouse/layout.ts'
import { manifestText, type Manifest, type Part } from '../core/warehouse/manifest.ts'
import { pointTo, publishedOf } from '../core/warehouse/publish.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { recordVerified, versionsIn } from '../core/warehouse/state-files.ts'
import type { Bench } from './cases.ts'

/**
 * A table of any size that needs little disk: its parts are hard links to parts of `large`, of 250,000 rows
 * each.
 */
export interface LinkedTable {
  readonly name: string
  readonly rows: number
  readonly keys?: string
  readonly manifest?: Partial<Manifest>
}

export async function linkTables(
  { environment }: Bench,
  folder: string,
  tables: readonly LinkedTable[],
): Promise<void> {
  const sourceStore = openStore(String(environment['WAREHOUSE']))
  const sourceManifest = await publishedOf(sourceStore, large)
  if (sourceManifest === null) throw new Error('large is not published')
  const store = openStore(path.join(folder, 'warehouse'))
  for (const table of tables) await linkTable(sourceStore, sourceManifest, store, table)
  const catalogText = await readFile(String(environment['CATALOG']), 'utf8')
  const [, textBefore = '', largeEntry = ''] =
    /^([\s\S]*?)(\n {6}- name: large\n[\s\S]*?)(?=\n {6}- name: )/.exec(catalogText) ?? []
  const entries = tables.map(({ name, keys = '' }) =>
    largeEntry.replace('name: large\n', `name: ${name}\n${keys === '' ? '' : `        ${keys}\n`}`),
  )
  await writeFile(path.join(folder, 'catalog.yaml'), `${textBefore}${entries.join('')}\n`)
}

const large = { dataset: 'bench', name: 'large' } as const

type Store = ReturnType<typeof openStore>

/** Publishes a table whose parts are hard links to those of `large`, repeated until it has enough rows. */
async function linkTable(
  sourceStore: Store,
  sourceManifest: Manifest,
  store: Store,
  { name, rows, manifest: extraKeys = {} }: LinkedTable,
): Promise<void> {
  const table = { dataset: 'bench', name }
  const sourceFolder = sourceStore.place(layout.snapshot(large, sourceManifest.snapshot))
  const time = sourceManifest.snapshot.slice(0, 16) as `${string}Z`
  const nameHash = createHash('sha256').update(name).digest('hex').slice(0, 12)
  const snapshot: SnapshotId = `${time}-${nameHash}`
  const targetFolder = store.place(layout.snapshot(table, snapshot))
  await mkdir(targetFolder, { recursive: true })
  const parts: Part[] = []
  for (let firstRow = 0; firstRow < rows;) {
    const part = sourceManifest.parts[parts.length % sourceManifest.parts.length]
    if (part === undefined) throw new Error('large has no parts')
    const file = fileNames.part(parts.length)
    await link(path.join(sourceFolder, part.file), path.join(targetFolder, file))
    parts.push({ ...part, file, firstRow })
    firstRow += part.rows
  }
  await copyFile(path.join(sourceFolder, fileNames.report), path.join(targetFolder, fileNames.report))
  const fileEntry = async (file: string) => ({ file, ...(await sumsOf(path.join(targetFolder, file))) })
  const { indexes: _i, dictionary: _d, codes: _c, row_stores: _r, orders: _o, ...otherKeys } = sourceManifest
  const manifest: Manifest = {
    ...otherKeys,
    table: name,
    snapshot,
    previous: null,
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    textBytes: Math.round((sourceManifest.textBytes / sourceManifest.rows) * rows),
    parts,
    files: [await fileEntry(fileNames.report)],
    ...extraKeys,
  }
  await writeFile(path.join(targetFolder, fileNames.manifest), manifestText(manifest))
  await recordVerified(store, table, snapshot, await versionsIn(store, table, manifest))
  await pointTo(store, table, snapshot)
}
