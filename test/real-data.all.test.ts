import { existsSync } from 'node:fs'
import path from 'node:path'
import { allTables, tableId, type Catalog, type Table } from '../core/catalog/catalog.ts'
import { loadCatalog } from '../core/catalog/load.ts'
import type { Outcome } from '../ingest/job/report.ts'
import { compareAggregate } from './evaluator/aggregates.ts'
import { readRows, type Row } from './evaluator/rows.ts'
import { compareOne, randomFrom, rowTexts } from './evaluator/random-queries.ts'
import { isExhaustive, runsOf, seed } from './support/runs.ts'
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

/** More queries of the small tables, where one is worked out a hundred times as fast. */
const weightOf = (id: string): number => 1 / Math.sqrt(counts[id] ?? 1)
const allWeights = Object.keys(counts).reduce((sum, id) => sum + weightOf(id), 0)

describeWithData('real data', () => {
  let catalog: Catalog
  let outcomes: Outcome[]
  let service: Service

  beforeAll(async () => {
    catalog = await loadCatalog('catalog.yaml')
    const shop = await workshop(catalog)
    outcomes = await shop.ingest({ sources: path.join(realData, 'sources'), memoryBytes: 1e9, jobs: 2 })
    service = await serve(shop)
  }, 300_000)

  afterAll(() => {
    service.snapshots.stop()
  })

  test('is published by an ingest with exactly its rows', () => {
    const published = outcomes.flatMap((outcome) =>
      outcome.status === 'published' ? [[tableId(outcome.table), outcome.manifest.rows]] : [],
    )
    expect(Object.fromEntries(published)).toEqual(counts)
    expect(outcomes.filter((outcome) => outcome.status === 'skipped')).toHaveLength(9)
  })

  describe.each(Object.keys(counts))('%s', (id) => {
    let table: Table
    let rows: readonly Row[] = []
    beforeAll(async () => {
      const match = allTables(catalog).find((candidate) => tableId(candidate) === id)
      if (match === undefined) throw new Error(`no table ${id}`)
      table = match
      rows = await readRows(path.join(realData, 'sources', `${id}.csv.gz`), table)
    }, 120_000)
    afterAll(() => {
      rows = []
    })

    const sizes: Readonly<Record<string, number>> = { 'covid19/boletim': 100, 'covid19/caso_full': 1000 }
    test('has pages with the same values, in the declared order, as an independent parser reads', async () => {
      const size = sizes[id] ?? 10_000
      const pages = Math.ceil((counts[id] ?? 0) / size)
      expect(rows).toHaveLength(counts[id] ?? 0)
      // Each run takes another third of the pages of a large table.
      const step = isExhaustive || pages < 20 ? 1 : 3
      const tried = Array.from({ length: pages }, (_, index) => index).filter(
        (index) => (index + seed) % step === 0 || index === pages - 1,
      )
      for (const index of tried) {
        const page = await getPage(
          service.app,
          `/api/v1/dataset/${id}/data/?page=${index + 1}&page_size=${size}`,
        )
        const due = rows.slice(index * size, (index + 1) * size)
        const got = page.results.map((row) => JSON.stringify(row))
        const wanted = rowTexts(table, due)
        const different = wanted.findIndex((row, at) => row !== got[at])
        expect([index, got[different], different]).toEqual([index, wanted[different], -1])
        expect([got.length, page.next === null]).toEqual([due.length, index === pages - 1])
      }
    }, 120_000)

    const due = Math.ceil((queries * weightOf(id)) / allWeights)
    test(
      `answers ${due} random queries and aggregates with the rows of an independent evaluator`,
      async () => {
        const random = randomFrom(seed)
        const differences: string[] = []
        for (let ask = 0; ask < due; ask += 1) {
          for (const compare of [compareOne, compareAggregate]) {
            const difference = await compare(service, table, rows, random)
            // Very many groups are refused.
            if (difference !== null && !difference.includes(': 422 ')) differences.push(difference)
          }
        }
        expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
      },
      60_000 + due * 20_000,
    )
  })
})
