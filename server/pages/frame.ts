import type { CatalogTexts } from '../../core/catalog/catalog.ts'
import type { PageAddresses } from './addresses.ts'
import { html, type Html } from './html.ts'
import { wordsOf } from './words/all.ts'
import { languages, type Language } from '../../core/catalog/languages.ts'
import type { Words } from './words/words.ts'

/** What a page is written with. */
export interface Setting {
  readonly catalog: CatalogTexts
  readonly addresses: PageAddresses
  readonly language: Language
  readonly words: Words
}

export interface Framed {
  readonly title: string
  readonly main: Html
  /** The same page in another language. */
  readonly inLanguage: (language: Language) => string
  /** The way to it, from the first step on. */
  readonly trail?: readonly { readonly name: string; readonly address: string }[]
}

/** A whole document around what a page has to say. */
export function framed(setting: Setting, { title, main, inLanguage, trail = [] }: Framed): Html {
  const { catalog, addresses, language, words } = setting
  const isHome = title === catalog.title
  return html`<html lang="${words.locale}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${isHome ? title : `${title} · ${catalog.title}`}</title>
      <link rel="stylesheet" href="${addresses.style}" />
      ${languages.map((other) => html`<link rel="alternate" hreflang="${other}" href="${inLanguage(other)}" />`)}
    </head>
    <body>
      <a class="skip" href="#content">${words.skip}</a>
      <header class="top">
        <a class="brand" href="${addresses.home(language)}">${catalog.title}</a>
        <nav class="languages" aria-label="${words.language}">
          ${languages.map((other) =>
            other === language
              ? html`<span aria-current="true">${wordsOf[other].language}</span>`
              : html`<a href="${inLanguage(other)}" hreflang="${other}" lang="${other}"
                  >${wordsOf[other].language}</a
                >`,
          )}
        </nav>
      </header>
      ${
        trail.length > 0 &&
        html`<nav class="trail" aria-label="${words.home}">
          <ol>
            ${trail.map(({ name, address }) => html`<li><a href="${address}">${name}</a></li>`)}
          </ol>
        </nav>`
      }
      <main id="content">${main}</main>
      <footer class="bottom">
        <p>${catalog.notice}</p>
      </footer>
    </body>
  </html>`
}
