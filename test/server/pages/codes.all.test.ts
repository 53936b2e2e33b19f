import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import http from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { allTables, tableId, type Field, type Table } from '../../../core/catalog/catalog.ts'
import { randomQuery, readRows, type Row } from '../../evaluator/rows.ts'
import { cellIn, rowCountOn, textIn } from './markup.ts'
import { freePort } from '../../support/ports.ts'
import { randomFrom } from '../../evaluator/random-queries.ts'
import { runsOf, seed } from '../../support/runs.ts'
import { randomAggregate } from '../../evaluator/aggregates.ts'
import { rawGet, serve } from '../../support/service.ts'
import { catalogAround, fieldOf, temporaryFolder, workshop } from '../../support/workshop.ts'
import { describeWith, pythonClients } from '../../support/needs.ts'
import { publishSamples } from '../../support/samples.ts'

/**
 * The lines that a page gives to bring what it shows into a program: they are run as they are printed, with the real
 * clients of ACERVO_CLIENTS (see `test/clients.test.ts`), and must bring the rows of the page.
 */
const clients = process.env['ACERVO_CLIENTS'] ?? ''
const describeWithClients = describeWith(clients !== '', pythonClients)
const run = promisify(execFile)
const asks = runsOf('CODES')

/** The lines one after the other, each with its rows as JSON lists of texts, from the first of the page on. */
const driver = `
import json, sys, decimal, datetime
def text(value):
    if value is None or value is pandas.NA or (isinstance(value, float) and value != value): return None
    if isinstance(value, bool): return 'true' if value else 'false'
    if isinstance(value, datetime.datetime): return value.isoformat(sep=' ')
    return str(value)
import pandas
for line in sys.stdin:
    ask = json.loads(line)
    space = {}
    exec(ask['code'], space)
    rows = space['rows']
    if ask['kind'] == 'pandas':
        names, table = list(rows.columns), [list(row) for row in rows.itertuples(index=False, name=None)]
    else:
        names, table = rows.columns, rows.rows()
    part = [[text(value) for value in row] for row in table[ask['first']:ask['first'] + ask['rows']]]
    print(json.dumps([names, len(table), part]), flush=True)
`

describeWithClients('the code on a page', () => {
  let server: http.Server
  let base: string
  let home: string
  let refusing: http.RequestListener
  let answering: http.RequestListener
  let tables: { table: Table; rows: Row[] }[]
  beforeAll(async () => {
    const wanted = new Set(['caso_full', 'bens_candidatos', 'filiados', 'nomes'])
    const shop = await publishSamples(({ name }) => wanted.has(name))
    const port = await freePort()
    base = `http://localhost:${port}`
    const { app } = await serve(shop, { publicUrl: new URL(base) })
    server = http.createServer(app).listen(port, 'localhost')
    await once(server, 'listening')
    tables = await Promise.all(
      // Titles of values are those of the pages.
      allTables(shop.catalog.inLanguage.get('en') ?? shop.catalog).map(async (table) => ({
        table,
        rows: await readRows(path.join(shop.sources, `${tableId(table)}.csv`), table),
      })),
    )
    home = await homeWithHttpfs()
    refusing = (await serve(shop, { publicUrl: new URL(base), groupBytesMax: -1 })).app
    answering = app
  }, 120_000)
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  test(`gives the rows of its page, for ${asks} random requests`, async () => {
    const random = randomFrom(seed)
    const printed: Printed[] = []
    while (printed.length < asks) {
      const match = tables[printed.length % tables.length]
      if (match === undefined) throw new Error('no table')
      const { query } = randomQuery(random, match.table, match.rows)
      for (const name of ['page', 'page_size', 'format']) query.delete(name)
      const names = match.table.fields.map(({ name }) => name)
      const asked = query.get('fields')?.split(',') ?? names
      // A page shows the default columns, and its codes bring all.
      query.set('fields', asked.join())
      const page = `${base}/en/dataset/${tableId(match.table)}/?${query.toString()}`
      const lines = await printedOn(
        page,
        match.table.fields.filter(({ name }) => asked.includes(name)),
      )
      if (lines !== null) printed.push(lines)
    }
    const python = printed.flatMap(({ codes, ...rest }) =>
      (['pandas', 'polars'] as const).map((kind) => ({
        kind,
        code: codes[`Python: ${kind}`] ?? '',
        ...rest,
      })),
    )
    await writeFile(path.join(home, 'driver.py'), driver)
    const running = run(path.join(clients, 'python'), ['driver.py'], { cwd: home, maxBuffer: 1e9 })
    running.child.stdin?.end(python.map((example) => `${JSON.stringify(example)}\n`).join(''))
    const answers = (await running).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as [string[], number, string[][]])
    const wrong: unknown[] = []
    for (const [index, { kind, page, names, count, shown }] of python.entries()) {
      const got = answers[index]
      if (JSON.stringify(plain(got)) !== JSON.stringify(plain([names, count, shown])))
        wrong.push([kind, page, got?.[2]?.slice(0, 2), shown.slice(0, 2)])
    }
    const faulty: unknown[] = []
    for (const { codes, page, names, count, shown } of printed) {
      // Google Sheets and Power Query run nowhere but on their own machines: their addresses are read as CSV.
      const { 'Google Sheets': sheets = '', 'Excel, Power BI: Power Query': power = '' } = codes
      if (!(await isPowerQuery(power))) faulty.push([page, power])
      const addresses = [
        /^=IMPORTDATA\("([^"]+)"\)$/.exec(sheets)?.[1],
        /Web\.Contents\("([^"]+)"\)/.exec(power)?.[1],
      ]
      for (const address of addresses) {
        const got = fromCsv(await (await fetch(address ?? '')).text())
        const isSame =
          JSON.stringify(plain([got[0], got[1], got[2].slice(0, shown.length)])) ===
          JSON.stringify(plain([names, count, shown]))
        if (!isSame) faulty.push([page, address])
      }
      const duckdb = await throughDuckDb(codes['DuckDB'] ?? '', home)
      const curled = await throughCurl(codes['curl'] ?? '', home)
      for (const [kind, got] of [
        ['DuckDB', duckdb],
        ['curl', curled],
      ] as const) {
        const due = [names, count, shown]
        const cut = [got[0], got[1], got[2].slice(0, shown.length)] as const
        if (
          JSON.stringify(plain(cut)) !== JSON.stringify(plain(due as [string[], number, (string | null)[][]]))
        )
          wrong.push([kind, page, cut[2].slice(0, 2), shown.slice(0, 2)])
      }
    }
    expect({ seed, wrong: wrong.slice(0, 3), of: wrong.length, faulty }).toEqual({
      seed,
      wrong: [],
      of: 0,
      faulty: [],
    })
  }, 900_000)

  test('includes a Power Query of all pages if an export would have too many rows', async () => {
    const fields = [fieldOf('n:integer'), fieldOf('t:string')]
    const shop = await workshop(catalogAround([{ name: 't', order: ['n'], fields, export_rows: 1 }]), {
      'd/t.csv': 'n,t\n1,a\n2,b\n',
    })
    await shop.ingest()
    const { app, close } = await serve(shop)
    const page = textIn((await rawGet(app, '/en/dataset/d/t/api/', { Accept: 'text/html' })).body.toString())
    const [power = ''] = /let\s+Get =.*?in\s+Rows/s.exec(page) ?? []
    expect([await isPowerQuery(power), await isPowerQuery(power.replace('Get =', 'Get'))]).toEqual([
      true,
      false,
    ])
    const { pathname, search } = new URL(/http[^"]+/.exec(power)?.[0] ?? '')
    const { body } = await rawGet(app, pathname + search)
    expect(JSON.parse(body.toString())).toMatchObject({ next: null, results: [{ n: 1 }, { n: 2 }] })
    await close()
  })

  test('contains SQL that gives the groups, if an aggregate is refused', async () => {
    const random = randomFrom(seed)
    for (let left = asks; left > 0; left -= 1) {
      const match = tables[left % tables.length]
      if (match === undefined) throw new Error('no table')
      const { query } = randomAggregate(random, match.table, match.rows)
      query.delete('page')
      query.set('page_size', '10000')
      const address = `/api/v1/dataset/${tableId(match.table)}/aggregate/?${query.toString()}`
      const { body } = await rawGet(refusing, address)
      const { sql } = JSON.parse(body.toString()) as { readonly sql: string }
      const [names, count, groups] = await throughDuckDb(sql, home)
      const [due, dueCount, dueRows] = fromCsv(
        (await rawGet(answering, `${address}&format=csv`)).body.toString(),
      )
      // DuckDB computes averages, medians and sums of floats as doubles.
      const isDouble = due.map((name) => /__(avg|median|sum)$/.test(name))
      const compared = (rows: Shown[2]): unknown =>
        rows
          .map((row) => row.map((cell, at) => (isDouble[at] === true ? ofDouble(cell) : cellOf(cell))))
          .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
      expect([address, names, count, compared(groups)]).toEqual([address, due, dueCount, compared(dueRows)])
    }
  }, 300_000)
})

interface PowerQueryParser {
  readonly DefaultSettings: unknown
  readonly TaskUtils: {
    readonly tryLexParse: (settings: unknown, text: string) => Promise<unknown>
    readonly isParseStageOk: (task: unknown) => boolean
  }
}

/** Returns whether Microsoft's parser reads a text as a query in M. */
async function isPowerQuery(text: string): Promise<boolean> {
  const { DefaultSettings, TaskUtils } = createRequire(path.join(clients, '..', 'package.json'))(
    '@microsoft/powerquery-parser',
  ) as PowerQueryParser
  return TaskUtils.isParseStageOk(await TaskUtils.tryLexParse(DefaultSettings, text))
}

interface Printed {
  readonly page: string
  readonly codes: Readonly<Record<string, string>>
  /** In alphabetical order, as files have them. */
  readonly names: readonly string[]
  readonly count: number
  readonly first: number
  readonly rows: number
  /** The rows of the page, of the API in the same words. */
  readonly shown: readonly (readonly (string | null)[])[]
}

async function textAt(page: string): Promise<string> {
  return (await fetch(page, { headers: { Accept: 'text/html' } })).text()
}

/**
 * Null where the page has no rows to compare.
 * @param columns names in the order of the page
 */
async function printedOn(page: string, columns: readonly Field[]): Promise<Printed | null> {
  const text = await textAt(page)
  const api = await textAt(page.replace('/?', '/api/?'))
  const codes = Object.fromEntries(
    [...api.matchAll(/<summary>([^<]*)<\/summary\s*>\s*<pre[^>]*>\s*<code[^>]*>(.*?)<\/code>/gs)].map(
      ([, name = '', code = '']) => [textIn(name), textIn(code)],
    ),
  )
  const shownCount = rowCountOn(text)
  if (shownCount === undefined) return null
  const lines = [...text.matchAll(/<tr>\s*<th scope="row">(.*?)<\/tr>/gs)].map(([, line = '']) =>
    [...line.matchAll(/<td([^>]*)>(.*?)<\/td>/gs)].map(([, head = '', cell = ''], index) => {
      if (head.includes('class="null')) return null
      const value = cellIn(cell.replace(/<summary>.*?<\/summary>/s, ''), head).trim()
      const column = columns[index]
      // Pages write truth values in words, and others by their titles.
      if (column?.type === 'bool') return String(value === 'yes')
      return [...(column?.valueTitles ?? [])].find(([, title]) => title === value)?.[0] ?? value
    }),
  )
  const order = columns
    .map(({ name }, index) => ({ name, index }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return {
    page,
    codes,
    names: order.map(({ name }) => name),
    count: Number(shownCount.replaceAll(',', '')),
    first: 0,
    rows: lines.length,
    shown: lines.map((line) => order.map(({ index }) => line[index] ?? null)),
  }
}

type Shown = readonly [names: readonly string[], count: number, rows: readonly (readonly (string | null)[])[]]

/** Numbers by their value, long texts by their beginning. */
function cellOf(text: string | null): unknown {
  if (text === null || text === '') return null
  if (/^-?[\d.]+(e[+-]?\d+)?$/i.test(text)) return Number(text)
  return text.replace('T', ' ').replaceAll(/\s+/g, ' ').slice(0, 250)
}

/** The 12 leading digits of a number. */
function ofDouble(text: string | null): unknown {
  return text === null || text === '' ? null : Number(text).toPrecision(12)
}

/** Cells as they can be compared: numbers by their value, long texts by their beginning, as a page shows them. */
function plain(got: Shown | undefined): unknown {
  if (got === undefined) return null
  const [names, count, rows] = got
  // The file of a whole table has its columns as declared, other files in alphabetical order.
  const order = names
    .map((_, index) => index)
    .toSorted((a, b) => ((names[a] ?? '') < (names[b] ?? '') ? -1 : 1))
  return [
    order.map((index) => names[index]),
    count,
    rows.map((row) => order.map((index) => cellOf(row[index] ?? null))),
  ]
}

async function throughDuckDb(code: string, home: string): Promise<Shown> {
  const file = path.join(home, 'lines.sql')
  // The lines as they are, to the end of the statement that has the rows.
  await writeFile(file, `.mode csv\n.nullvalue ""\n${code}\n`)
  const { stdout } = await run(path.join(clients, 'duckdb'), ['-c', `.read ${file}`], {
    cwd: home,
    env: { ...process.env, HOME: home },
    maxBuffer: 1e9,
  })
  return fromCsv(stdout)
}

async function throughCurl(code: string, home: string): Promise<Shown> {
  await run('sh', ['-c', code], { cwd: home })
  const file = / -o (\S+)$/.exec(code)?.[1] ?? ''
  return fromCsv(await readFile(path.join(home, file), 'utf8'))
}

function fromCsv(text: string): Shown {
  const [names = [], ...rows] = parse(text) as readonly string[][]
  return [names, rows.length, rows]
}

/** A home folder in which DuckDB finds the extension that its INSTALL would fetch. */
async function homeWithHttpfs(): Promise<string> {
  const home = await temporaryFolder()
  const script = `import duckdb, duckdb_extension_httpfs, glob, os
print(glob.glob(os.path.join(os.path.dirname(duckdb_extension_httpfs.__file__), 'extensions', '*', '*.duckdb_extension'))[0])
print(duckdb.sql("pragma platform").fetchone()[0])
print(duckdb.__version__)`
  const { stdout } = await run(path.join(clients, 'python'), ['-c', script])
  const [file = '', platform = '', version = ''] = stdout.trim().split('\n')
  const folder = path.join(home, '.duckdb/extensions', `v${version}`, platform)
  await mkdir(folder, { recursive: true })
  await copyFile(file, path.join(folder, 'httpfs.duckdb_extension'))
  return home
}
