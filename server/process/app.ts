import type { Runtime } from '../routes/runtime.ts'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import { withoutAccents, type Catalog } from '../../core/catalog/catalog.ts'
import { addressesOf } from '../http/addresses.ts'
import { commonHeaders } from '../http/headers.ts'
import { accountFor, openAccount } from '../http/limits.ts'
import { logRequests, requireDecodable, requireWellFormed } from '../http/requests.ts'
import type { Log } from '../base/log.ts'
import type { Meter } from '../base/meter.ts'
import { answerProblem, Problem, starting } from '../http/problems.ts'
import { redirectToSlash, mount, mountHandler, pathOf, Shortcuts } from '../http/resource.ts'
import { datasetDetail } from '../routes/dataset-detail.ts'
import { datasetList } from '../routes/dataset-list.ts'
import { documentsRouter } from '../routes/documents/mount.ts'
import { familyReference, tableReference } from '../routes/documents/openapi.ts'
import { documentService } from '../routes/documents/service.ts'
import { apiIndex } from '../routes/api-index.ts'
import { mountFiles } from '../routes/files.ts'
import { health, livez, readyz, limitsOf } from '../routes/health.ts'
import { wholeTableOf } from '../routes/find.ts'
import { contextsOf, type PageContexts } from '../pages/service.ts'
import { browsing, browsingText } from '../pages/json.ts'
import { pagesRouter } from '../pages/router.ts'
import { problemForms } from '../pages/problem.ts'
import { wantsPage } from '../http/negotiation.ts'
import { problemOf } from '../routes/problem-of.ts'
import { tableChanges } from '../routes/table-changes.ts'
import { tableHistory } from '../routes/table-history.ts'
import { tableAggregate } from '../routes/table-aggregate.ts'
import { tableExport } from '../routes/table-export.ts'
import { tableDetail } from '../routes/table-detail.ts'
import { tableRows } from '../routes/table-rows.ts'

/** Opens nothing: `runtime` contains all open resources. */
export function createApp(runtime: Runtime): RequestListener {
  const { catalog, publicUrl, client, limiter, log, meter } = runtime
  const logRequest = logRequests(log, client, meter)
  const setHeaders = commonHeaders(withoutAccents(catalog.notice), publicUrl)
  const shortcuts = new Shortcuts()
  const contexts = contextsOf(catalog, publicUrl)
  const handleError = problemSender(contexts, log, meter)
  const handleRoute = routes(runtime, contexts, shortcuts, handleError)

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    requireWellFormed(req)
    if (!runtime.readiness.isLoaded && !isProbe(req)) await waitUntilLoaded(runtime, req)
    const shortcut = shortcuts.find(req)
    if (shortcut === undefined) handleRoute(req, res)
    else await shortcut(req, res)
  }
  return (req, res) => {
    logRequest(req, res)
    setHeaders(req, res)
    openAccount(limiter, client, req, res)
    answer(req, res).catch((error: unknown) => handleError(error, res))
  }
}

function routes(
  runtime: Runtime,
  contexts: PageContexts,
  shortcuts: Shortcuts,
  handleError: SendProblem,
): Express {
  const { catalog, publicUrl, responder, client } = runtime
  const app = express()
  app.disable('etag').disable('x-powered-by')
  app.enable('case sensitive routing')
  app.set('query parser', false)
  app.use(requireDecodable)

  const documents = documentService(runtime)
  const serving = {
    publicUrl,
    responder,
    shortcuts,
    client,
    findPage: null,
    wholeTableOf: wholeTableOf(runtime),
  }
  const browsable = { ...serving, findPage: browsing(runtime, contexts) }
  const toSlash = redirectToSlash(publicUrl)
  for (const family of catalog.families) {
    const router = express.Router({ caseSensitive: true, strict: true })
    const resources = [
      apiIndex(family, runtime),
      datasetList(family, runtime),
      datasetDetail(family, runtime),
      tableDetail(family, runtime),
      tableRows(family, runtime),
      tableExport(family, runtime),
      tableAggregate(family, runtime),
      tableChanges(family, runtime),
      tableHistory(family, runtime),
    ]
    for (const resource of resources) mount(router, resource, family.trailingSlash, browsable)
    const references = [familyReference(family, documents), tableReference(family, documents)]
    for (const reference of references) mount(router, reference, false, browsable)
    // Redirect here: inside the router, `/api` and `/api/` look the same.
    app.use(family.prefix, (req, res, next) =>
      pathOf(req.originalUrl) === family.prefix && ['GET', 'HEAD'].includes(req.method)
        ? toSlash(req, res, next)
        : router(req, res, next),
    )
  }

  app.use(documentsRouter(documents, serving))
  app.use(pagesRouter(runtime, contexts, serving))

  const files = express.Router({ caseSensitive: true, strict: true })
  mountFiles(files, documents, browsable)
  app.use('/files', files)
  mountHandler(app, '/livez', { name: 'Liveness', description: 'Liveness: the process responds.' }, livez())
  const readiness = { name: 'Readiness', description: '1 if all published tables are loaded.' }
  mountHandler(app, '/readyz', readiness, readyz(runtime.readiness))
  mountHandler(
    app,
    '/limits',
    { name: 'Limits', description: 'Remaining quotas of the client.' },
    limitsOf(runtime, browsingText(runtime, contexts)),
  )
  mountHandler(
    app,
    '/health',
    { name: 'Health', description: 'State of the service.' },
    health(runtime, browsingText(runtime, contexts)),
  )

  app.use(unknownAddress(catalog, publicUrl))
  const answerErrors: ErrorRequestHandler = (error, _req, res, _next) => handleError(error, res)
  app.use(answerErrors)
  return app
}

const loadingMs = 2000

async function waitUntilLoaded(
  { catalog, snapshots, readiness }: Runtime,
  { url = '' }: IncomingMessage,
): Promise<void> {
  const names = pathOf(url).split('/')
  const dataset = names.map((name) => catalog.datasets.get(name)).find((item) => item !== undefined)
  if (dataset === undefined) {
    if (!(await readiness.waitFor(loadingMs))) throw starting()
    return
  }
  const matches = [...dataset.tables.values()].filter(({ name }) => names.includes(name))
  const tables = matches.length > 0 ? matches : [...dataset.tables.values()]
  await Promise.all(tables.map((table) => snapshots.loaded(table)))
}

const probes = new Set(['/livez', '/readyz', '/health'])

function isProbe({ url = '' }: IncomingMessage): boolean {
  return probes.has(pathOf(url))
}

type SendProblem = (error: unknown, res: ServerResponse) => void

/** Never throws, so that a failed response cannot end the process. Browsers get a page; programs get JSON. */
function problemSender(contexts: PageContexts, log: Log, meter: Meter | null): SendProblem {
  const pageWriterFor = problemForms(contexts)
  const send = async (error: unknown, res: ServerResponse): Promise<void> => {
    const { url = '', headers } = res.req
    try {
      const problem = problemOf(await accountFor(res).settle(error))
      if (problem instanceof Problem) meter?.refused(problem.code)
      answerProblem(problem, res, log, wantsPage(headers, url) ? pageWriterFor(url, headers) : undefined)
    } catch (cause) {
      log.error({ err: cause }, 'the response about an error could not be sent')
      res.destroy()
    }
  }
  return (error, res) => void send(error, res)
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
