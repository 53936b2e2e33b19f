import type { IncomingMessage, ServerResponse } from 'node:http'

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
