import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { allTables, tableId } from '../core/catalog/catalog.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import { publishViews } from '../ingest/publish/views.ts'
import { copySamples } from '../ingest/sample/copy.ts'
import { getPage, serve } from './support/service.ts'
import { temporaryFolder, workshop, type Workshop } from './support/workshop.ts'
import { describeWith, pythonClients } from './support/needs.ts'

/**
 * The queries of warehouse/README.md in the clients that analysts use. ACERVO_CLIENTS names the bin folder of a Python
 * environment with duckdb, duckdb-cli, pandas and polars.
 */
const clients = process.env['ACERVO_CLIENTS'] ?? ''

const hasR = spawnSync('Rscript', ['--version']).status === 0

const run = promisify(execFile)
const readme = (language: string, text: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, code = '']) => code)

describeWith(clients !== '', pythonClients)('analysts', () => {
  let shop: Workshop
  let text: string
  let cwd: string
  beforeAll(async () => {
    text = await readFile('warehouse/README.md', 'utf8')
    const catalog = await loadCatalog('catalog.yaml')
    shop = await workshop(catalog)
    const wanted = new Set(['covid19/caso_full', 'eleicoes-brasil/bens_candidatos'])
    const tables = allTables(catalog).filter((table) => wanted.has(tableId(table)))
    await copySamples(shop.sources, tables)
    await shop.ingest({ tables: ['caso_full', 'bens_candidatos'] })
    await publishViews(shop.store, catalog)
    // As from the root of the project, and from nowhere near it.
    cwd = await temporaryFolder()
    await symlink(shop.warehouse, path.join(cwd, 'warehouse'))
  }, 60_000)

  test('run each of the five queries of the README in the DuckDB shell', async () => {
    const queries = (readme('sql', text)[0] ?? '').split(/;\n/).filter((query) => query.trim() !== '')
    expect(queries).toHaveLength(5)
    for (const query of queries) {
      const args = ['-readonly', '-json', '-c', query, 'warehouse/warehouse.duckdb']
      const { stdout } = await run(path.join(clients, 'duckdb'), args, { cwd })
      expect((JSON.parse(stdout) as unknown[]).length).toBeGreaterThan(0)
    }
  }, 60_000)

  test('run each Python snippet of the README', async () => {
    const snippets = readme('python', text)
    expect(snippets).toHaveLength(3)
    for (const snippet of snippets) {
      await writeFile(path.join(cwd, 'snippet.py'), snippet)
      const { stdout } = await run(path.join(clients, 'python'), ['snippet.py'], { cwd })
      expect(stdout).not.toBe('')
    }
  }, 120_000)

  test('see the columns and comments of the catalog', async () => {
    const sql = `select table_name, column_name, data_type, comment from duckdb_columns()
      where schema_name = 'covid19' order by column_index limit 3`
    const { stdout } = await run(
      path.join(clients, 'duckdb'),
      ['-readonly', '-json', 'warehouse/warehouse.duckdb', sql],
      { cwd },
    )
    expect(JSON.parse(stdout)).toEqual([
      {
        table_name: 'caso_full',
        column_name: 'epidemiological_week',
        data_type: 'BIGINT',
        comment: 'Semana epidemiológica (integer)',
      },
      { table_name: 'caso_full', column_name: 'date', data_type: 'VARCHAR', comment: 'Dia (string)' },
      {
        table_name: 'caso_full',
        column_name: 'order_for_place',
        data_type: 'BIGINT',
        comment: 'Número de ordem no local (integer)',
      },
    ])
  }, 60_000)

  describe('who read from the address of a page or an export', () => {
    let server: http.Server
    let base: string
    let app: Parameters<typeof getPage>[0]
    beforeAll(async () => {
      ;({ app } = await serve(shop))
      server = http.createServer(app).listen(0, '127.0.0.1')
      await once(server, 'listening')
      base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/dataset/covid19/caso_full`
    })
    afterAll(() => {
      server.closeAllConnections()
      server.close()
    })

    /** Pages of 50 rows and exports, with a condition and without, as CSV; and how many rows each has. */
    async function readings(): Promise<{ addresses: string[]; rows: number[] }> {
      const page = `/api/v1/dataset/covid19/caso_full/data/?page_size=1`
      const [{ count: total }, { count: matching }] = [
        await getPage(app, page),
        await getPage(app, `${page}&order_for_place__gt=5`),
      ]
      const queries: [query: string, rows: number][] = [
        ['data/?page_size=50', 50],
        ['data/?order_for_place__gt=5&page_size=50', 50],
        ['export/?order_for_place__gt=5', matching],
        ['export/?order_for_place__gt=5&ordering=-date', matching],
        ['export/?', total],
      ]
      return {
        addresses: queries.map(([query]) => `${base}/${query}&format=csv`.replace('?&', '?')),
        rows: queries.map(([, rows]) => rows),
      }
    }

    test('get every row in pandas, polars, DuckDB and pyarrow', async () => {
      const script = `import glob, os, sys, urllib.request, duckdb, duckdb_extension_httpfs, pandas, polars, pyarrow.csv
extension = glob.glob(os.path.join(os.path.dirname(duckdb_extension_httpfs.__file__), 'extensions', '*', '*.duckdb_extension'))[0]
duckdb.execute(f"load '{extension}'")
for address in sys.argv[1:]:
  lines = address.replace('=csv', '=ndjson')
  print(len(pandas.read_csv(address)), polars.read_csv(address, infer_schema_length=None).height, polars.scan_csv(address, infer_schema_length=None).collect().height,
    polars.read_ndjson(lines, infer_schema_length=None).height, duckdb.sql(f"from read_csv('{address}')").count('*').fetchone()[0],
    duckdb.sql(f"from read_json('{lines}')").count('*').fetchone()[0], pyarrow.csv.read_csv(urllib.request.urlopen(address)).num_rows)
# Their threads, which end in any order, are not asked to.
sys.stdout.flush()
os._exit(0)`
      const { addresses, rows } = await readings()
      const { stdout } = await run(path.join(clients, 'python'), ['-c', script, ...addresses], { cwd })
      const due = rows.map((count) => Array.from({ length: 7 }, () => count).join(' '))
      expect(stdout.trim().split('\n')).toEqual(due)
    }, 120_000)

    test('get a compressed export in pandas', async () => {
      const script = `import sys, urllib.request, pandas
packed = {'Accept-Encoding': 'gzip'}
print(len(pandas.read_csv(sys.argv[1], storage_options=packed)),
  urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers=packed)).headers['Content-Encoding'])`
      const { addresses, rows } = await readings()
      const { stdout } = await run(path.join(clients, 'python'), ['-c', script, addresses.at(-1) ?? ''], {
        cwd,
      })
      expect(stdout.trim()).toBe(`${rows.at(-1)} gzip`)
    }, 120_000)

    describeWith(hasR, 'R (Debian: r-base-core)')('with R', () => {
      test('get every row in base R, readr and data.table', async () => {
        const script = `for (address in commandArgs(TRUE))
  cat(nrow(read.csv(address)), nrow(readr::read_csv(address, show_col_types = FALSE)), nrow(data.table::fread(address, showProgress = FALSE)), "\n")`
        const { addresses, rows } = await readings()
        const { stdout } = await run('Rscript', ['-e', script, ...addresses], { cwd })
        expect(stdout.trim().split(/\s*\n/)).toEqual(rows.map((count) => `${count} ${count} ${count}`))
      }, 120_000)
    })
  })

  test('attach the address of a service in DuckDB, and read its public parts', async () => {
    const home = await temporaryFolder()
    const extension = `import duckdb_extension_httpfs, glob, os
print(glob.glob(os.path.join(os.path.dirname(duckdb_extension_httpfs.__file__), 'extensions', '*', '*.duckdb_extension'))[0])`
    const answer = await run(path.join(clients, 'python'), ['-c', extension])
    const gate: { app: http.RequestListener } = { app: (_req, res) => res.end() }
    const server = http.createServer((req, res) => gate.app(req, res)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const service = await serve(shop, { publicUrl: new URL(address) })
    gate.app = service.app
    await mkdir(path.join(home, 'x'))
    const sql = `load '${answer.stdout.trim()}'; attach '${address}/files/warehouse.duckdb' as acervo;
      select count(*) as rows, max(date) as last from acervo.covid19.caso_full`
    try {
      const { stdout } = await run(path.join(clients, 'duckdb'), ['-json', '-c', sql], {
        cwd: path.join(home, 'x'),
      })
      const local = 'select count(*) as rows, max(date) as last from covid19.caso_full'
      const printed = await run(
        path.join(clients, 'duckdb'),
        ['-readonly', '-json', 'warehouse/warehouse.duckdb', local],
        { cwd },
      )
      expect(JSON.parse(stdout)).toEqual(JSON.parse(printed.stdout))
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }, 60_000)
})
