import express, { type Router } from 'express'
import { datasetDocuments, tableDocuments, serviceDocuments } from '../../documents/registry.ts'
import { mount, type Serving } from '../../http/resource.ts'
import { dcatCatalog, sitemap, sitemapFile } from './catalog.ts'
import { ckanRouter } from './ckan.ts'
import { datasetFeed, serviceFeed, tableFeed } from './feeds.ts'
import { aboutDataset, aboutService, aboutTable } from './metadata.ts'
import type { DocumentService } from './service.ts'

export function documentsRouter(service: DocumentService, serving: Serving): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  const hasFinalSlash = false
  const metadata = express.Router({ caseSensitive: true, strict: true })
  for (const document of datasetDocuments)
    mount(metadata, aboutDataset(document, service), hasFinalSlash, serving)
  for (const document of tableDocuments)
    mount(metadata, aboutTable(document, service), hasFinalSlash, serving)
  router.use('/metadata', metadata)
  const feeds = express.Router({ caseSensitive: true, strict: true })
  for (const feed of [serviceFeed, datasetFeed, tableFeed])
    mount(feeds, feed(service), hasFinalSlash, serving)
  router.use('/feeds', feeds)
  const serviceResources = [
    ...serviceDocuments.map((document) => aboutService(document, service)),
    dcatCatalog('jsonld', service),
    dcatCatalog('ttl', service),
    dcatCatalog(null, service),
    sitemap(service),
    sitemapFile(service),
  ]
  for (const resource of serviceResources) mount(router, resource, hasFinalSlash, serving)
  router.use(ckanRouter(service, serving))
  return router
}
