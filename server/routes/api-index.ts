import type { Runtime } from './runtime.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { Family } from '../../core/catalog/catalog.ts'
import { addressesOf } from '../http/addresses.ts'
import { jsonOffer, negotiate } from '../http/negotiation.ts'
import type { Resource } from '../http/resource.ts'
import { contentName, type NamedResponse } from '../http/responder.ts'
import { jsonType } from '../http/send.ts'
import { parseQuery } from '../query/parameters.ts'

export function apiIndex(family: Family, service: Runtime): Resource {
  const find = findApiIndex(family, service)
  return {
    path: '',
    name: 'Index',
    description: 'Addresses of datasets and documents.',
    find: ({ target, headers }) => find(target, headers),
  }
}

export function findApiIndex(
  family: Family,
  service: Runtime,
): (target: string, headers: IncomingHttpHeaders) => NamedResponse {
  const answer = indexOf(family, service)
  return (target, headers) => {
    negotiate(headers, parseQuery(target, ['format']).get('format'), [jsonOffer])
    return answer
  }
}

function indexOf(family: Family, { catalog, publicUrl, freshness }: Runtime): NamedResponse {
  const base = `${publicUrl.origin}${publicUrl.pathname.replace(/\/$/, '')}`
  const { list } = addressesOf(family, publicUrl)
  const body = JSON.stringify({
    title: catalog.title,
    description: catalog.description,
    datasets_url: list,
    openapi_url: list.replace(/datasets\/?$/, 'openapi.json'),
    catalog_url: `${base}/catalog.jsonld`,
    duckdb_url: `${base}/files/warehouse.duckdb`,
    limits_url: `${base}/limits`,
    health_url: `${base}/health`,
  })
  return {
    name: contentName(body),
    cacheControl: freshness.changing,
    mediaType: jsonType,
    headers: {},
    isAtHand: true,
    body: () => ({ pieces: [body] }),
  }
}
