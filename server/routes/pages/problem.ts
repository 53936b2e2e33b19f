import type { IncomingHttpHeaders } from 'node:http'
import { pageHeaders } from '../../http/headers.ts'
import type { ProblemForm } from '../../http/problems.ts'
import { textOf } from '../../pages/html.ts'
import type { Setting } from '../../pages/frame.ts'
import { problemPage } from '../../pages/problem.ts'
import { languageFor } from '../../pages/words/all.ts'
import { languages } from '../../../core/catalog/names.ts'
import { parametersOf } from '../../query/parameters.ts'
import { pagePolicy, settingFor, type Settings } from './documents.ts'

/** Errors as pages, in the language of the address, or else of the browser. */
export function problemForms(
  settings: Settings,
): (target: string, headers: IncomingHttpHeaders) => ProblemForm {
  return (target, headers) => {
    const [, first] = target.split('/', 2)
    const language = languages.find((one) => one === first) ?? languageFor(headers['accept-language'])
    return formIn(settingFor(settings, language), target)
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
