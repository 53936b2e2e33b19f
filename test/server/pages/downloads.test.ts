import { rawGet, serve, type Service } from '../../support/service.ts'
import { tinyCatalog, workshop } from '../../support/workshop.ts'
import { unescaped } from './markup.ts'

/** Downloads of more groups and changes than one page of the API holds. */

const rowCount = 12_345

let service: Service
beforeAll(async () => {
  const shop = await workshop(tinyCatalog({ fields: ['id:integer', 'n:integer'], order: ['id'] }))
  for (const added of [0, 1]) {
    const rows = Array.from({ length: rowCount }, (_, id) => `${id},${id + added}`)
    await shop.write('d/t.csv', `id,n\n${rows.join('\n')}\n`)
    await shop.ingest({ now: () => new Date(Date.UTC(2026, 0, 1 + added)) })
  }
  service = await serve(shop)
})

/** Addresses of the API in the menu of downloads of a page, by link text. */
async function linksOf(target: string): Promise<[title: string, address: string][]> {
  const page = (await rawGet(service.app, target, { Accept: 'text/html' })).body.toString()
  const [menu = ''] = /<details class="menu end main" id="downloads">.*?<\/details>/s.exec(page) ?? []
  return [...menu.matchAll(/href="([^"]*\/api\/[^"]*)"[^>]*>([^<]*)</g)].map(
    ([, address = '', title = '']) => [title, unescaped(address).replace('http://localhost:8000', '')],
  )
}

test.each([
  ['a chart', '/en/dataset/d/t/chart/?group=id&measure=rows', 1],
  // Each changed row has an old and a new version, which are two added and removed rows without a key.
  ['changes', '/en/dataset/d/t/changes/', 2],
])('the links to each format of %s lead to all of its numbers', async (_what, target, factor) => {
  const links = await linksOf(target)
  const ranges = factor === 1 ? ['1–10,000', '10,001–12,345'] : ['1–10,000', '10,001–20,000', '20,001–24,690']
  expect(links.map(([title]) => title)).toEqual(
    ['Excel', 'CSV', 'JSON'].flatMap((name) => ranges.map((range) => `${name}, ${range}`)),
  )
  const lines = new Set<string>()
  for (const [, address] of links.filter(([title]) => title.startsWith('CSV'))) {
    const text = (await rawGet(service.app, address)).body.toString()
    for (const line of text.trimEnd().split(/\r?\n/).slice(1)) lines.add(line)
  }
  expect(lines.size).toBe(factor * rowCount)
})

test('a chart of at most a page of groups has one link to each format', async () => {
  const links = await linksOf('/en/dataset/d/t/chart/?group=id&measure=rows&id__lt=1000')
  expect(links).toEqual(
    [
      ['Excel', 'xlsx'],
      ['CSV', 'csv'],
      ['JSON', 'json'],
    ].map(([title, format]) => [
      title,
      `/api/v1/dataset/d/t/aggregate/?format=${format}&group=id&id__lt=1000`,
    ]),
  )
})
