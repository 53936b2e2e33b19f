import type { RequestHandler } from 'express'
import type { Catalog, Dataset, Family } from '../../core/catalog/catalog.ts'
import { addressesOf, type Addresses } from '../http/addresses.ts'
import { sendJson } from '../http/answers.ts'
import { negotiate } from '../http/negotiation.ts'
import { parseQuery } from '../http/query.ts'
import type { Resource } from '../http/resource.ts'
import { invalidPage, parsePage } from '../rows/ask.ts'

export interface CatalogService {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly limits: readonly RequestHandler[]
}

/** The datasets that a family lists, in one page (spec: Endpoints 1 and 4, Versioning 5). */
export function datasetList(family: Family, { catalog, publicUrl, limits }: CatalogService): Resource {
  const addresses = addressesOf(family, publicUrl)
  const listed = [...catalog.datasets.values()].filter((dataset) => dataset.listedIn.has(family.name))
  const results = listed.map((dataset) => summaryOf(dataset, addresses))
  const body = JSON.stringify({ count: results.length, next: null, previous: null, results })
  return {
    path: '/datasets',
    name: 'Dataset List',
    description: `The datasets that are published. ${catalog.notice}`,
    limits,
    get: (req, res) => {
      const query = parseQuery(req.url, ['page', 'format'])
      negotiate(req, query.get('format'))
      const page = parsePage(query.get('page'))
      if (page !== 1 && page !== 'last') throw invalidPage()
      sendJson(res, [body])
    },
  }
}

/** Spec: Dataset summary. */
export function summaryOf(dataset: Dataset, addresses: Addresses) {
  return {
    author_name: dataset.author.name,
    author_url: dataset.author.url,
    code_url: dataset.codeUrl,
    description: dataset.description,
    id: addresses.dataset(dataset),
    license_name: dataset.license.name,
    license_url: dataset.license.url,
    name: dataset.name,
    slug: dataset.slug,
    source_name: dataset.source.name,
    source_url: dataset.source.url,
  }
}
