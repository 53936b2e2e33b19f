import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { RequestHandler, Router } from 'express'
import type { LimitClass } from '../../core/catalog/names.ts'
import type { Responder, NamedResponse } from './responder.ts'
import { jsonType, sendBytes } from './send.ts'
import type { ClientOf } from './client.ts'
import { allowedMethods } from './headers.ts'
import { accountFor, type Account } from './limits.ts'
import { jsonOffer, wantsPage, type Offer } from './negotiation.ts'
import { Problem, type WholeTable } from './problems.ts'

/** What is asked of a resource. */
export interface ResourceRequest {
  /** Of the route, decoded. */
  readonly params: Readonly<Record<string, unknown>>
  /** Path and query as they came. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Who asks. */
  readonly client: string
  /** What it counts. */
  readonly account: Account
}

/** An address shape and how it answers: with an answer that is named before it is made, or in a way of its own. */
export type Resource = Common & ({ readonly find: Find } | { readonly respond: Respond })

type Find = (request: ResourceRequest) => NamedResponse | Promise<NamedResponse>
type Respond = (request: ResourceRequest, req: IncomingMessage, res: ServerResponse) => Promise<void>

interface Common {
  /** Route of the family, without a final slash, such as `/dataset/:dataset`. */
  readonly path: string
  /** Told to OPTIONS. */
  readonly name: string
  readonly description: string
  /** What asks for it count as; as those for the catalog where it does not say. */
  readonly countsAs?: LimitClass
  /** Whether its paths have more than names of the catalog in them, so that there may be any number of them. */
  readonly isEndless?: boolean
  /** What it can be had as; JSON alone where it does not say. */
  readonly offers?: readonly Offer[]
}

/** The answer of a resource as a page for people; null where there is no such page. */
export type Browse = (
  resource: Pick<Resource, 'name'>,
  request: ResourceRequest,
  find: (headers: IncomingHttpHeaders) => Promise<NamedResponse>,
) => Promise<NamedResponse> | null

/** Sends JSON that has no name as a page, where that is asked for; says whether it did. */
export type BrowseText = (req: IncomingMessage, res: ServerResponse, name: string, text: string) => boolean

/** What resources are served with. */
export interface Serving {
  readonly responder: Responder
  readonly shortcuts: Shortcuts
  readonly client: ClientOf
  /** Of resources that answer JSON; null where there are no pages of them. */
  readonly browse: Browse | null
  /** What gives the whole table that a route names; null where it names none that is published. */
  readonly wholeTable: (params: ResourceRequest['params']) => WholeTable | null
}

/**
 * Puts a resource on a router: GET, HEAD, OPTIONS, and 405 for the rest.
 *
 * @param slashed whether the family writes its addresses with a final slash: then the form without one
 *   leads to it (301), otherwise both answer
 */
export function mount(
  router: Router,
  resource: Resource,
  slashed: boolean,
  { responder, shortcuts, client, browse, wholeTable }: Serving,
): void {
  const { path, name, description, countsAs = 'catalog', offers = [jsonOffer] } = resource
  const describe = describing(
    name,
    description,
    offers.map(({ mediaTypes: [own] }) => own),
  )
  const answer: RequestHandler = async (req, res) => {
    const { params, originalUrl } = req
    const answerTo = async (plain: IncomingMessage, out: ServerResponse, target: string): Promise<void> => {
      const account = accountFor(out)
      Object.assign(account, { route: name, countsAs, instead: () => wholeTable(params) })
      const request = { params, target, headers: plain.headers, client: client(plain), account }
      if (!('find' in resource)) {
        await resource.respond(request, plain, out)
        return
      }
      const page =
        browse !== null && wantsPage(plain.headers, target)
          ? browse(resource, request, async (accepting) => resource.find({ ...request, headers: accepting }))
          : null
      await responder.send(plain, out, await (page ?? resource.find(request)))
    }
    await answerTo(req, res, originalUrl)
    if (resource.isEndless === true) return
    shortcuts.remember(originalUrl, (plain, out) => answerTo(plain, out, plain.url ?? ''))
  }
  router
    .route(path)
    .get(slashed ? leadToSlash : answer)
    .options(describe)
    .all(refuse)
  router.route(`${path}/`).get(answer).options(describe).all(refuse)
}

/** Puts a plain handler on a router: GET, HEAD, OPTIONS, and 405 for the rest. What it counts is its own business. */
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
    .options(describing(name, description, []))
    .all(refuse)
}

function describing(name: string, description: string, renders: readonly string[]): RequestHandler {
  return (_req, res) => {
    sendBytes(res, jsonType, [JSON.stringify({ name, description, renders, parses: [] })])
  }
}

const refuse: RequestHandler = (req, _res, next) => {
  next(new Problem('method-not-allowed', `Method "${req.method}" not allowed; allowed: ${allowedMethods}.`))
}

// Relative, so it holds behind any proxy, with `./` so that no slug reads as a scheme. The query stays, since
// a lost one would return other rows unnoticed.
export const leadToSlash: RequestHandler = (req, res) => {
  const [path = '', ...query] = req.originalUrl.split('?')
  res.status(301)
  res.setHeader('Location', [`./${path.slice(path.lastIndexOf('/') + 1)}/`, ...query].join('?'))
  res.end()
}

/** Answers a request whose address it was made for. */
type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/**
 * The handlers of paths that were found before. Express tries one route after the other, which costs as much as all
 * that comes after it for a page that is at hand; a path that it has led to a resource once goes there at once.
 */
export class Shortcuts {
  readonly #handlers = new Map<string, Handler>()

  /** @param target path and query as they came, of a path that names something of the catalog and nothing else */
  remember(target: string, handler: Handler): void {
    const path = pathOf(target)
    // In this plain form there are no more paths than the catalog has names.
    if (/^(\/[\w.-]+)+\/?$/.test(path)) this.#handlers.set(path, handler)
  }

  find({ method, url = '' }: IncomingMessage): Handler | undefined {
    return method === 'GET' || method === 'HEAD' ? this.#handlers.get(pathOf(url)) : undefined
  }
}

/** The path of a request target, without its query. */
export function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end === -1 ? target : target.slice(0, end)
}
