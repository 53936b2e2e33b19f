import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { allTables, tableId, type Catalog, type Table } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { hasSources, writeSamples } from '../../ingest/sample/write.ts'
import { temporaryFolder, tinyCatalog, workshop } from '../support/workshop.ts'
import { isQuick, testAll } from '../support/runs.ts'

type Row = Readonly<Record<string, string>>

let catalog: Catalog
let folder: string
beforeAll(async () => {
  catalog = await loadCatalog('catalog.yaml')
  folder = await temporaryFolder()
  await written(folder, allTables(catalog), 0.5)
})

/** -> rows of each */
async function written(to: string, tables: readonly Table[], scale: number): Promise<number[]> {
  const rows: number[] = []
  for await (const sample of writeSamples(to, tables, scale)) rows.push(sample.rows)
  return rows
}

async function textOf(id: string, from = folder): Promise<string> {
  return gunzipSync(await readFile(path.join(from, `${id}.csv.gz`))).toString('utf8')
}

async function rowsOf(id: string): Promise<Row[]> {
  return parse(await textOf(id), { columns: true })
}

/** Rows of each place, in the order of the source. */
function byPlace(rows: readonly Row[]): Row[][] {
  const places = new Map<string, Row[]>()
  for (const row of rows) {
    const key = `${row['state'] ?? ''}/${row['city_ibge_code'] ?? ''}`
    places.set(key, [...(places.get(key) ?? []), row])
  }
  return [...places.values()]
}

test('the tables have samples that the ingest takes without a reject', async () => {
  const tables = allTables(catalog).filter((_, index) => !isQuick || index % 10 === 0)
  const shop = await workshop(catalog)
  const outcomes = await shop.ingest({ sources: folder, tables: tables.map(({ name }) => name) })
  expect(outcomes.map((outcome) => `${tableId(outcome.table)} ${outcome.status}`)).toEqual(
    tables.map((table) => `${tableId(table)} published`),
  )
})

test('samples are the same each time, and scale in rows', async () => {
  const again = await temporaryFolder()
  const tables = allTables(catalog).filter((_, index) => !isQuick || index % 10 === 0)
  await written(again, tables, 0.5)
  for (const table of tables) {
    expect(await textOf(tableId(table), again)).toBe(await textOf(tableId(table)))
  }
  const caso = allTables(catalog).find((table) => table.name === 'caso')
  if (caso === undefined) throw new Error('no caso')
  expect([await written(again, [caso], 1), await written(again, [caso], 3)]).toEqual([[5000], [15_000]])
  expect(parse(await textOf('covid19/caso', again))).toHaveLength(15_001)
})

describe('the rows obey the rules of the spec', () => {
  test('caso', async () => {
    const rows = await rowsOf('covid19/caso')
    for (const row of rows) {
      expect([row['place_type'], row['city'] === '', row['city_ibge_code']?.length]).toEqual(
        row['place_type'] === 'state' ? ['state', true, 2] : ['city', false, 7],
      )
      expect(row['death_rate']).toBe((Number(row['deaths']) / Number(row['confirmed'])).toFixed(4))
    }
    expect(new Set(rows.map((row) => row['place_type']))).toEqual(new Set(['state', 'city']))
    for (const series of byPlace(rows)) {
      expect(series.map((row) => row['order_for_place'])).toEqual(series.map((_, index) => String(index + 1)))
      const days = series.map((row) => row['date'] ?? '')
      expect(days).toEqual([...new Set(days)].toSorted())
      expect(series.map((row) => row['is_last'])).toEqual(
        series.map((_, index) => String(index === series.length - 1)),
      )
    }
  })

  testAll('caso_full', async () => {
    const rows = await rowsOf('covid19/caso_full')
    const repeated = rows.filter((row) => row['is_repeated'] === 'true')
    expect(repeated.length).toBeGreaterThan(100)
    for (const row of repeated) {
      expect([row['new_confirmed'], row['new_deaths']]).toEqual(['0', '0'])
      expect((row['last_available_date'] ?? '') < (row['date'] ?? '')).toBe(true)
    }
    // The real bulletins count these weeks so.
    const weeks = new Map(rows.map((row) => [row['date'], row['epidemiological_week']]))
    expect([weeks.get('2020-02-29'), weeks.get('2020-03-01'), weeks.get('2020-03-25')]).toEqual([
      '9',
      '10',
      '13',
    ])
    for (const series of byPlace(rows)) {
      for (const [index, row] of series.entries()) {
        const before = series[index - 1]
        const total = Number(before?.['last_available_confirmed'] ?? 0) + Number(row['new_confirmed'])
        expect(Number(row['last_available_confirmed'])).toBe(total)
        const source = row['is_repeated'] === 'true' ? before?.['last_available_date'] : row['date']
        expect(row['last_available_date']).toBe(source)
      }
    }
    expect(rows.some((row) => Number(row['new_confirmed']) < 0)).toBe(true)
  })

  test('boletim has several rows for a date and state, and notes that are hard to read', async () => {
    const rows = await rowsOf('covid19/boletim')
    expect(new Set(rows.map((row) => `${row['date'] ?? ''}${row['state'] ?? ''}`)).size).toBeLessThan(
      rows.length,
    )
    const notes = rows.map((row) => row['notes'] ?? '')
    for (const hard of ['', '"', ',', '\n', 'ó'])
      expect(notes.some((note) => (hard === '' ? note === '' : note.includes(hard)))).toBe(true)
  })

  test('obito_cartorio has one row for a state and date, totals that add up, and nulls', async () => {
    const rows = await rowsOf('covid19/obito_cartorio')
    expect(new Set(rows.map((row) => `${row['date'] ?? ''}${row['state'] ?? ''}`)).size).toBe(rows.length)
    expect(rows.some((row) => row['new_deaths_sars_2020'] === '')).toBe(true)
    const total = new Map<string, number>()
    for (const row of rows) {
      const state = row['state'] ?? ''
      total.set(state, (total.get(state) ?? 0) + Number(row['new_deaths_total_2020']))
      expect(Number(row['deaths_total_2020'])).toBe(total.get(state))
    }
  })

  test('codes keep leading zeros, and decimals are negative now and then', async () => {
    expect((await rowsOf('socios-brasil/empresas')).some((row) => row['cnpj']?.startsWith('0'))).toBe(true)
    expect((await rowsOf('gastos-diretos/gastos')).some((row) => row['valor']?.startsWith('-'))).toBe(true)
    expect(
      (await rowsOf('gastos-deputados/cota_parlamentar')).some((row) => row['vlrliquido']?.startsWith('-')),
    ).toBe(true)
  })
})

testAll('a table of another catalog gets a sample by its types', async () => {
  const other = tinyCatalog({
    fields: [
      'a:string',
      'b:text',
      'c:integer',
      'd:float',
      'e:decimal:5:4',
      'f:decimal:20:0',
      'g:bool',
      'h:date',
      'i:datetime',
    ],
  })
  const shop = await workshop(other)
  await written(shop.sources, allTables(other), 1)
  expect(await shop.ingest()).toMatchObject([{ status: 'published', manifest: { rows: 1000 } }])
})

test('samples never write over sources that are not samples, and then write nothing', async () => {
  const tables = allTables(
    tinyCatalog({ name: 'a', fields: ['n:integer'] }, { name: 'b', fields: ['n:integer'] }),
  )
  const sources = await temporaryFolder()
  expect(await hasSources(sources)).toBe(false)
  await written(sources, tables, 0.01)
  expect(await hasSources(sources)).toBe(true)
  await written(sources, tables, 0.02)
  expect(parse(await textOf('d/a', sources))).toHaveLength(21)

  const mine = path.join(sources, 'd', 'b.csv.gz')
  await writeFile(mine, gzipSync('n\n7\n'))
  await expect(written(sources, tables, 0.03)).rejects.toThrow(
    `${mine} was not written by \`acervo sample\`, or was changed since, and would be overwritten: move it, or set SOURCES to another folder`,
  )
  expect(await textOf('d/b', sources)).toBe('n\n7\n')
  expect(parse(await textOf('d/a', sources))).toHaveLength(21)

  await rm(mine)
  await writeFile(path.join(sources, 'd', 'b.csv'), 'n\n7\n')
  await expect(written(sources, tables, 0.03)).rejects.toThrow(/b\.csv was not written by `acervo sample`/)
})
