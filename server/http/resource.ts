import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler, Router } from 'express'
import type { LimitClass } from '../../core/catalog/names.ts'
import type { Responder, NamedResponse } from './responder.ts'
import { jsonType, sendBytes } from './send.ts'
import type { ClientOf } from './client.ts'
import { allowedMethods } from './headers.ts'
import { accountFor, type Account } from './limits.ts'
import { jsonOffer, varyByBrowser, wantsPage, type Offer } from './negotiation.ts'
import { Problem, type WholeTable } from './problems.ts'
import { publicPath, sendRedirect, type Redirect } from './redirect.ts'

export interface ResourceRequest {
  readonly params: Readonly<Record<string, unknown>>
  /** Path and query as received. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly client: string
  readonly account: Account
}

/** `find` names a response before its body is built; `respond` sends a file or a stream. */
export type Resource = Common & ({ readonly find: Find } | { readonly respond: Respond })

export type Found = NamedResponse | Redirect

type Find = (request: ResourceRequest) => Found | Promise<Found>
type Respond = (request: ResourceRequest, req: IncomingMessage, res: ServerResponse) => Promise<void>

interface Common {
  /** Route in the family, without a final slash, such as `/dataset/:dataset`. */
  readonly path: string
  readonly name: string
  readonly description: string
  /** Default `catalog`. */
  readonly countsAs?: LimitClass
  /** True if paths contain more than names of the catalog: `Shortcuts` must not store them all. */
  readonly hasEndlessAddresses?: boolean
  readonly offers?: readonly Offer[]
}

export type Browse = (
  resource: Pick<Resource, 'name'>,
  request: ResourceRequest,
  find: (headers: IncomingHttpHeaders) => Promise<Found>,
) => Promise<Found> | null

/** Sends a JSON text as a page if requested; returns whether it did. */
export type BrowseText = (req: IncomingMessage, res: ServerResponse, name: string, text: string) => boolean

export interface Serving {
  readonly publicUrl: URL
  readonly responder: Responder
  readonly shortcuts: Shortcuts
  readonly client: ClientOf
  /** Null if these resources have no pages. */
  readonly findPage: Browse | null
  /** Null if the route names no published table. */
  readonly wholeTableOf: (params: ResourceRequest['params']) => WholeTable | null
}

/**
 * Mounts a resource: GET, HEAD, OPTIONS, and 405 for the rest.
 * @param hasFinalSlash redirects (301) to a final slash; else both forms answer
 */
export function mount(
  router: Router,
  resource: Resource,
  hasFinalSlash: boolean,
  { publicUrl, responder, shortcuts, client, findPage, wholeTableOf }: Serving,
): void {
  const { path, name, description, countsAs = 'catalog', offers = [jsonOffer] } = resource
  const describe = descriptionHandler(
    name,
    description,
    offers.map(({ mediaTypes: [mediaType] }) => mediaType),
  )
  /** Answers, and stores a shortcut, so that later requests skip Express's routes. */
  const answer: RequestHandler = async (req, res) => {
    const { params, originalUrl } = req
    const answerTo = async (
      message: IncomingMessage,
      response: ServerResponse,
      target: string,
    ): Promise<void> => {
      const account = accountFor(response)
      Object.assign(account, { route: name, countsAs, findWholeTable: () => wholeTableOf(params) })
      const request = { params, target, headers: message.headers, client: client(message), account }
      if (!('find' in resource)) {
        await resource.respond(request, message, response)
        return
      }
      if (findPage !== null) varyByBrowser(message, response)
      const page =
        findPage !== null && wantsPage(message.headers, target)
          ? findPage(resource, request, async (headers) => resource.find({ ...request, headers }))
          : null
      const resourceFound = await (page ?? resource.find(request))
      if ('location' in resourceFound) sendRedirect(response, resourceFound.status, resourceFound.location)
      else await responder.send(message, response, resourceFound)
    }
    await answerTo(req, res, originalUrl)
    if (resource.hasEndlessAddresses === true) return
    shortcuts.remember(originalUrl, (message, response) => answerTo(message, response, message.url ?? ''))
  }
  router
    .route(path)
    .get(hasFinalSlash ? redirectToSlash(publicUrl) : answer)
    .options(describe)
    .all(refuse)
  router.route(`${path}/`).get(answer).options(describe).all(refuse)
}

export function mountHandler(
  router: Router,
  path: string,
  { name, description, countsAs = 'catalog' }: Pick<Resource, 'name' | 'description' | 'countsAs'>,
  handler: RequestHandler,
): void {
  router
    .route(path)
    .get((req, res, next) => {
      Object.assign(accountFor(res), { route: name, countsAs })
      return handler(req, res, next)
    })
    .options(descriptionHandler(name, description, []))
    .all(refuse)
}

function descriptionHandler(name: string, description: string, renders: readonly string[]): RequestHandler {
  return (_req, res) => {
    sendBytes(res, jsonType, [JSON.stringify({ name, description, renders, parses: [] })])
  }
}

const refuse: RequestHandler = (req, _res, next) => {
  next(new Problem('method-not-allowed', `Method "${req.method}" not allowed; allowed: ${allowedMethods}.`))
}

/** Keeps the query: without it, the redirect would return other rows. */
export const redirectToSlash =
  (publicUrl: URL): RequestHandler =>
  (req, res) => {
    const [path = '', ...query] = req.originalUrl.split('?')
    sendRedirect(res, 301, [`${publicPath(publicUrl, path)}/`, ...query].join('?'))
  }

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/**
 * Finds known paths at once: Express tries route after route, which costs as much as all other work of a
 * cached page.
 */
export class Shortcuts {
  readonly #handlers = new Map<string, Handler>()

  /** @param target path and query as received; the path has only names of the catalog */
  remember(target: string, handler: Handler): void {
    const path = pathOf(target)
    // Paths without escapes have one spelling, so the catalog bounds their number.
    if (/^(\/[\w.-]+)+\/?$/.test(path)) this.#handlers.set(path, handler)
  }

  find({ method, url = '' }: IncomingMessage): Handler | undefined {
    return method === 'GET' || method === 'HEAD' ? this.#handlers.get(pathOf(url)) : undefined
  }
}

/** Removes the query of a request target. */
export function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}
