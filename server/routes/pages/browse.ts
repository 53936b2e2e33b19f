import type { Runtime } from '../runtime.ts'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { pageHeaders } from '../../http/headers.ts'
import type { Browse } from '../../http/resource.ts'
import type { Body, NamedResponse, Responder } from '../../http/responder.ts'
import { sendBytes } from '../../http/send.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { jsonPage, jsonShownMax } from '../../pages/json.ts'
import { languageFor } from '../../pages/words/all.ts'
import { named, pagePolicy, settingFor, type Settings } from './documents.ts'
import { wantsPage } from '../../http/negotiation.ts'

/** Shows whoever asks with a browser what programs get at an address of JSON; `format=` always wins. */
export function browsing(runtime: Runtime, settings: Settings): Browse {
  const { publicUrl, responder } = runtime
  return ({ name }, { target, headers }, find) => {
    const setting = askedSetting(settings, target, headers)
    if (setting === null) return null
    const address = addressOf(publicUrl, target)
    return find({ ...headers, accept: 'application/json' }).then((answer) =>
      pageOf({ ...runtime, setting }, { name, address, answer }, responder),
    )
  }
}

/** Sends JSON that has no name as a page, where that is asked for; says whether it did. */
export type BrowseText = (req: IncomingMessage, res: ServerResponse, name: string, text: string) => boolean

export function browsingText({ publicUrl }: Runtime, settings: Settings): BrowseText {
  return (req, res, name, text) => {
    const target = req.url ?? ''
    const setting = askedSetting(settings, target, req.headers)
    if (setting === null) return false
    res.setHeader('Vary', varied)
    res.setHeaders(new Headers(pageHeaders(pagePolicy, setting.words.locale)))
    const page = jsonPage(setting, { name, address: addressOf(publicUrl, target), text, isCut: false })
    sendBytes(res, 'text/html; charset=utf-8', [textOf(page)])
    return true
  }
}

const varied = 'Accept, Accept-Encoding, Accept-Language, Sec-Fetch-Mode'

/** In which setting a page is asked for; null where JSON is. */
function askedSetting(settings: Settings, target: string, headers: IncomingHttpHeaders): Setting | null {
  return wantsPage(headers, target) ? settingFor(settings, languageFor(headers['accept-language'])) : null
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
  service: Pick<Runtime, 'freshness'> & { readonly setting: Setting },
  { name, address, answer }: Browsed,
  responder: Responder,
): NamedResponse {
  const page = named(service, ['json', address, answer.name])
  return {
    ...page,
    cacheControl: answer.cacheControl,
    headers: { ...answer.headers, ...page.headers, Vary: varied },
    // What is shown is made first.
    ...(answer.cost !== undefined && { cost: answer.cost }),
    body: async (signal) => {
      const { pieces, headers, serverTiming } = await responder.bodyOf(answer, signal)
      const { text, isCut } = beginningOf(pieces)
      return {
        pieces: [textOf(jsonPage(service.setting, { name, address, text, isCut }))],
        ...(headers !== undefined && { headers }),
        ...(serverTiming !== undefined && { serverTiming }),
      }
    },
  }
}

/** So much of an answer as is shown, so that nothing large is copied for it. */
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
