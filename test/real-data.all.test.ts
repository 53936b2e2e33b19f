import { createReadStream, existsSync } from 'node:fs'
import path from 'node:path'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import { allTables, tableId, type Catalog, type Field, type Table } from '../core/catalog/catalog.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import type { Outcome } from '../ingest/report.ts'
import { readRows } from './support/evaluator.ts'
import { compareOne, randomFrom } from './support/random-queries.ts'
import { runsOf, seed } from './support/runs.ts'
import { getPage, serve, type Service } from './support/service.ts'
import { workshop } from './support/workshop.ts'
import { describeWith, realFiles } from './support/needs.ts'

/** Real public files, where the setting names their folder; every row is compared with an independent reading. */
const queries = runsOf('QUERIES')
const realData = process.env['ACERVO_REAL_DATA'] ?? ''
const describeWithData = describeWith(
  realData !== '' && existsSync(path.join(realData, 'sources')),
  realFiles,
)

const counts: Readonly<Record<string, number>> = {
  'covid19/boletim': 13_329,
  'covid19/caso': 125_373,
  'covid19/caso_full': 348_811,
  'covid19/obito_cartorio': 9882,
  'eleicoes-brasil/bens_candidatos': 632_810,
  'socios-brasil/empresas': 1678,
  'socios-brasil/holdings': 1028,
  'socios-brasil/socios': 9363,
  'cursos-prouni/cursos': 41_447,
  'genero-nomes/grupos': 50_743,
  'genero-nomes/nomes': 100_787,
  'balneabilidade-bahia/balneabilidade': 25_271,
}

type Cell = string | number | boolean | null

function expected(text: string, { type }: Field): Cell {
  if (text === '') return null
  if (type === 'integer' || type === 'float' || type === 'decimal') return Number(text)
  return type === 'bool' ? text.toLowerCase() === 'true' : text
}

/** Nulls last, whatever the direction; texts by their code points. */
function compare(a: Cell, b: Cell, direction: 'asc' | 'desc'): number {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  return (a < b ? -1 : 1) * (direction === 'asc' ? 1 : -1)
}

/** Each row as the texts of its keys and values in alphabetical order, rows in the declared order. */
async function independentReading(table: Table): Promise<string[]> {
  const file = path.join(realData, 'sources', table.dataset, `${table.name}.csv.gz`)
  const names = table.fields.map((field) => field.name).toSorted()
  const rows: { keys: Cell[]; json: string }[] = []
  const parser = createReadStream(file)
    .pipe(createGunzip())
    .pipe(parse({ columns: true }))
  for await (const texts of parser as AsyncIterable<Record<string, string>>) {
    const row = new Map(table.fields.map((field) => [field.name, expected(texts[field.name] ?? '', field)]))
    rows.push({
      keys: table.order.map(({ field }) => row.get(field) ?? null),
      json: JSON.stringify(names.map((name) => [name, row.get(name)])),
    })
  }
  const byOrder = (a: { keys: Cell[] }, b: { keys: Cell[] }): number => {
    for (const [index, { direction }] of table.order.entries()) {
      const found = compare(a.keys[index] ?? null, b.keys[index] ?? null, direction)
      if (found !== 0) return found
    }
    return 0
  }
  return rows.toSorted(byOrder).map((row) => row.json)
}

describeWithData('real data', () => {
  let catalog: Catalog
  let outcomes: Outcome[]
  let service: Service

  beforeAll(async () => {
    catalog = await loadCatalog('catalog.yaml')
    const shop = await workshop(catalog)
    outcomes = await shop.ingest({ sources: path.join(realData, 'sources'), memoryBytes: 1e9, jobs: 2 })
    service = await serve(shop)
  }, 120_000)

  afterAll(() => {
    service.snapshots.stop()
  })

  test('publishes the tables with exactly their rows', () => {
    const published = outcomes.flatMap((outcome) =>
      outcome.status === 'published' ? [[tableId(outcome.table), outcome.manifest.rows]] : [],
    )
    expect(Object.fromEntries(published)).toEqual(counts)
    expect(outcomes.filter((outcome) => outcome.status === 'skipped')).toHaveLength(9)
  })

  // The default size for one, many pages of the longest one that has many columns, the largest size for the rest.
  test.each(Object.keys(counts))(
    'every page of %s gives, value for value and in the declared order, what an independent parser reads',
    async (id) => {
      const table = allTables(catalog).find((candidate) => tableId(candidate) === id)
      if (table === undefined) throw new Error(`no table ${id}`)
      const rows = await independentReading(table)
      const sizes: Readonly<Record<string, string>> = { boletim: '', caso_full: '?page_size=1000' }
      const size = sizes[table.name] ?? '?page_size=10000'
      let position = 0
      for (let next: string | null = `/api/v1/dataset/${id}/data/${size}`; next !== null;) {
        const page = await getPage(service.app, next)
        const got = page.results.map((row) => JSON.stringify(Object.entries(row)))
        const wanted = rows.slice(position, position + got.length)
        const different = got.findIndex((row, index) => row !== wanted[index])
        expect([got[different], different]).toEqual([wanted[different], -1])
        position += got.length
        next = page.next
      }
      expect(position).toBe(counts[id])
    },
    120_000,
  )

  test(
    'random queries over real tables answer what a second reading finds',
    async () => {
      const random = randomFrom(seed)
      const differences: string[] = []
      // More of the small tables, where a query is worked out a hundred times as fast.
      const weights = Object.values(counts).map((rows) => 1 / Math.sqrt(rows))
      const all = weights.reduce((sum, weight) => sum + weight, 0)
      let asked = 0
      for (const id of Object.keys(counts)) {
        const table = allTables(catalog).find((candidate) => tableId(candidate) === id)
        if (table === undefined) throw new Error(`no table ${id}`)
        const rows = await readRows(path.join(realData, 'sources', `${id}.csv.gz`), table)
        const due = (queries * (1 / Math.sqrt(counts[id] ?? 1))) / all
        for (let ask = 0; ask < due; ask += 1, asked += 1) {
          const difference = await compareOne(service, table, rows, random)
          if (difference !== null) differences.push(difference)
        }
      }
      expect(asked).toBeGreaterThanOrEqual(queries)
      expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
    },
    600_000 + queries * 200,
  )
})
