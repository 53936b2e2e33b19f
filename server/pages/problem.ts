import { problemRows, type ProblemCode } from '../http/problems.ts'
import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'

export interface ProblemView {
  readonly code: ProblemCode
  /** A sentence for the reader, of what is wrong and what would be right. */
  readonly detail: string
  readonly instance: string
}

/** An error for people: what went wrong, and a way on. */
export function problemPage(setting: Setting, { code, detail, instance }: ProblemView): Html {
  const { addresses, language, words } = setting
  const main = html`
    <h1>${words.problems[code]}</h1>
    ${words.advice[code] !== undefined && html`<p class="lead">${words.advice[code]}</p>`}
    <p lang="en">${detail}</p>
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
    <p class="facts">${problemRows[code].status} · <code>${code}</code> · <code>${instance}</code></p>
  `
  return framed(setting, { title: words.problems[code], main, inLanguage: (other) => addresses.home(other) })
}
