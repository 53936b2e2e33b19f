import { aboutPage, limitsPage } from './about.ts'
import { apiPage } from './api.ts'
import { changesPage } from './changes.ts'
import { chartFile, chartPage } from './chart/chart.ts'
import { chartEmbed, oEmbed, tableEmbed } from './embed.ts'
import { citationFile } from './cite.ts'
import { datasetPage } from './dataset.ts'
import { dictionaryFile, fieldsPage } from './fields.ts'
import { filesPage } from './files.ts'
import { homePage, rootHandler } from './home.ts'
import { referencePage, tableReferencePage } from './reference.ts'
import { rowPage } from './row.ts'
import { sqlPage } from './sql.ts'
import { workbookFile } from './table/downloads.ts'
import { tablePage } from './table/table.ts'
import type { Runtime } from '../routes/runtime.ts'
import express, { type Router } from 'express'
import { mount, mountHandler, type Serving } from '../http/resource.ts'
import { findApiIndex } from '../routes/api-index.ts'
import { mainFamily, writingOf } from '../routes/documents/service.ts'
import { assetFiles } from './assets.ts'
import { pageService, type PageContexts } from './service.ts'
import { engineFiles } from './browser/duckdb.ts'

const pages = [
  homePage,
  aboutPage,
  limitsPage,
  referencePage,
  tableReferencePage,
  datasetPage,
  filesPage,
  tablePage,
  chartPage,
  changesPage,
  fieldsPage,
  apiPage,
  sqlPage,
  rowPage,
  tableEmbed,
  chartEmbed,
]
const files = [citationFile, dictionaryFile, chartFile, workbookFile]

export function pagesRouter(service: Runtime, contexts: PageContexts, serving: Serving): Router {
  const writing = writingOf(service.catalog, service.publicUrl)
  const router = express.Router({ caseSensitive: true, strict: true })
  const services = new Map(
    [...contexts].map(([language, context]) => [language, pageService(context, service, writing)]),
  )
  const apiIndex = findApiIndex(mainFamily(service.catalog, service.publicUrl), service)
  mountHandler(
    router,
    '/',
    { name: 'Home', description: 'Redirect to the pages.' },
    rootHandler(services, apiIndex),
  )
  const [anyContext] = contexts.values()
  if (anyContext !== undefined) mount(router, assetFiles(service, anyContext.assets), false, serving)
  mount(router, oEmbed(services, service), false, serving)
  const engine = engineFiles(service)
  if (engine !== null) mount(router, engine, false, serving)
  for (const localizedService of services.values()) {
    // Mount files first: the pattern of table pages also matches `/dataset/:dataset/cite.bib`.
    for (const file of files) mount(router, file(localizedService), false, serving)
    for (const page of pages) mount(router, page(localizedService), true, serving)
  }
  return router
}
