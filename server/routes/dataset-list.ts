import type { Runtime } from './runtime.ts'
import type { Family } from '../../core/catalog/catalog.ts'
import { addressesOf } from '../http/addresses.ts'
import { contentName } from '../http/responder.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Resource } from '../http/resource.ts'
import { jsonType } from '../http/send.ts'
import { InvalidPage } from '../query/errors.ts'
import { parsePage } from '../query/query.ts'
import { summaryOf } from './summary.ts'

/** Datasets in one page (spec: Endpoints 1 and 4, Versioning 5). */
export function datasetList(family: Family, service: Runtime): Resource {
  const { catalog, publicUrl, freshness } = service
  const addresses = addressesOf(family, publicUrl)
  const listedDatasets = [...catalog.datasets.values()].filter((dataset) => dataset.listedIn.has(family.name))
  const results = listedDatasets.map((dataset) => summaryOf(dataset, addresses))
  const body = JSON.stringify({ count: results.length, next: null, previous: null, results })
  const answer = {
    name: contentName(body),
    cacheControl: freshness.changing,
    mediaType: jsonType,
    headers: {
      Link: `<${addresses.list.replace(/datasets\/?$/, 'openapi.json')}>; rel="service-desc"; type="application/json"`,
    },
    isAtHand: true,
    body: () => ({ pieces: [body] }),
  }
  return {
    path: '/datasets',
    name: 'Dataset List',
    description: `The datasets that are published. ${catalog.notice}`,
    find: ({ target, headers }) => {
      const query = parseQuery(target, ['page', 'format'])
      negotiate(headers, query.get('format'), [jsonOffer])
      const page = parsePage(query.get('page'))
      if (page !== 1 && page !== 'last') throw new InvalidPage()
      return answer
    },
  }
}
