import { existsSync } from 'node:fs'
import { copyFile, link, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createHash } from 'node:crypto'
import { checksText, parseChecks } from '../core/warehouse/checks-text.ts'
import type { FileChecks } from '../core/warehouse/file-checks.ts'
import { sumsOf } from '../core/warehouse/hash.ts'
import { fileNames, layout, type SnapshotId } from '../core/warehouse/layout.ts'
import type { Manifest, Part } from '../core/warehouse/manifest.ts'
import { pointTo, publishedOf } from '../core/warehouse/published.ts'
import { manifestText } from '../core/warehouse/manifest.ts'
import { openStore } from '../core/warehouse/stores/open.ts'
import { noteVerified, versionsIn } from '../core/warehouse/verified.ts'
import { bareLine, leastOf, noCaches, type Bench, type Line } from './cases.ts'
import { measure, startService } from './servers.ts'

/** Parts of 262,144 rows of the large table, linked again and again: a table of a billion rows, and one of a million. */
const sizes = { billion: 1_000_000_000, million: 1_000_000 } as const
type Linked = keyof typeof sizes

/** Pages at the ends and in the middle of a billion rows, and what a server needs for such a table. */
export async function billion(bench: Bench, scale: number): Promise<Line[]> {
  const folder = path.join(bench.folder, 'billion')
  const environment = {
    ...bench.environment,
    ...noCaches,
    CATALOG: path.join(folder, 'catalog.yaml'),
    WAREHOUSE: path.join(folder, 'warehouse'),
  }
  if (!existsSync(environment.CATALOG)) await linkTables(bench, folder, scale)
  const began = performance.now()
  const service = await startService(environment)
  try {
    const page = (table: Linked, number: number | 'last'): string =>
      `/api/v1/dataset/bench/${table}/data/?page_size=100&page=${number}`
    const first = await fetch(`http://127.0.0.1:${service.port}${page('billion', 1)}`)
    const { count } = (await first.json()) as { count: number }
    const servedMs = performance.now() - began
    const targets = {
      first: () => page('billion', 1),
      middle: () => page('billion', Math.floor(count / 200)),
      last: () => page('billion', 'last'),
      million: () => page('million', 5000),
    } as const
    const found = new Map<string, number[]>()
    let rss = 0
    for (let round = 0; round < 2 * bench.rounds + 1; round += 1) {
      for (const [name, target] of Object.entries(targets)) {
        const { cpuMs, rssMaxMb } = await measure(service, { connections: 1, requests: 100, target })
        rss = Math.max(rss, rssMaxMb)
        // The first round only warms up.
        if (round > 0) found.set(name, [...(found.get(name) ?? []), cpuMs])
      }
    }
    const cpu = (name: keyof typeof targets): number => leastOf(found.get(name) ?? [])
    const rows = `${(count / 1e6).toFixed(0)} M rows`
    return [
      bareLine(
        `last page of ${rows} to the first, cold, CPU`,
        'ms',
        cpu('last'),
        cpu('first'),
        ['<=', 1.1],
        '',
      ),
      bareLine(`the one in the middle to the first, CPU`, 'ms', cpu('middle'), cpu('first'), ['<=', 1.1], ''),
      bareLine(
        `the one in the middle to one of a million rows, CPU`,
        'ms',
        cpu('middle'),
        cpu('million'),
        ['<=', 1.2],
        '',
      ),
      bareLine('until it is served', 's', servedMs / 1000, null, ['<', 5], ''),
      bareLine('most memory', 'MB', rss, null, ['<', 1000], ''),
    ]
  } finally {
    await service.stop()
  }
}

async function linkTables({ environment }: Bench, folder: string, scale: number): Promise<void> {
  const from = openStore(String(environment['WAREHOUSE']))
  const source = await publishedOf(from, { dataset: 'bench', name: 'large' })
  if (source === null) throw new Error('large is not published')
  const store = openStore(path.join(folder, 'warehouse'))
  for (const [name, rows] of Object.entries(sizes) as [Linked, number][])
    await linkTable(from, source, store, name, Math.max(1, Math.round(rows * scale)))
  const catalog = await readFile(String(environment['CATALOG']), 'utf8')
  const [head = '', large = ''] =
    /^([\s\S]*?)(\n {6}- name: large\n[\s\S]*?)(?=\n {6}- name: )/.exec(catalog)?.slice(1) ?? []
  const tables = Object.keys(sizes).map((name) => large.replace('name: large', `name: ${name}`))
  await writeFile(path.join(folder, 'catalog.yaml'), `${head}${tables.join('')}\n`)
}

type Store = ReturnType<typeof openStore>

/** A snapshot whose parts are those of another, one after the other, until it has so many rows. */
async function linkTable(
  from: Store,
  source: Manifest,
  store: Store,
  name: Linked,
  rows: number,
): Promise<void> {
  const table = { dataset: 'bench', name }
  const home = from.place(layout.snapshot({ dataset: 'bench', name: 'large' }, source.snapshot))
  const snapshot: SnapshotId = `${source.snapshot.slice(0, 16) as `${string}Z`}-${createHash('sha256').update(name).digest('hex').slice(0, 12)}`
  const target = store.place(layout.snapshot(table, snapshot))
  await mkdir(target, { recursive: true })
  const known = parseChecks(
    String(
      await from.get(
        `${layout.snapshot({ dataset: 'bench', name: 'large' }, source.snapshot)}/${fileNames.checks}`,
      ),
    ),
  )
  const checks = new Map<string, FileChecks>()
  const parts: Part[] = []
  for (let firstRow = 0; firstRow < rows;) {
    const part = source.parts[parts.length % source.parts.length]
    if (part === undefined) throw new Error('large has no parts')
    const file = fileNames.part(parts.length)
    await link(path.join(home, part.file), path.join(target, file))
    parts.push({ ...part, file, firstRow })
    const own = known.get(part.file)
    if (own !== undefined) checks.set(file, own)
    firstRow += part.rows
  }
  await copyFile(path.join(home, fileNames.report), path.join(target, fileNames.report))
  await writeFile(path.join(target, fileNames.checks), checksText(checks))
  const stored = async (file: string) => ({ file, ...(await sumsOf(path.join(target, file))) })
  const { indexes: _i, dictionary: _d, codes: _c, packs: _p, orders: _o, ...kept } = source
  const manifest: Manifest = {
    ...kept,
    table: name,
    snapshot,
    previous: null,
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    textBytes: Math.round((source.textBytes / source.rows) * rows),
    parts,
    files: [await stored(fileNames.report)],
    checks: await stored(fileNames.checks),
  }
  await writeFile(path.join(target, fileNames.manifest), manifestText(manifest))
  await noteVerified(store, table, snapshot, await versionsIn(store, table, manifest))
  await pointTo(store, table, snapshot)
}
