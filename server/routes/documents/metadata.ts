import { tableId } from '../../../core/catalog/catalog.ts'
import type { DatasetDocument, TableDocument, WholeDocument } from '../../documents/document.ts'
import { type Offer, negotiate } from '../../http/negotiation.ts'
import type { Resource } from '../../http/resource.ts'
import { parseQuery } from '../../query/parameters.ts'
import { findDataset, findTable } from '../find.ts'
import {
  describeDataset,
  datasetViews,
  documentResponse,
  describeTable,
  type DocumentService,
} from './service.ts'

export function aboutDataset(document: DatasetDocument, service: DocumentService): Resource {
  const { catalog, snapshots, writing } = service
  const { file, name, description, contentType, write } = document
  const offer = offerOf(contentType)
  return {
    path: `/:dataset/${file}`,
    name,
    description,
    offers: [offer],
    find: ({ params, target, headers }) => {
      const dataset = findDataset(catalog, params)
      parseQuery(target, [])
      negotiate(headers, undefined, [offer])
      const descriptor = { key: ['metadata', file, dataset.slug], tables: [...dataset.tables.values()] }
      return documentResponse(service, descriptor, contentType, () =>
        write(writing, describeDataset(snapshots, dataset)),
      )
    },
  }
}

export function aboutTable(document: TableDocument, service: DocumentService): Resource {
  const { catalog, snapshots, writing } = service
  const { file, name, description, contentType, write } = document
  const offer = offerOf(contentType)
  return {
    path: `/:dataset/:table/${file}`,
    name,
    description,
    offers: [offer],
    find: ({ params, target, headers }) => {
      const dataset = findDataset(catalog, params)
      const table = findTable(dataset, params)
      parseQuery(target, [])
      negotiate(headers, undefined, [offer])
      const descriptor = { key: ['metadata', file, tableId(table)], tables: [table] }
      return documentResponse(service, descriptor, contentType, async () => {
        const view = await describeTable(snapshots, dataset, table)
        return () => write(writing, view)
      })
    },
  }
}

export function aboutService(document: WholeDocument, service: DocumentService): Resource {
  const { file, name, description, contentType, write } = document
  const offer = offerOf(contentType)
  return {
    path: `/${file}`,
    name,
    description,
    offers: [offer],
    find: ({ target, headers }) => {
      parseQuery(target, [])
      negotiate(headers, undefined, [offer])
      const descriptor = { key: ['whole', file], tables: null }
      return documentResponse(service, descriptor, contentType, () =>
        write(service.writing, datasetViews(service)),
      )
    },
  }
}

/** Offers the given media type, and JSON, XML or plain text for clients that accept only these. */
export function offerOf(contentType: string): Offer {
  const [mediaType = ''] = contentType.split(';')
  const plainer = mediaType.includes('json')
    ? ['application/json']
    : mediaType.endsWith('xml')
      ? ['application/xml', 'text/xml']
      : ['text/plain']
  // Add HTML for browsers, which show or save the document.
  return { name: 'document', mediaTypes: [mediaType, ...plainer, 'text/html'] }
}
