import express, { type ErrorRequestHandler, type RequestHandler, type Router } from 'express'
import { ConcurrencyLimit } from '../../base/queue.ts'
import {
  ActionError,
  actions,
  ckanOf,
  type ActionParameters,
  type Ckan,
} from '../../documents/ckan/actions.ts'
import { allowedMethods } from '../../http/headers.ts'
import { accountFor } from '../../http/limits.ts'
import { Problem } from '../../http/problems.ts'
import type { ClientOf } from '../../http/client.ts'
import type { Serving } from '../../http/resource.ts'
import { disconnectSignal, jsonType, sendBytes } from '../../http/send.ts'
import { parametersOf } from '../../query/parameters.ts'
import { datasetViews, documentResponse, type DocumentService } from './service.ts'

const methods = `${allowedMethods}, POST`

const bodyBytesMax = 100_000
/** Parsers and writers of JSON are recursive, so deep bodies could overflow the stack. */
const bodyDepthMax = 32
/** Many concurrent bodies in all, since one is small, and few of each client, which may not finish them. */
const bodyLimits = { max: 200, clientMax: 4, queueTimeoutMs: 5000, queueLengthMax: 2000 }

/** Read-only CKAN API at `/api/3/action/` and `/api/action/`, by GET or POST. */
export function ckanRouter(service: DocumentService, { responder, client }: Serving): Router {
  const router = express.Router({ caseSensitive: true, strict: false })
  const ckan = cacheCkan(service)
  const answer =
    (readParameters: (req: Parameters<RequestHandler>[0]) => ActionParameters): RequestHandler =>
    async (req, res) => {
      const name = String(req.params['action'])
      const action = Object.hasOwn(actions, name) ? actions[name] : undefined
      const help = `${service.writing.base}/api/3/action/help_show?name=${encodeURIComponent(name)}`
      const actionNames = Object.keys(actions).join(', ')
      try {
        if (action === undefined) {
          throw new ActionError(400, 'Bad Request', `Unknown action: ${name}; known actions: ${actionNames}`)
        }
        const parameters = readParameters(req)
        const descriptor = { key: ['ckan', name, keyOf(parameters)], tables: null }
        const response = documentResponse(service, descriptor, jsonType, () =>
          JSON.stringify({ help, success: true, result: action(ckan(), parameters) }),
        )
        await responder.send(req, res, response)
      } catch (error) {
        if (!(error instanceof ActionError)) throw error
        const { status, type, message, details } = error
        await accountFor(res).spend()
        res.statusCode = status
        res.setHeader('Cache-Control', 'no-store')
        const errorDetails = { ...details, __type: type, message }
        sendBytes(res, jsonType, [JSON.stringify({ help, success: false, error: errorDetails })])
      }
    }
  router
    .route(['/api/3/action/:action', '/api/action/:action'])
    .get(
      setAllowedMethods,
      answer((req) => queryOf(req.originalUrl)),
    )
    .post(
      setAllowedMethods,
      bodyReader(client),
      answer((req) => recordOf(req.body as unknown)),
    )
    .options(describe)
    .all(refuse)
  router.use(refuseUnreadableBody)
  return router
}

const setAllowedMethods: RequestHandler = (_req, res, next) => {
  res.setHeader('Allow', methods)
  accountFor(res).route = 'CKAN Action'
  next()
}

const describe: RequestHandler = (_req, res) => {
  const descriptor = {
    name: 'CKAN Action',
    description: "CKAN's action API, read-only.",
    renders: [jsonType],
  }
  res.setHeader('Allow', methods)
  res.setHeader('Access-Control-Allow-Methods', methods)
  sendBytes(res, jsonType, [JSON.stringify({ ...descriptor, parses: [jsonType] })])
}

const refuse: RequestHandler = (req, _res, next) => {
  next(
    new Problem('method-not-allowed', `Method "${req.method}" not allowed; allowed: ${methods}.`, {
      headers: { Allow: methods },
    }),
  )
}

function cacheCkan(service: DocumentService): () => Ckan {
  let [version, cached] = [-1, null as Ckan | null]
  return () => {
    if (cached === null || version !== service.snapshots.version) {
      version = service.snapshots.version
      cached = ckanOf(service.writing, datasetViews(service))
    }
    return cached
  }
}

/** Limits concurrent bodies, so that unfinished ones cannot fill the memory. */
function bodyReader(client: ClientOf): RequestHandler {
  const bodies = new ConcurrencyLimit(bodyLimits, 'request bodies')
  const parse = express.json({
    limit: bodyBytesMax,
    strict: true,
    type: () => true,
    verify: (_req, _res, bytes, encoding) => {
      if (encoding !== 'utf-8' || depthOf(bytes) > bodyDepthMax) throw new TypeError('unreadable JSON')
    },
  })
  return async (req, res, next) => {
    const read = async (): Promise<void> =>
      new Promise((resolve, reject) => {
        parse(req, res, (error?: unknown) => (error === undefined ? resolve() : reject(error)))
      })
    await bodies.during(client(req), disconnectSignal(res)(), read)
    next()
  }
}

function depthOf(bytes: Uint8Array): number {
  let [depth, deepest, isInText] = [0, 0, false]
  for (let index = 0; index < bytes.length; index += 1) {
    const sign = String.fromCodePoint(bytes[index] ?? 0)
    if (sign === '"') isInText = !isInText
    else if (isInText && sign === '\\') index += 1
    else if (!isInText && (sign === '[' || sign === '{')) depth += 1
    else if (!isInText && (sign === ']' || sign === '}')) depth -= 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

function queryOf(target: string): ActionParameters {
  const values = new Map<string, string[]>()
  for (const [name, value] of parametersOf(target)) {
    const list = values.get(name)
    if (list === undefined) values.set(name, [value])
    else list.push(value)
  }
  return Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list]))
}

/** The key contains the minute if the request depends on the time. */
function keyOf(parameters: ActionParameters): string {
  const text = JSON.stringify(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return text.includes('NOW') ? `${text} ${Math.floor(Date.now() / 60_000)}` : text
}

function recordOf(body: unknown): ActionParameters {
  // An empty body has no parameters.
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as ActionParameters
  throw new ActionError(400, 'Bad Request', 'The body must be a JSON object, such as {"id": "covid19"}.')
}

const refuseUnreadableBody: ErrorRequestHandler = (error: unknown, _req, _res, next) => {
  const isOfBody = typeof error === 'object' && error !== null && 'type' in error && 'status' in error
  if (!isOfBody) {
    next(error)
    return
  }
  const detail = `The body must be JSON in UTF-8 of at most ${bodyBytesMax} bytes and ${bodyDepthMax} levels, such as {"id": "covid19"}.`
  next(Object.assign(new Problem('malformed-request', detail), { cause: error }))
}
