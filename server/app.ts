import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Catalog } from '../core/catalog/catalog.ts'
import { addressesOf } from './http/addresses.ts'
import type { Responder } from './http/responder.ts'
import { freshnessOf } from './http/freshness.ts'
import { clientOf } from './http/client.ts'
import { commonHeaders } from './http/headers.ts'
import { sparingUse, type Limiter } from './http/limits.ts'
import { logRequests } from './http/logging.ts'
import type { Log } from './log.ts'
import { answerProblem, Problem } from './http/problems.ts'
import { requireDecodable, requireSound } from './http/requests.ts'
import type { ConcurrencyLimit } from './concurrency/limit.ts'
import { mount, mountHandler } from './http/resource.ts'
import { Shortcuts } from './http/shortcuts.ts'
import type { SendBudget } from './http/send-budget.ts'
import { datasetDetail } from './routes/dataset-detail.ts'
import { datasetList } from './routes/dataset-list.ts'
import { documentsRouter } from './routes/documents/mount.ts'
import { familyReference, tableReference } from './routes/documents/openapi.ts'
import { documentService } from './routes/documents/service.ts'
import { mountFiles } from './routes/files.ts'
import { health } from './routes/health.ts'
import { settingsOf, type Settings } from './routes/pages/documents.ts'
import { browsing, browsingText } from './routes/pages/browse.ts'
import { pagesRouter } from './routes/pages/mount.ts'
import { problemForms, wantsPage } from './routes/pages/problem.ts'
import { problemOf } from './routes/problem-of.ts'
import { tableExport } from './routes/table-export.ts'
import { tableDetail } from './routes/table-detail.ts'
import { tableRows } from './routes/table-rows.ts'
import type { RowEngine } from './representations/page.ts'
import type { PublicLake } from './snapshots/public-lake.ts'
import type { PublicViews } from './snapshots/public-views.ts'
import type { Snapshots } from './snapshots/snapshots.ts'

export interface AppOptions {
  readonly catalog: Catalog
  readonly publicUrl: URL
  readonly rateLimits: boolean
  /** How many clients the limits tell apart. */
  readonly clientsMax: number
  /** Proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
  readonly maxAgeSeconds: number
  readonly pageBytesMax: number
  /** Of exports, and of files that are sent. */
  readonly exports: ConcurrencyLimit
  readonly transfers: ConcurrencyLimit
  readonly sendBudget: SendBudget
  readonly snapshots: Snapshots
  readonly engine: RowEngine
  readonly responder: Responder
  readonly views: PublicViews
  readonly lake: PublicLake
  readonly log: Log
  /** Folder for what is made while it runs. */
  readonly scratch: string
}

/** The service in reading order. It opens nothing: what lives is handed in. */
export function createApp(options: AppOptions): RequestListener {
  const { catalog, log } = options
  const logRequest = logRequests(log)
  const setHeaders = commonHeaders(catalog.notice)
  const shortcuts = new Shortcuts()
  const settings = settingsOf(catalog, options.publicUrl)
  const tell = problemTeller(settings, log)
  const routed = routes(options, settings, shortcuts, tell)

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    requireSound(req)
    const shortcut = shortcuts.find(req)
    if (shortcut === undefined) routed(req, res)
    else await shortcut(req, res)
  }
  return (req, res) => {
    logRequest(req, res)
    setHeaders(req, res)
    answer(req, res).catch((error: unknown) => tell(error, res))
  }
}

function routes(options: AppOptions, settings: Settings, shortcuts: Shortcuts, tell: TellProblem): Express {
  const { catalog, publicUrl, snapshots, engine, responder } = options
  const app = express()
  app.disable('etag').disable('x-powered-by')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.use(requireDecodable)

  const client = clientOf(options.trustProxy)
  const advice = 'For a complete dataset, download its files through the links of its dataset page.'
  const limiter = (kind: keyof Catalog['limits']): Limiter | null => {
    const { rateLimits, clientsMax } = options
    const limits = catalog.limits[kind]
    return rateLimits ? sparingUse({ kind, limits, advice, client, clientsMax }) : null
  }
  const catalogService = {
    catalog,
    publicUrl,
    limiter: limiter('catalog'),
    freshness: freshnessOf(options.maxAgeSeconds),
    startedAt: new Date(),
    snapshots,
  }
  const rowService = {
    ...catalogService,
    limiter: limiter('rows'),
    engine,
    pageBytesMax: options.pageBytesMax,
    exports: options.exports,
    transfers: options.transfers,
    sendBudget: options.sendBudget,
  }

  const documents = documentService(catalogService)
  const serving = { responder, shortcuts, client, browse: null }
  const browsable = { ...serving, browse: browsing({ ...catalogService, settings }, responder) }
  for (const family of catalog.families) {
    const router = express.Router({ caseSensitive: true, strict: true })
    const resources = [
      datasetList(family, catalogService),
      datasetDetail(family, catalogService),
      tableDetail(family, catalogService),
      tableRows(family, rowService),
      tableExport(family, rowService),
    ]
    for (const resource of resources) mount(router, resource, family.trailingSlash, browsable)
    const references = [familyReference(family, documents), tableReference(family, documents)]
    for (const reference of references) mount(router, reference, false, browsable)
    app.use(family.prefix, router)
  }

  app.use(documentsRouter(documents, serving))
  app.use(pagesRouter(rowService, settings, serving, options.scratch))

  const files = express.Router({ caseSensitive: true, strict: true })
  const fileService = {
    ...catalogService,
    limiter: limiter('files'),
    views: options.views,
    lake: options.lake,
    transfers: options.transfers,
    sendBudget: options.sendBudget,
    client,
    writing: documents.writing,
  }
  mountFiles(files, fileService, browsable)
  app.use('/files', files)
  mountHandler(
    app,
    '/health',
    { name: 'Health', description: 'How the service is.' },
    health(snapshots, browsingText({ ...catalogService, settings })),
  )

  app.use(unknownAddress(catalog, publicUrl))
  const answerErrors: ErrorRequestHandler = (error, _req, res, _next) => tell(error, res)
  app.use(answerErrors)
  return app
}

type TellProblem = (error: unknown, res: ServerResponse) => void

/** One answer may break, the service never. People get a page, and programs JSON. */
function problemTeller(settings: Settings, log: Log): TellProblem {
  const formFor = problemForms(settings)
  return (error, res) => {
    const { url = '', headers } = res.req
    try {
      answerProblem(problemOf(error), res, log, wantsPage(headers, url) ? formFor(url, headers) : undefined)
    } catch (cause) {
      log.error({ err: cause }, 'a problem could not be told')
      res.destroy()
    }
  }
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
