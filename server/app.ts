import express, { type Express, type RequestHandler } from 'express'
import type { Catalog } from '../core/catalog/catalog.ts'
import { addressesOf } from './http/addresses.ts'
import type { Answers } from './http/answers.ts'
import { freshnessOf } from './http/freshness.ts'
import { commonHeaders } from './http/headers.ts'
import { sparingUse } from './http/limits.ts'
import { logRequests, type Log } from './http/logging.ts'
import { answerProblems, Problem } from './http/problems.ts'
import { checkRequest } from './http/requests.ts'
import { mount } from './http/resource.ts'
import { datasetDetail } from './routes/dataset-detail.ts'
import { datasetList } from './routes/dataset-list.ts'
import { tableRows } from './routes/table-rows.ts'
import type { Blocks } from './rows/blocks.ts'
import type { Snapshots } from './rows/snapshots.ts'

export interface AppOptions {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly rateLimits: boolean
  /** Proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
  readonly maxAgeSeconds: number
  readonly snapshots: Snapshots
  readonly blocks: Blocks
  readonly answers: Answers
  readonly log: Log
}

/** The service in reading order. It opens nothing: what lives is handed in. */
export function createApp(options: AppOptions): Express {
  const { catalog, publicUrl, snapshots, blocks, answers, log } = options
  const app = express()
  app.disable('etag').disable('x-powered-by')
  app.enable('case sensitive routing')
  app.set('query parser', false).set('trust proxy', options.trustProxy)

  app.use(logRequests(log), ...commonHeaders(catalog.notice), checkRequest)

  const advice = 'For a complete dataset, download its files through the links of its dataset page.'
  const limits = (kind: 'rows' | 'catalog'): RequestHandler[] =>
    options.rateLimits ? sparingUse(kind, catalog.limits[kind], advice) : []
  const catalogService = {
    catalog,
    publicUrl,
    limits: limits('catalog'),
    answers,
    freshness: freshnessOf(options.maxAgeSeconds),
    startedAt: new Date(),
    snapshots,
  }
  const rowService = { ...catalogService, limits: limits('rows'), blocks }

  for (const family of catalog.families) {
    const router = express.Router({ caseSensitive: true, strict: true })
    mount(router, datasetList(family, catalogService), family.trailingSlash)
    mount(router, datasetDetail(family, catalogService), family.trailingSlash)
    mount(router, tableRows(family, rowService), family.trailingSlash)
    app.use(family.prefix, router)
  }

  app.use(unknownAddress(catalog, publicUrl))
  app.use(answerProblems(log))
  return app
}

function unknownAddress(catalog: Catalog, publicUrl: URL): RequestHandler {
  const lists = catalog.families.map((family) => addressesOf(family, publicUrl).list)
  return (_req, _res, next) => {
    next(
      new Problem(
        'unknown-address',
        `There is nothing at this address; the datasets are at ${lists.join(' and ')}.`,
      ),
    )
  }
}
