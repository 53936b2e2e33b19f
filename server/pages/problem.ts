import { problemRows, type ProblemCode, type WholeTable } from '../http/problems.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'
import { writtenIn } from './numbers.ts'

export interface ProblemView {
  readonly code: ProblemCode
  /** A sentence for the reader, of what is wrong and what would be right. */
  readonly detail: string
  readonly instance: string
  /** When it is worth while to ask again; null where that is not known. */
  readonly retrySeconds: number | null
  /** What gives all that was asked for, and more. */
  readonly instead: WholeTable | null
}

/** An error for people: what went wrong, and a way on. */
export function problemPage(setting: Setting, view: ProblemView): Html {
  const { addresses, language, words } = setting
  const { code, detail, instance, retrySeconds, instead } = view
  const main = html`
    <h1>${words.problems[code]}</h1>
    ${words.advice[code] !== undefined && html`<p class="lead">${words.advice[code]}</p>`}
    ${retrySeconds !== null && html`<p>${words.tryAgainIn(writtenIn(words).count(retrySeconds))}</p>`}
    ${instead !== null && insteadPart(setting, instead)}
    <p lang="en">${detail}</p>
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
    <p class="facts">${problemRows[code].status} · <code>${code}</code> · <code>${instance}</code></p>
  `
  return framed(setting, { title: words.problems[code], main, inLanguage: (other) => addresses.home(other) })
}

function insteadPart({ words }: Setting, { file, duckdb }: WholeTable): Html {
  return html`<p>
      <a href="${file.address}">${words.wholeTable}: CSV (gzip)</a>
      <span class="facts">${writtenIn(words).bytes(file.bytes)}</span>
    </p>
    <pre><code>${duckdb}</code></pre>`
}
