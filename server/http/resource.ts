import type { Request, RequestHandler, Response, Router } from 'express'
import { sendJson } from './send.ts'
import { allowedMethods } from './headers.ts'
import { mediaTypes } from './negotiation.ts'
import { Problem } from './problems.ts'

/** An address shape and how it answers. */
export interface Resource {
  /** Route of the family, without a final slash, such as `/dataset/:dataset`. */
  readonly path: string
  /** Told to OPTIONS. */
  readonly name: string
  readonly description: string
  readonly limits: readonly RequestHandler[]
  readonly get: (req: Request, res: Response) => void | Promise<void>
}

/**
 * Puts a resource on a router: GET, HEAD, OPTIONS, and 405 for the rest.
 *
 * @param slashed whether the family writes its addresses with a final slash: then the form without one
 *   leads to it (301), otherwise both answer
 */
export function mount(router: Router, resource: Resource, slashed: boolean): void {
  const { path, name, description, limits, get } = resource
  const describe: RequestHandler = (_req, res) =>
    sendJson(res, [JSON.stringify({ name, description, renders: mediaTypes, parses: [] })])
  const answer: RequestHandler[] = [...limits, get]
  router
    .route(path)
    .get(...(slashed ? [leadToSlash] : answer))
    .options(describe)
    .all(refuse)
  router
    .route(`${path}/`)
    .get(...answer)
    .options(describe)
    .all(refuse)
}

const refuse: RequestHandler = (req, _res, next) => {
  next(new Problem('method-not-allowed', `Method "${req.method}" not allowed; allowed: ${allowedMethods}.`))
}

// Relative, so it holds behind any proxy, with `./` so that no slug reads as a scheme. The query stays, since
// a lost one would return other rows unnoticed.
const leadToSlash: RequestHandler = (req, res) => {
  const path = req.path.slice(req.path.lastIndexOf('/') + 1)
  const start = req.url.indexOf('?')
  res.status(301)
  res.setHeader('Location', `./${path}/${start === -1 ? '' : req.url.slice(start)}`)
  res.end()
}
