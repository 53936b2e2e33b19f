import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run, startServer, type ServerProgram } from './programs.ts'
import { catalogText, fieldOf, temporaryFolder } from './workshop.ts'

/** The table `d/t` as an operator has it, for the programs themselves: a catalog, a source and a warehouse in a folder. */
export interface OneTable {
  /** Holds all of it, and whatever a test adds. */
  readonly folder: string
  /** Where the programs find it. */
  readonly settings: Readonly<Record<string, string>>
  /** Writes the source and runs an ingest. */
  readonly publish: (csv: string) => Promise<void>
}

/** Its rows, by the first family of addresses. */
export const rows = '/api/v1/dataset/d/t/data/'

/**
 * @param csv the first source, with a header; it is published
 * @param fields such as `n:integer`; the first orders the table
 * @param more keys of the table and of the catalog, and settings besides
 */
export async function oneTable(
  csv: string,
  fields: readonly string[],
  more: {
    readonly table?: object
    readonly catalog?: object
    readonly settings?: (folder: string) => Record<string, string>
  } = {},
): Promise<OneTable> {
  const folder = await temporaryFolder()
  const sources = path.join(folder, 'sources')
  await mkdir(path.join(sources, 'd'), { recursive: true })
  const [first = ''] = fields
  const order = [first.slice(0, first.indexOf(':'))]
  const table = { name: 't', order, fields: fields.map(fieldOf), ...more.table }
  const catalog = JSON.parse(catalogText([table])) as Record<string, unknown>
  await writeFile(path.join(folder, 'catalog.json'), JSON.stringify({ ...catalog, ...more.catalog }))
  const settings = {
    CATALOG: path.join(folder, 'catalog.json'),
    SOURCES: sources,
    WAREHOUSE: path.join(folder, 'warehouse'),
    ...more.settings?.(folder),
  }
  const publish = async (source: string): Promise<void> => {
    await writeFile(path.join(sources, 'd', 't.csv'), source)
    const { code, out } = await run('ingest/main', [], settings)
    if (code !== 0) throw new Error(out)
  }
  await publish(csv)
  return { folder, settings, publish }
}

/** A source of `count` rows, each with its number and whatever else. */
export function numbered(
  count: number,
  header: string,
  rest: (n: number) => readonly unknown[] = () => [],
): string {
  const lines = Array.from({ length: count }, (_, n) => [n, ...rest(n)].join(','))
  return `${header}\n${lines.join('\n')}\n`
}

/** A server of several workers, all of which serve. */
export async function startWorkers(
  settings: Readonly<Record<string, string>>,
  count: number,
): Promise<ServerProgram> {
  const server = await startServer({ ...settings, WORKERS: String(count) })
  await server.says('"all workers serve"')
  return server
}
