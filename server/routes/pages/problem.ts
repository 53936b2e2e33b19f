import type { IncomingHttpHeaders } from 'node:http'
import { acceptedTypes } from '../../http/negotiation.ts'
import { pageHeaders } from '../../http/page-headers.ts'
import type { ProblemForm } from '../../http/problems.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { problemPage } from '../../pages/problem.ts'
import { languageFor } from '../../pages/words/all.ts'
import { languages } from '../../../core/catalog/languages.ts'
import { parametersOf } from '../../query/string.ts'
import { pagePolicy, type Settings } from './documents.ts'

/**
 * Returns whether a person's browser sent the request. Programs also accept HTML, often by default, but only browsers accept
 * XHTML or navigate. A request that names a format is never one for a page.
 */
export function wantsPage(headers: IncomingHttpHeaders, target: string): boolean {
  if (/[?&]format=[^&]/.test(target)) return false
  // Most requests come from programs: they need no parsing.
  if (!/html/i.test(headers.accept ?? '')) return false
  const accepted = acceptedTypes(headers)
  if (accepted.includes('application/xhtml+xml')) return true
  const [best] = accepted
  const isHtml = best === 'text/html'
  if (headers['sec-fetch-mode'] === 'navigate') return isHtml
  return isHtml && !accepted.includes('application/json') && !accepted.includes('*/*')
}

/** Errors as pages, in the language of the address, or else of the browser. */
export function problemForms(
  settings: Settings,
): (target: string, headers: IncomingHttpHeaders) => ProblemForm {
  return (target, headers) => {
    const [, first] = target.split('/', 2)
    const language = languages.find((one) => one === first) ?? languageFor(headers['accept-language'])
    const setting = settings.get(language)
    if (setting === undefined) throw new Error('there are no pages in this language')
    return formIn(setting, target)
  }
}

/** The parameters of an address, as far as it can be decoded. */
function askedIn(target: string): readonly (readonly [string, string])[] {
  try {
    return parametersOf(target)
  } catch {
    return []
  }
}

function formIn(setting: Setting, target: string): ProblemForm {
  return {
    mediaType: 'text/html; charset=utf-8',
    headers: pageHeaders(pagePolicy, setting.words.locale),
    text: ({ code, message, extras: { headers, instead = null, errors = [] } }, instance) => {
      const wait = headers?.['Retry-After']
      const retrySeconds = wait === undefined ? null : Number(wait)
      const [, latest = null] = /^<([^<>]+)>; rel="latest-version"/.exec(headers?.['Link'] ?? '') ?? []
      const isOfApi = !languages.some((language) => target.startsWith(`/${language}/`))
      return textOf(
        problemPage(setting, {
          code,
          detail: message,
          instance,
          retrySeconds,
          instead,
          errors,
          asked: askedIn(target),
          latest,
          isOfApi,
        }),
      )
    },
  }
}
