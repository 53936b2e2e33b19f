import { tableId, type Dataset, type Family, type Table } from '../../../core/catalog/catalog.ts'
import { openApi, tableOpenApi, type OpenApiOptions } from '../../documents/openapi/openapi.ts'
import { addressesOf } from '../../http/addresses.ts'
import { jsonOffer, negotiate } from '../../http/negotiation.ts'
import type { Resource } from '../../http/resource.ts'
import { parseQuery } from '../../query/parameters.ts'
import { findDataset, findTable } from '../find.ts'
import { documentResponse, describeTable, type DocumentService } from './service.ts'

const openApiOffer = {
  name: 'json',
  mediaTypes: ['application/json', 'application/vnd.oai.openapi+json', 'application/openapi+json'],
} as const

export function familyReference(family: Family, service: DocumentService): Resource {
  const { catalog, snapshots, writing } = service
  return {
    path: '/openapi.json',
    name: 'OpenAPI',
    description: 'The whole API as OpenAPI 3.1.',
    offers: [openApiOffer],
    find: ({ target, headers }) => {
      negotiate(headers, parseQuery(target, ['format']).get('format'), [openApiOffer])
      const descriptor = { key: ['openapi', family.name], tables: null }
      return documentResponse(service, descriptor, jsonOffer.mediaTypes[0], async () => {
        const pendingViews = [...catalog.datasets.values()].flatMap((dataset) =>
          [...dataset.tables.values()].map((table) => describeTable(snapshots, dataset, table)),
        )
        const views = await Promise.all(pendingViews)
        return () => JSON.stringify(openApi(writing, views, optionsOf(family, service)))
      })
    },
  }
}

export function tableReference(family: Family, service: DocumentService): Resource {
  const { catalog, snapshots, writing } = service
  return {
    path: '/dataset/:dataset/:table/openapi.json',
    name: 'Table OpenAPI',
    description: 'The API of a table as OpenAPI 3.1.',
    offers: [openApiOffer],
    find: ({ params, target, headers }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      negotiate(headers, parseQuery(target, ['format']).get('format'), [openApiOffer])
      const descriptor = { key: ['openapi', family.name, tableId(table)], tables: [table] }
      return documentResponse(service, descriptor, jsonOffer.mediaTypes[0], async () => {
        const view = await describeTable(snapshots, dataset, table)
        return () => JSON.stringify(tableOpenApi(writing, view, optionsOf(family, service)))
      })
    },
  }
}

function optionsOf(family: Family, { publicUrl, writing }: DocumentService): OpenApiOptions {
  const prefix = `${writing.base}${family.prefix}`
  return {
    addresses: addressesOf(family, publicUrl),
    tableDocument: ({ slug }: Dataset, { name }: Table) => `${prefix}/dataset/${slug}/${name}/openapi.json`,
  }
}
