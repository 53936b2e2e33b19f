import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseCatalog } from '../../../core/catalog/load.ts'
import { serve, rawGet, type Service } from '../../support/service.ts'
import { textIn } from './markup.ts'
import { tinyCatalog, workshop, type Workshop } from '../../support/workshop.ts'

/** The home page and dataset pages: topics, figures, periods and small charts. */

const table = (name: string, rowMeaning: string, tableKeys: object = {}): object => ({
  name,
  title: { pt: 'Chuva por dia', en: 'Rain by day' },
  row_meaning: { pt: rowMeaning, en: rowMeaning },
  order: ['day'],
  filters: ['day'],
  measures: ['mm'],
  fields: [
    { name: 'day', type: 'date', title: { pt: 'Dia', en: 'Day' } },
    { name: 'mm', type: 'integer', title: { pt: 'Chuva', en: 'Rain' } },
  ],
  ...tableKeys,
})

const catalog = parseCatalog(
  JSON.stringify({
    title: 'City',
    description: 'Open data',
    limits: { rows: [], catalog: [], files: [] },
    families: { v1: { prefix: '/api/v1', scheme: 'http', trailing_slash: true } },
    datasets: [
      ['rain', ['ENVI', 'REGI'], [table('daily', 'one day'), table('hourly', 'one hour')]],
      ['buses', ['TRAN'], [table('trips', 'one trip', { chart: { group: ['mm'], measure: 'rows' } })]],
      ['later', ['ENVI'], [table('t', 'one', { chart: { group: ['day__month'], measure: 'mm__sum' } })]],
    ].map(([slug, themes, tables]) => ({
      slug,
      name: { pt: `Dados: ${slug as string}`, en: `Data: ${slug as string}` },
      description: 'About it.',
      author: { name: 'The city' },
      license: { name: 'CC0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
      listed_in: ['v1'],
      collected_at: '2024-01-01',
      themes,
      links: [],
      tables,
    })),
  }),
  'c.yaml',
)

async function published(): Promise<{ readonly shop: Workshop; readonly service: Service }> {
  const shop = await workshop(catalog, {
    'rain/daily.csv': 'day,mm\n2024-02-01,3\n2024-02-02,0\n2024-02-03,9\n',
    'rain/hourly.csv': 'day,mm\n2024-02-05,1\n',
    'buses/trips.csv': 'day,mm\n2024-01-01,1\n2024-01-01,1\n2024-01-02,7\n2024-01-09,2\n',
  })
  const outcomes = await shop.ingest({ tables: ['daily', 'hourly', 'trips'] })
  expect(outcomes.map(({ status }) => status)).toEqual(['published', 'published', 'published'])
  return { shop, service: await serve(shop) }
}

let service: Service
beforeAll(async () => {
  ;({ service } = await published())
})

async function page(path: string, { app } = service): Promise<string> {
  return (await rawGet(app, path)).body.toString()
}

/** The texts of elements, each without its markup and with single spaces. */
function textsOf(text: string, element: RegExp): string[] {
  return [...text.matchAll(element)].map(([tag]) =>
    textIn(tag.replaceAll('<', ' <')).replaceAll(/\s+/g, ' ').trim(),
  )
}

const cards = /<li class="card">.*?<\/li>/gs

test('the home page shows figures, topics, and a card with a small chart for each dataset', async () => {
  const home = await page('/en/')
  expect({
    figures: textsOf(home, /<dl class="figures">.*?<\/dl>/gs),
    topics: textsOf(home, /<nav class="themes".*?<\/nav>/gs),
    cards: textsOf(home, cards),
    charts: [...home.matchAll(/<path class="(\w+)" d="([^"]*)"/g)].map(([, ...drawn]) => drawn),
    later: home.includes('<a href="/en/dataset/later/">Data: later</a>'),
  }).toEqual({
    figures: ['Datasets 2 Rows 8 Last update Jan 2, 2026'],
    topics: ['All Transport Environment Regions and cities'],
    cards: [
      'Transport Data: buses About it. Rows by rain 1 table · 4 rows until Jan 9, 2024',
      'Environment Data: rain About it. Rain by day 2 tables · 4 rows until Feb 5, 2024',
    ],
    charts: [
      ['area', 'M0 39V1h19.2V39zM24 39V20h19.2V39zM48 39V20h19.2V39z'],
      ['stroke', 'M0 26L120 39L240 1'],
    ],
    later: true,
  })
})

test.each([
  ['ENVI', ['Dados: rain']],
  ['TRAN', ['Dados: buses']],
  ['HEAL', []],
])('the topic %s has the datasets %j', async (theme, names) => {
  const home = await page(`/pt/?theme=${theme}`)
  const shown = textsOf(home, cards).map((text) => /Dados: \w+/.exec(text)?.[0])
  const link = `<link rel="alternate" hreflang="en" href="/en/?theme=${theme}" />`
  expect([shown, home.includes(link)]).toEqual([names, true])
})

test('an unknown topic is an error that names the known ones', async () => {
  const answer = await rawGet(service.app, '/en/?theme=envi')
  expect([answer.status, textIn(answer.body.toString()).includes('must be one of AGRI, ECON,')]).toEqual([
    400,
    true,
  ])
})

test('a dataset page says first what a row is, since when, how fresh it is and who publishes it', async () => {
  const text = await page('/en/dataset/rain/')
  const [summary = ''] = text.match(/<dl class="facts-list">.*?<\/dl>/s) ?? []
  expect({
    facts: textsOf(summary, /<d[td]>.*?<\/d[td]>/gs),
    order: [...text.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title),
    tables: textsOf(text, /<tr>.*?<\/tr>/gs).slice(1, 3),
  }).toEqual({
    facts: [
      'Each row',
      'Rain by day: one day Rain by day: one hour',
      'Period',
      'Feb 1, 2024 to Feb 5, 2024',
      'Updates',
      'The publisher states no update frequency. The data has not changed since the first import.',
      'Author',
      'The city',
      'License',
      'CC0',
    ],
    order: ['Tables', 'Updates', 'Files'],
    tables: [
      'Rain by day Feb 1, 2024 to Feb 3, 2024 Rain by day 3 Download Excel Download CSV (gzip), 64 B',
      'Rain by day Feb 5, 2024 1 Download Excel Download CSV (gzip), 52 B',
    ],
  })
})

test('the day of collection is shown unless it is before the last day of the data', async () => {
  const shown = [await page('/en/dataset/later/'), await page('/en/dataset/rain/')]
  expect(shown.map((text) => text.includes('<dt>Collected</dt>'))).toEqual([true, false])
})

test('small charts are computed once for each snapshot and language', async () => {
  const { shop, service: ownService } = await published()
  const groups = jest.spyOn(ownService.engine.selections, 'groups')
  for (const path of ['/en/', '/en/?theme=ENVI', '/en/dataset/buses/']) await page(path, ownService)
  expect(groups).toHaveBeenCalledTimes(2)
  await shop.write('buses/trips.csv', 'day,mm\n2024-01-01,1\n2024-01-02,5\n2024-01-03,6\n2024-01-04,1\n')
  await shop.ingest({ tables: ['trips'] })
  await ownService.snapshots.refresh()
  const home = await page('/en/', ownService)
  expect([
    groups.mock.calls.length,
    home.includes('M0 39V1h19.2V39zM24 39V20h19.2V39zM48 39V20h19.2V39z'),
  ]).toEqual([3, true])
})

test('a small chart leaves out a last period that is incomplete', async () => {
  const { shop, service: ownService } = await published()
  const lines = Array.from({ length: 12 }, (_, month) => `2024-${String(month + 1).padStart(2, '0')}-28,4`)
  const outlineWith = async (last: string): Promise<string | undefined> => {
    await shop.write('later/t.csv', ['day,mm', ...lines, last].join('\n'))
    const [outcome] = await shop.ingest({ tables: ['t'], acceptsDrift: true })
    expect(outcome?.status).toBe('published')
    await ownService.snapshots.refresh()
    return / d="([^"]*)"/.exec(
      (await page('/en/dataset/later/', ownService)).split('class="spark"')[1] ?? '',
    )?.[1]
  }
  expect(await outlineWith('2024-12-31,4')).toMatch(/^M0 20(L[\d.]+ 20){10}L240 1$/)
  expect(await outlineWith('2025-01-02,1')).toMatch(/^M0 1(L[\d.]+ 1){11}$/)
})

test('a client that leaves does not stop a small chart for which another client waits', async () => {
  const { service: ownService } = await published()
  const leave = new AbortController()
  const server = http.createServer(ownService.app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/en/`
  const left = new Promise((resolve) => {
    server.once('request', (_req, res) => void res.once('close', resolve))
  })
  const { selections } = ownService.engine
  const group = selections.groups.bind(selections)
  const begun = new Promise((resolve) => {
    jest.spyOn(selections, 'groups').mockImplementation(async (search, query) => {
      resolve(null)
      await left
      search.requester.signal().throwIfAborted()
      return group(search, query)
    })
  })
  const first = fetch(address, { signal: leave.signal })
  await begun
  // This page waits for the same chart.
  const second = fetch(`${address}dataset/buses/`)
  await once(server, 'request')
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  leave.abort()
  await expect(first).rejects.toThrow('abort')
  const dataset = await (await second).text()
  server.close()
  expect(dataset.match(/<figure class="spark">/g)).toHaveLength(1)
})

test('the home page lists the newest tables, then the earlier ones, and offers its feed', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const shop = await workshop(
    tinyCatalog(...names.map((name) => ({ name, fields: ['n:integer'] }))),
    Object.fromEntries(names.map((name) => [`d/${name}.csv`, 'n\n1\n'])),
  )
  for (const [index, name] of names.entries())
    await shop.ingest({ tables: [name], now: () => new Date(Date.UTC(2026, 0, 1 + index)) })
  const { body } = await rawGet((await serve(shop)).app, '/en/', { Accept: 'text/html' })
  const home = body.toString()
  const lists = [...home.matchAll(/<ul class="lately">(.*?)<\/ul>/gs)].map(([, list = '']) =>
    [...list.matchAll(/href="\/en\/dataset\/d\/(\w)\/"/g)].map(([, name]) => name),
  )
  expect(lists).toEqual([
    ['g', 'f', 'e', 'd', 'c'],
    ['b', 'a'],
  ])
  expect(textIn(home)).toContain('Earlier (2)')
  expect(textIn(home)).toContain('http://localhost:8000/feeds/atom.xml')
})
