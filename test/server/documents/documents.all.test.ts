import { parseCatalog } from '../../../core/catalog/load.ts'
import { jsonAt, rawGet, serve } from '../../support/service.ts'
import { catalogText, workshop } from '../../support/workshop.ts'

/** Documents through the front door. What their consumers make of them is tested in test/consumers. */

test('DCAT lists a catalog of a thousand datasets in pages, and its sitemap has one file', async () => {
  const definition = JSON.parse(catalogText([])) as { datasets: object[] }
  const [dataset] = definition.datasets
  const tables = [{ name: 't', order: [], fields: [{ name: 'a', type: 'integer' }] }]
  const datasets = Array.from({ length: 1000 }, (_, index) => ({ ...dataset, slug: `d${index}`, tables }))
  const catalog = parseCatalog(JSON.stringify({ ...definition, datasets }), 'large.yaml')
  const shop = await workshop(catalog, { 'd7/t.csv': 'a\n1\n' })
  const { app } = await serve(shop)
  const seen = new Set<string>()
  for (let page = 1; page <= 10; page += 1) {
    const graph = (await jsonAt(app, `/catalog.jsonld?page=${page}`))['@graph'] as Record<string, unknown>[]
    const [listed, paging] = graph
    const listedDatasets = (listed?.['dcat:dataset'] ?? []) as Record<string, string>[]
    for (const item of listedDatasets) seen.add(item['dct:identifier'] ?? '')
    expect(paging?.['hydra:nextPage']).toEqual(
      page === 10 ? undefined : { '@id': `http://localhost:8000/catalog.jsonld?page=${page + 1}` },
    )
  }
  expect(seen.size).toBe(1000)
  expect((await rawGet(app, '/catalog.jsonld?page=11')).status).toBe(404)
  const { paths } = await jsonAt(app, '/api/v1/openapi.json')
  expect(Object.keys(paths as object).length).toBeGreaterThan(3000)
  expect((await rawGet(app, '/sitemap-1.xml')).status).toBe(200)
  expect((await rawGet(app, '/sitemap-2.xml')).status).toBe(404)
}, 60_000)
