import type { Runtime } from '../runtime.ts'
import express, { type Router } from 'express'
import { mount, mountHandler, type Serving } from '../../http/resource.ts'
import { findIndex } from '../api-index.ts'
import { mainFamily, writingOf } from '../documents/service.ts'
import { about, limits } from './about.ts'
import { assetFiles } from './assets.ts'
import { chart } from './chart.ts'
import { citationFile, datasetFiles, datasetHome } from './dataset.ts'
import { pageService, type Settings } from './documents.ts'
import { api, dictionary, fields } from './fields.ts'
import { home, root } from './home.ts'
import { row } from './row.ts'
import { reference, tableReference } from './reference.ts'
import { engineFiles } from './engine.ts'
import { sql } from './sql.ts'
import { table } from './table.ts'

const pages = [
  home,
  about,
  limits,
  reference,
  tableReference,
  datasetHome,
  datasetFiles,
  table,
  chart,
  fields,
  api,
  sql,
  row,
]
const files = [citationFile, dictionary]

/** The pages for people, in each language. */
export function pagesRouter(service: Runtime, settings: Settings, serving: Serving): Router {
  const writing = writingOf(service.catalog, service.publicUrl)
  const router = express.Router({ caseSensitive: true, strict: true })
  const all = new Map(
    [...settings].map(([language, setting]) => [language, pageService(setting, service, writing)]),
  )
  const index = findIndex(mainFamily(service.catalog, service.publicUrl), service)
  mountHandler(router, '/', { name: 'Home', description: 'What there is.' }, root(all, index))
  const [any] = settings.values()
  if (any !== undefined) mount(router, assetFiles(service, any.assets), false, serving)
  mount(router, engineFiles(service), false, serving)
  for (const made of all.values()) {
    // A file comes before what has its name without an ending.
    for (const file of files) mount(router, file(made), false, serving)
    for (const page of pages) mount(router, page(made), true, serving)
  }
  return router
}
