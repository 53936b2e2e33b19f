import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseCatalog } from '../../core/catalog/load.ts'
import { run, startServer, type ServerProgram } from './programs.ts'
import { catalogText, fieldOf, workshop } from './workshop.ts'

/** The table `d/t` as an operator has it, for the programs themselves: a catalog, a source and a warehouse in a folder. */
export interface OneTable {
  /** Folder of everything, including files of the test. */
  readonly folder: string
  /** Settings that programs need. */
  readonly settings: Readonly<Record<string, string>>
  /** Writes the source and ingests it. */
  readonly publish: (csv: string) => Promise<void>
}

/** Its rows, by the first family of addresses. */
export const rows = '/api/v1/dataset/d/t/data/'

/**
 * @param csv the first source, with a header; it is published
 * @param fields such as `n:integer`; the first orders the table
 * @param options keys of the table and of the catalog, and settings, with which the ingest program publishes
 */
export async function oneTable(
  csv: string,
  fields: readonly string[],
  options: {
    readonly table?: object
    readonly catalog?: object
    readonly settings?: (folder: string) => Record<string, string>
  } = {},
): Promise<OneTable> {
  const [first = ''] = fields
  const order = [first.slice(0, first.indexOf(':'))]
  const table = { name: 't', order, fields: fields.map(fieldOf), ...options.table }
  const catalog = JSON.parse(catalogText([table])) as Record<string, unknown>
  const text = JSON.stringify({ ...catalog, ...options.catalog })
  const { sources, warehouse, write, ingest } = await workshop(parseCatalog(text, 'catalog.json'))
  const folder = path.dirname(warehouse)
  await writeFile(path.join(folder, 'catalog.json'), text)
  const settings = {
    CATALOG: path.join(folder, 'catalog.json'),
    SOURCES: sources,
    WAREHOUSE: warehouse,
    ...options.settings?.(folder),
  }
  const publish = async (source: string): Promise<void> => {
    await write('d/t.csv', source)
    if (options.settings === undefined) {
      // Starting the program costs a second, and most tests are not about it.
      const [outcome] = await ingest({ now: () => new Date() })
      if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
      return
    }
    const { code, out } = await run('ingest', [], settings)
    if (code !== 0) throw new Error(out)
  }
  await publish(csv)
  return { folder, settings, publish }
}

/** A source of `count` rows, each with its number and further columns. */
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
  await server.says('"all workers started"')
  return server
}
