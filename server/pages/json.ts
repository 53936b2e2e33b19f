import { escapeMarkup } from '../../core/text.ts'
import { framed, type PageContext } from './frame.ts'
import { html, markup, safeAddress, type Html, textOf } from './html.ts'
import type { Runtime } from '../routes/runtime.ts'
import type { IncomingHttpHeaders } from 'node:http'
import { pageHeaders } from '../http/headers.ts'
import type { Browse, BrowseText } from '../http/resource.ts'
import type { Body, NamedResponse, Responder } from '../http/responder.ts'
import { sendBytes } from '../http/send.ts'
import { languageFor } from '../documents/words/all.ts'
import { named, pagePolicy, contextFor, type PageContexts } from './service.ts'
import { varyByBrowser, wantsPage } from '../http/negotiation.ts'

interface JsonView {
  readonly name: string
  readonly address: string
  readonly text: string
  /** True if `text` is only the beginning of the JSON. */
  readonly isCut: boolean
}

/** Highlighting is slow; longer JSON is shown plain. */
const highlightedMax = 500_000
const jsonShownMax = 2_000_000

export function jsonPage(context: PageContext, { name, address, text, isCut }: JsonView): Html {
  const { words, catalog } = context
  const separator = address.includes('?') ? '&' : '?'
  const jsonAddress = `${address}${separator}format=json`
  const main = html`
    <h1>${name}</h1>
    <p>${catalog.notice}</p>
    <p><a href="${jsonAddress}" rel="nofollow">${words.asJson}</a></p>
    <pre
      class="json"
      tabindex="0"
    ><code>${text.length > highlightedMax ? text : markup(highlight(text))}</code></pre>
    ${isCut && html`<p><a href="${jsonAddress}" rel="nofollow">${words.jsonCut}</a></p>`}
  `
  return framed(context, { title: name, main, inLanguage: null })
}

/** Tokens of JSON; only white space separates them. */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g

/** Deeper values get no line breaks, since indenting extreme nesting would produce a huge page. */
const lineStarts = Array.from({ length: 20 }, (_, depth) => `\n${'  '.repeat(depth)}`)

/** Marks up JSON with one value per line, and keeps the spelling of numbers and texts. */
function highlight(text: string): string {
  const pieces: string[] = []
  let depth = 0
  let previous = ''
  const startLine = (): void => {
    const start = lineStarts[depth]
    if (start !== undefined) pieces.push(start)
  }
  const matches = text.match(tokens) ?? []
  for (const [index, token] of matches.entries()) {
    const isClosing = token === '}' || token === ']'
    const isAfterOpening = previous === '{' || previous === '['
    if (isClosing) depth -= 1
    const isEmptyPair = isClosing && isAfterOpening
    if ((isClosing || isAfterOpening) && !isEmptyPair) startLine()
    pieces.push(tokenPart(token, matches[index + 1] === ':'))
    if (token === '{' || token === '[') depth += 1
    if (token === ',') startLine()
    if (token === ':') pieces.push(' ')
    previous = token
  }
  return pieces.join('')
}

function tokenPart(token: string, isKey: boolean): string {
  if (token.startsWith('"')) {
    if (isKey) return `<span class="key">${escapeMarkup(token)}</span>`
    const address = token.length < 4000 ? addressIn(token) : null
    const text = escapeMarkup(token)
    return address === null ? text : `<a href="${escapeMarkup(address)}" rel="nofollow">${text}</a>`
  }
  return /^[-\d]/.test(token) ? `<span class="digits">${token}</span>` : token
}

function addressIn(token: string): string | null {
  if (!/^"https?:/i.test(token)) return null
  return safeAddress(JSON.parse(token) as string)
}

export function browsing(runtime: Runtime, contexts: PageContexts): Browse {
  const { publicUrl, responder } = runtime
  return ({ name }, { target, headers }, find) => {
    const context = pageContextFor(contexts, target, headers)
    if (context === null) return null
    const address = addressOf(publicUrl, target)
    return find({ ...headers, accept: 'application/json' }).then((answer) =>
      'location' in answer ? answer : pageOf({ ...runtime, context }, { name, address, answer }, responder),
    )
  }
}

export function browsingText({ publicUrl }: Runtime, contexts: PageContexts): BrowseText {
  return (req, res, name, text) => {
    const target = req.url ?? ''
    varyByBrowser(req, res)
    const context = pageContextFor(contexts, target, req.headers)
    if (context === null) return false
    res.setHeaders(new Headers(pageHeaders(pagePolicy, context.words.locale)))
    const page = jsonPage(context, { name, address: addressOf(publicUrl, target), text, isCut: false })
    sendBytes(res, 'text/html; charset=utf-8', [textOf(page)])
    return true
  }
}

/** Null if the client requests JSON. */
function pageContextFor(
  contexts: PageContexts,
  target: string,
  headers: IncomingHttpHeaders,
): PageContext | null {
  return wantsPage(headers, target) ? contextFor(contexts, languageFor(headers['accept-language'])) : null
}

function addressOf({ origin, pathname }: URL, target: string): string {
  return `${origin}${pathname.replace(/\/$/, '')}${target}`
}

interface Browsed {
  readonly name: string
  readonly address: string
  readonly answer: NamedResponse
}

function pageOf(
  service: Pick<Runtime, 'freshness'> & { readonly context: PageContext },
  { name, address, answer }: Browsed,
  responder: Responder,
): NamedResponse {
  const page = named(service, ['json', address, answer.name])
  return {
    ...page,
    cacheControl: answer.cacheControl,
    headers: { ...answer.headers, ...page.headers },
    // Charge the work of the JSON, which the page needs too.
    ...(answer.work !== undefined && { work: answer.work }),
    body: async (signal) => {
      const { pieces, headers, serverTiming } = await responder.bodyOf(answer, signal)
      const { text, isCut } = beginningOf(pieces)
      return {
        pieces: [textOf(jsonPage(service.context, { name, address, text, isCut }))],
        ...(headers !== undefined && { headers }),
        ...(serverTiming !== undefined && { serverTiming }),
      }
    },
  }
}

/** Decodes only as much as is shown. */
function beginningOf(pieces: Body['pieces']): { readonly text: string; readonly isCut: boolean } {
  const decoder = new TextDecoder()
  let [text, isCut] = ['', false]
  for (const piece of pieces) {
    const room = jsonShownMax - text.length
    isCut ||= piece.length > room
    if (room <= 0) break
    text +=
      typeof piece === 'string'
        ? piece.slice(0, room)
        : decoder.decode(piece.subarray(0, room), { stream: !isCut })
  }
  return { text: isCut ? text.replace(/\uFFFD$/, '') : text, isCut }
}
