import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { allTables, tableId, type Table } from '../../../core/catalog/catalog.ts'
import { operatorsOf } from '../../../server/query/operators.ts'
import { compareAggregate } from '../../evaluator/aggregates.ts'
import { evaluate, queryWith, randomQuery, readRows } from '../../evaluator/rows.ts'
import { hostileCsv, hostileTable } from '../../evaluator/hostile-texts.ts'
import { LinearSelections } from '../../evaluator/linear-selections.ts'
import { compareOne, randomFrom, rowTexts } from '../../evaluator/random-queries.ts'
import { isQuick, runsOf, seed } from '../../support/runs.ts'
import { getPage, serve, type Page, type ServiceOptions } from '../../support/service.ts'
import { catalogAround, workshop, type Workshop } from '../../support/workshop.ts'
import { publishSamples } from '../../support/samples.ts'

const hostileQueries = runsOf('HOSTILE_QUERIES')
const tableQueries = runsOf('TABLE_QUERIES')

let sampled: Workshop
let tables: readonly Table[]
beforeAll(async () => {
  // Parts and groups of a few rows, so that each query goes over several.
  sampled = await publishSamples(undefined, { partRows: 128, codedDistinctMax: 40 })
  tables = allTables(sampled.catalog)
}, 120_000)

/** Each engine that says which rows a query chooses; one that is added is added here. */
const engines: [engine: string, open: () => ServiceOptions][] = [
  ['codes, and DuckDB for fields without codes', () => ({})],
  ['DuckDB', () => ({ codesBytesMax: 0 })],
  ['a linear reading', () => ({ otherSelections: new LinearSelections() })],
]

test.each(engines)(
  'random queries, executed by %s, select the rows that an independent evaluator computes',
  async (_engine, open) => {
    const service = await serve(sampled, open())
    const random = randomFrom(seed)
    const differences: string[] = []
    for (const table of tables) {
      const rows = await readRows(path.join(sampled.sources, `${tableId(table)}.csv`), table)
      for (let ask = 0; ask < tableQueries; ask += 1) {
        const difference = await compareOne(service, table, rows, random)
        if (difference !== null) differences.push(difference)
      }
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  },
  60_000 + 3000 * tableQueries,
)

test.each(engines)(
  'each operator of each type, executed by %s, selects the rows that an independent evaluator computes',
  async (_engine, open) => {
    const service = await serve(sampled, open())
    const random = randomFrom(seed)
    const seen = new Set<string>()
    const differences: string[] = []
    for (const table of tables) {
      const rows = await readRows(path.join(sampled.sources, `${tableId(table)}.csv`), table)
      for (const field of table.fields.filter(({ name }) => table.filters.includes(name))) {
        for (const operator of operatorsOf(field)) {
          if (seen.has(`${field.type} ${operator}`)) continue
          const query = queryWith(random, table, field, operator, rows)
          if (query === null) continue
          seen.add(`${field.type} ${operator}`)
          const difference = await compareOne(service, table, rows, random, query)
          if (difference !== null) differences.push(difference)
        }
      }
    }
    expect({ seed, differences }).toEqual({ seed, differences: [] })
    expect([...seen].filter((name) => name.startsWith('string '))).toHaveLength(
      operatorsOf({ type: 'string' }).length,
    )
  },
  60_000,
)

test.each(engines)(
  'random aggregates, computed by %s, equal those of exact arithmetic',
  async (_engine, open) => {
    const service = await serve(sampled, open())
    const random = randomFrom(seed)
    const differences: string[] = []
    for (const table of tables) {
      const rows = await readRows(path.join(sampled.sources, `${tableId(table)}.csv`), table)
      for (let left = tableQueries; left > 0; left -= 1) {
        const difference = await compareAggregate(service, table, rows, random)
        if (difference !== null) differences.push(difference)
      }
    }
    expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
  },
  60_000 + 6000 * tableQueries,
)

test('random queries over hostile texts select the rows that an independent evaluator computes', async () => {
  const random = randomFrom(seed)
  const shop = await workshop(catalogAround([{ name: 't', ...hostileTable }]))
  const file = path.join(shop.sources, 'd/t.csv.gz')
  await shop.write('d/t.csv.gz', gzipSync(isQuick ? hostileCsv(random, 400, 1) : hostileCsv(random, 1500, 3)))
  const [outcome] = await shop.ingest({ partRows: 64, codedDistinctMax: 100 })
  expect(outcome).toMatchObject({ status: 'published' })
  const service = await serve(shop)
  const [table] = allTables(shop.catalog)
  if (table === undefined) throw new Error('no table')
  const rows = await readRows(file, table)
  const differences: string[] = []
  for (let ask = 0; ask < hostileQueries; ask += 1) {
    for (const compare of [compareOne, compareAggregate]) {
      const difference = await compare(service, table, rows, random)
      if (difference !== null) differences.push(difference)
    }
  }
  expect({ seed, differences: differences.slice(0, 5) }).toEqual({ seed, differences: [] })
}, 1_800_000)

test('paging through any query gives each matching row once, even across a refresh', async () => {
  const names = isQuick ? ['socios'] : ['caso', 'socios', 'nomes']
  const small = { partRows: 64, codedDistinctMax: 40 }
  const shop = await publishSamples(({ name }) => names.includes(name), small)
  const { app, snapshots } = await serve(shop)
  const random = randomFrom(seed)
  for (const table of allTables(shop.catalog)) {
    const file = path.join(shop.sources, `${tableId(table)}.csv`)
    const rows = await readRows(file, table)
    for (let left = 8; left > 0; left -= 1) {
      const ask = randomQuery(random, table, rows)
      ask.query.delete('fields')
      const due = rowTexts(table, evaluate(table, rows, ask))
      ask.query.set('page_size', String(Math.max(1, Math.ceil(due.length / 5))))
      ask.query.set('snapshot', 'current')
      const got: string[] = []
      let next: string | null = `/api/v1/dataset/${tableId(table)}/data/?${ask.query.toString()}`
      for (let page = 1; next !== null; page += 1) {
        const answer: Page = await getPage(app, next)
        got.push(...answer.results.map((row) => JSON.stringify(row)))
        next = answer.next
        if (page !== 2 || left !== 1) continue
        // Half of the rows are gone in the snapshot that is current from here on.
        const [head = '', ...lines] = (await readFile(file, 'utf8')).split('\n')
        await writeFile(file, [head, ...lines.filter((_, index) => index % 2 === 0), ''].join('\n'))
        const [outcome] = await shop.ingest({ ...small, tables: [table.name], acceptsDrift: true })
        if (outcome?.status !== 'published') throw new Error(JSON.stringify(outcome))
        await snapshots.refresh()
      }
      expect({ seed, query: ask.query.toString(), got }).toEqual({
        seed,
        query: ask.query.toString(),
        got: due,
      })
    }
  }
}, 120_000)
