import type { Language } from '../../core/catalog/names.ts'
import { problemRows, type ProblemCode, type WholeTable } from '../http/problems.ts'
import type { ParameterError } from '../query/errors.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

interface ProblemView {
  readonly code: ProblemCode
  /** A sentence for the reader, of what is wrong and what would be right. */
  readonly detail: string
  readonly instance: string
  /** When it is worth while to ask again; null where that is not known. */
  readonly retrySeconds: number | null
  /** The whole table, for a reader who asked for too much of it. */
  readonly instead: WholeTable | null
  /** Parameters that are not right. */
  readonly errors: readonly ParameterError[]
  /** The parameters of the request. */
  readonly asked: readonly (readonly [name: string, text: string])[]
  /** Address of the current version, if the requested one has expired. */
  readonly latest: string | null
  /** The address belongs to the API, whose details are English sentences. */
  readonly isOfApi: boolean
}

/** At most this many parameters can be corrected; a query has fewer conditions. */
const correctedMax = 100

/** An error for people: what went wrong, and a way on. */
export function problemPage(setting: Setting, view: ProblemView): Html {
  const { addresses, language, words } = setting
  const { code, detail, instance, retrySeconds, instead, errors, latest } = view
  const main = html`
    <h1>${words.problems[code]}</h1>
    ${words.advice[code] !== undefined && html`<p class="lead">${words.advice[code]}</p>`}
    ${retrySeconds !== null && html`<p>${words.tryAgainIn(writtenIn(words).count(retrySeconds))}</p>`}
    ${instead !== null && insteadPart(setting, instead)}
    ${
      errors.length > 0
        ? correctionForm(setting, view)
        : isShown(view, language) && html`<p lang="en">${detail}</p>`
    }
    ${latest !== null && html`<p><a href="${latest}">${words.latestVersion}</a></p>`}
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
    <p class="facts">${problemRows[code].status} · <code>${code}</code> · <code>${instance}</code></p>
  `
  return framed(setting, { title: words.problems[code], main, inLanguage: (other) => addresses.home(other) })
}

/** Returns whether a page shows the detail: it is an English sentence, and that of a table without rows is for operators. */
function isShown({ code, isOfApi }: ProblemView, language: Language): boolean {
  return isOfApi || (language === 'en' && code !== 'not-published')
}

/** The parameters as they were asked for, and beside each that is not right what would be. */
function correctionForm({ language, words }: Setting, { errors, asked, isOfApi }: ProblemView): Html {
  const messageOf = ({ parameter, message, type }: ParameterError): string => {
    if (isOfApi) return message
    if (type !== undefined) return words.mustBe(parameter, words.values[type])
    return language === 'en' ? message : words.notUnderstood(parameter)
  }
  const known = new Set(asked.map(([name]) => name))
  return html`<form class="filters" method="get">
    ${errors
      .filter(({ parameter }) => !known.has(parameter))
      .map((error) => html`<p role="alert">${messageOf(error)}</p>`)}
    ${asked.slice(0, correctedMax).map(([name, text], index) => {
      const error = errors.find(({ parameter }) => parameter === name)
      return html`<p class="control">
        <label for="asked-${index}">${name}</label>
        <input
          id="asked-${index}"
          name="${name}"
          value="${text}"
          ${error !== undefined && html`aria-invalid="true" aria-describedby="error-${index}"`}
        />
        ${error !== undefined && html`<span id="error-${index}" role="alert">${messageOf(error)}</span>`}
      </p>`
    })}
    <button>${words.apply}</button>
  </form>`
}

function insteadPart({ words }: Setting, { file, duckdb }: WholeTable): Html {
  return html`<p>
      <a href="${file.address}">${words.wholeTable}: CSV (gzip)</a>
      <span class="facts">${writtenIn(words).bytes(file.bytes)}</span>
    </p>
    <pre><code>${duckdb}</code></pre>`
}
