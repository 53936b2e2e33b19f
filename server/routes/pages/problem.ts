import type { IncomingHttpHeaders } from 'node:http'
import { acceptable, jsonOffer } from '../../http/negotiation.ts'
import { pageHeaders } from '../../http/page-headers.ts'
import type { ProblemForm } from '../../http/problems.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { problemPage } from '../../pages/problem.ts'
import { languageFor } from '../../pages/words/all.ts'
import { languages } from '../../../core/catalog/languages.ts'
import { htmlOffer, pagePolicy, type Settings } from './documents.ts'

/**
 * Whether a browser asks for a person: programs that take anything get what they got before there were pages, and so does
 * whoever names a format.
 */
export function wantsPage(headers: IncomingHttpHeaders, target: string): boolean {
  if (/[?&]format=/.test(target)) return false
  return (
    /\btext\/html\b/i.test(headers.accept ?? '') && acceptable(headers, [jsonOffer, htmlOffer]) === htmlOffer
  )
}

/** Errors as pages, in the language of the address, or else of the browser. */
export function problemForms(
  settings: Settings,
): (target: string, headers: IncomingHttpHeaders) => ProblemForm {
  const forms = new Map([...settings].map(([language, setting]) => [language, formIn(setting)]))
  return (target, headers) => {
    const [, first] = target.split('/', 2)
    const language = languages.find((one) => one === first) ?? languageFor(headers['accept-language'])
    const form = forms.get(language)
    if (form === undefined) throw new Error('errors are told in each language')
    return form
  }
}

function formIn(setting: Setting): ProblemForm {
  return {
    mediaType: 'text/html; charset=utf-8',
    headers: pageHeaders(pagePolicy, setting.words.locale),
    text: ({ code, message, extras: { headers, instead = null } }, instance) => {
      const wait = headers?.['Retry-After']
      const retrySeconds = wait === undefined ? null : Number(wait)
      return textOf(problemPage(setting, { code, detail: message, instance, retrySeconds, instead }))
    },
  }
}
