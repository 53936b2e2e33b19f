import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { repeatedRows } from '../../bench/rows.ts'
import { allTables, tableId, type Catalog } from '../../core/catalog/catalog.ts'
import { loadCatalog } from '../../core/catalog/load.ts'
import { copySamples, hasSources, sampledTables, sampleIds } from '../../ingest/sample/copy.ts'
import { isQuick } from '../support/runs.ts'
import { temporaryFolder, workshop } from '../support/workshop.ts'

/** The samples of the shipped catalog, and the command that copies them. */

type Row = Readonly<Record<string, string>>

let catalog: Catalog
beforeAll(async () => {
  catalog = await loadCatalog('catalog.yaml')
})

async function rowsOf(id: string): Promise<Row[]> {
  return parse(await readFile(`samples/${id}.csv`), { columns: true })
}

/** Returns the rows of each place, in the order of the file. */
function byPlace(rows: readonly Row[]): Row[][] {
  const places = new Map<string, Row[]>()
  for (const row of rows) {
    const key = `${row['state'] ?? ''}/${row['city_ibge_code'] ?? ''}`
    places.set(key, [...(places.get(key) ?? []), row])
  }
  return [...places.values()]
}

test('each table of the catalog has a sample that an ingest publishes without a reject', async () => {
  const catalogTables = allTables(catalog)
  expect(await sampleIds()).toEqual(catalogTables.map(tableId).toSorted())
  const tables = catalogTables.filter((_, index) => !isQuick || index % 10 === 0)
  const shop = await workshop(catalog)
  await copySamples(shop.sources, catalogTables)
  const outcomes = await shop.ingest({ tables: tables.map(({ name }) => name) })
  expect(outcomes.map((outcome) => `${tableId(outcome.table)} ${outcome.status}`)).toEqual(
    tables.map((table) => `${tableId(table)} published`),
  )
})

test('the sample files are small, and contain no real internet address', async () => {
  const sizes = await Promise.all(
    allTables(catalog).map(async (table) => {
      const text = await readFile(`samples/${tableId(table)}.csv`, 'utf8')
      const hosts = [...text.matchAll(/(?:https?:\/\/|@)([\w.-]+)/gi)].map(([, host = '']) =>
        host.toLowerCase(),
      )
      expect(hosts.filter((host) => !/(^|\.)example\.org$/.test(host))).toEqual([])
      return text.length
    }),
  )
  expect(Math.max(...sizes)).toBeLessThan(250_000)
})

describe('in the samples,', () => {
  test('a row of caso describes a state or a city, and the rows of each place are numbered by date', async () => {
    const rows = await rowsOf('covid19/caso')
    for (const row of rows) {
      expect([row['place_type'], row['city'] === '', row['city_ibge_code']?.length]).toEqual(
        row['place_type'] === 'state' ? ['state', true, 2] : ['city', false, 7],
      )
      expect(row['death_rate']).toBe((Number(row['deaths']) / Number(row['confirmed'])).toFixed(4))
    }
    for (const series of byPlace(rows)) {
      expect(series.map((row) => row['order_for_place'])).toEqual(series.map((_, index) => String(index + 1)))
      const days = series.map((row) => row['date'] ?? '')
      expect(days).toEqual([...new Set(days)].toSorted())
      expect(series.map((row) => row['is_last'])).toEqual(
        series.map((_, index) => String(index === series.length - 1)),
      )
    }
  })

  test('totals of caso_full are the sums of its new cases, and repeated rows add nothing', async () => {
    const rows = await rowsOf('covid19/caso_full')
    const repeated = rows.filter((row) => row['is_repeated'] === 'true')
    expect(repeated.length).toBeGreaterThan(10)
    for (const row of repeated) expect([row['new_confirmed'], row['new_deaths']]).toEqual(['0', '0'])
    for (const series of byPlace(rows)) {
      let [confirmed, deaths, available] = [0, 0, '']
      for (const row of series) {
        confirmed += Number(row['new_confirmed'])
        deaths += Number(row['new_deaths'])
        if (row['is_repeated'] === 'false') available = row['date'] ?? ''
        expect([
          Number(row['last_available_confirmed']),
          Number(row['last_available_deaths']),
          row['last_available_date'],
        ]).toEqual([confirmed, deaths, available])
      }
    }
    expect(rows.some((row) => Number(row['new_confirmed']) < 0)).toBe(true)
    // Weeks of the real bulletins.
    const weeks = new Map(rows.map((row) => [row['date'], row['epidemiological_week']]))
    expect([weeks.get('2020-02-29'), weeks.get('2020-03-07')]).toEqual(['9', '10'])
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

  test('totals of obito_cartorio are the sums of its new deaths', async () => {
    const rows = await rowsOf('covid19/obito_cartorio')
    expect(new Set(rows.map((row) => `${row['date'] ?? ''}${row['state'] ?? ''}`)).size).toBe(rows.length)
    expect(rows.some((row) => row['new_deaths_sars_2019'] === '')).toBe(true)
    const totals = new Map<string, number>()
    for (const row of rows) {
      const state = row['state'] ?? ''
      totals.set(state, (totals.get(state) ?? 0) + Number(row['new_deaths_total_2020']))
      expect(Number(row['deaths_total_2020'])).toBe(totals.get(state))
    }
  })

  test('codes keep leading zeros, and some payments are negative', async () => {
    expect((await rowsOf('socios-brasil/empresas')).some((row) => row['cnpj']?.startsWith('0'))).toBe(true)
    expect((await rowsOf('gastos-diretos/gastos')).some((row) => row['valor']?.startsWith('-'))).toBe(true)
  })
})

test('a sample that repeats rows to reach its size gives each copy a new key', async () => {
  const rows = [...(await repeatedRows('covid19/caso_full', 20_000))]
  expect(rows).toHaveLength(20_000)
  const keyOf = ({ date, city_ibge_code: code }: (typeof rows)[number]): string => `${date} ${code}`
  expect(new Set(rows.map(keyOf)).size).toBe(20_000)
})

test('no sample is copied if one of the tables already has another source', async () => {
  const tables = allTables(catalog).filter(({ dataset }) => dataset === 'genero-nomes')
  const sources = await temporaryFolder()
  expect(await hasSources(sources)).toBe(false)
  await copySamples(sources, tables)
  expect(await hasSources(sources)).toBe(true)
  await copySamples(sources, tables)

  const [grupos, nomes] = ['grupos', 'nomes'].map((name) => path.join(sources, 'genero-nomes', `${name}.csv`))
  await rm(grupos ?? '')
  await writeFile(nomes ?? '', 'first_name\nANA\n')
  await expect(copySamples(sources, tables)).rejects.toThrow(
    `${nomes ?? ''} exists, and is not the sample of genero-nomes/nomes: move it, or set SOURCES to another folder`,
  )
  expect(await readFile(nomes ?? '', 'utf8')).toBe('first_name\nANA\n')
  await expect(readFile(grupos ?? '')).rejects.toThrow('ENOENT')

  await rm(nomes ?? '')
  await mkdir(nomes ?? '')
  await expect(copySamples(sources, tables)).rejects.toThrow(
    /^cannot copy the sample of genero-nomes\/nomes: .*/,
  )
  await rm(nomes ?? '', { recursive: true })

  await writeFile(`${nomes ?? ''}.gz`, '')
  await expect(copySamples(sources, tables)).rejects.toThrow(/nomes\.csv\.gz exists, and is not the sample/)
})

test('a table whose files the catalog names has no sample', async () => {
  const [table] = allTables(catalog)
  if (table === undefined) throw new Error('no table')
  const files = [{ path: 'mine.csv', constants: new Map() }]
  const renamed = { ...table, source: { ...table.source, files } }
  expect(await sampledTables([table, renamed])).toEqual([table])
})
