import { framed, type Setting } from './frame.ts'
import { html, type Html } from './html.ts'

export interface ProblemView {
  readonly status: number
  readonly title: string
  /** A sentence for the reader, of what is wrong and what would be right. */
  readonly detail: string
  readonly instance: string
}

/** An error for people: what went wrong, and a way on. */
export function problemPage(setting: Setting, { status, title, detail, instance }: ProblemView): Html {
  const { addresses, language, words } = setting
  const main = html`
    <h1>${words.wrong}</h1>
    <p class="lead">${title} (${status})</p>
    <p>${detail}</p>
    <p><a href="${addresses.home(language)}">${words.backHome}</a></p>
    <p class="facts"><code>${instance}</code></p>
  `
  return framed(setting, { title, main, inLanguage: (other) => addresses.home(other) })
}
