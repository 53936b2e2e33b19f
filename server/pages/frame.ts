import type { CatalogTexts } from '../../core/catalog/catalog.ts'
import { languages, type Language } from '../../core/catalog/names.ts'
import type { PageAddresses } from '../documents/page-addresses.ts'
import type { Asset, Assets } from './assets.ts'
import { html, markup, partyPart, type Html } from './html.ts'
import { wordsOf } from '../documents/words/all.ts'
import type { Words } from '../documents/words/en.ts'

export interface PageContext {
  /** Hash of catalog, language and public address, for cache keys. */
  readonly name: string
  readonly catalog: CatalogTexts
  readonly translations: readonly CatalogTexts[]
  readonly addresses: PageAddresses
  readonly assets: Assets
  readonly language: Language
  readonly words: Words
}

export interface Framed {
  readonly title: string
  readonly description?: string
  readonly main: Html
  /** Null if one address serves all languages. */
  readonly inLanguage: ((language: Language) => string) | null
  readonly hasSearchForm?: boolean
  /** Breadcrumbs after the home page; absent without any. */
  readonly trail?: readonly Step[]
  /** Script besides the one that every page loads. */
  readonly script?: Asset
  readonly data?: Readonly<Record<string, unknown>>
  /** Absolute address of the Atom feed of changes. */
  readonly feed?: string
  readonly links?: Html
}

export interface Step {
  readonly name: string
  readonly address: string
}

export function framed(context: PageContext, page: Framed): Html {
  const { catalog, addresses, assets, words } = context
  const { title, description, main, inLanguage, trail, script, data, feed, links } = page
  const isHome = title === catalog.title
  return html`<html lang="${words.locale}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>${isHome ? title : `${title} · ${catalog.title}`}</title>
      ${description !== undefined && description !== '' && html`<meta name="description" content="${description}" />`}
      <link rel="stylesheet" href="${addresses.asset(assets.style)}" />
      <link rel="icon" type="${assets.icon.mediaType}" href="${addresses.asset(assets.icon)}" />
      <script src="${addresses.asset(assets.script)}"></script>
      ${script !== undefined && html`<script src="${addresses.asset(script)}" defer></script>`}
      <link
        rel="search"
        type="application/opensearchdescription+xml"
        href="${addresses.search}"
        title="${catalog.title}"
      />
      ${links}
      ${feed !== undefined && html`<link rel="alternate" type="application/atom+xml" href="${feed}" />`}
      ${
        // Escape every `<`: a `</script>` in the data would end the element early.
        data !== undefined &&
        html`<script type="application/ld+json">
          ${markup(JSON.stringify(data).replaceAll('<', String.raw`\u003c`))}
        </script>`
      }
      ${
        inLanguage !== null &&
        languages.map(
          (language) => html`<link rel="alternate" hreflang="${language}" href="${inLanguage(language)}" />`,
        )
      }
    </head>
    <body>
      <a class="skip" href="#content">${words.skip}</a>
      ${headerPart(context, inLanguage, page.hasSearchForm === true)}
      ${trail !== undefined && trailPart(context, trail)}
      <main id="content" tabindex="-1">${main}</main>
      ${footerPart(context)}
    </body>
  </html>`
}

function headerPart(
  { catalog, addresses, assets, language, words }: PageContext,
  inLanguage: Framed['inLanguage'],
  hasSearchForm: boolean,
): Html {
  return html`<header class="top">
    <a class="${assets.logo === null ? 'brand plain' : 'brand'}" href="${addresses.home(language)}"
      >${assets.logo !== null && html`<img src="${addresses.asset(assets.logo)}" alt="" />`}${catalog.title}</a
    >
    ${
      !hasSearchForm &&
      html`<form class="seek" action="${addresses.home(language)}" method="get" role="search">
          <input name="q" type="search" aria-label="${words.find}" placeholder="${words.findHint}" />
        </form>
        <a class="seek-link" href="${addresses.home(language)}#q" aria-label="${words.find}">⌕</a>`
    }
    <nav class="languages" aria-label="${words.languages}">
      ${
        inLanguage !== null &&
        languages.map((code) =>
          code === language
            ? html`<span aria-current="true" title="${wordsOf[code].language}">${code.toUpperCase()}</span>`
            : html`<a
                href="${inLanguage(code)}"
                hreflang="${code}"
                lang="${code}"
                title="${wordsOf[code].language}"
                >${code.toUpperCase()}</a
              >`,
        )
      }
      <button
        type="button"
        class="quiet"
        data-lights
        aria-label="${words.lights}"
        title="${words.lights}"
        hidden
      >
        ◐
      </button>
    </nav>
  </header>`
}

function trailPart({ addresses, language, words }: PageContext, trail: readonly Step[]): Html {
  const home = { name: words.home, address: addresses.home(language) }
  return html`<nav class="trail" aria-label="${words.trail}">
    <ol>
      ${[home, ...trail].map(({ name, address }) => html`<li><a href="${address}">${name}</a></li>`)}
    </ol>
  </nav>`
}

function footerPart({ catalog, addresses, language, words }: PageContext): Html {
  const { publisher, contact, notice } = catalog
  const mail = contact?.email == null ? null : `mailto:${contact.email}`
  return html`<footer class="bottom">
    <nav aria-label="${words.service}">
      <a href="${addresses.home(language)}">${words.home}</a>
      <a href="${addresses.aboutPage(language)}">${words.aboutPage}</a>
      <a href="${addresses.limits(language)}">${words.limits}</a>
      ${publisher !== null && html`<span>${partyPart(publisher)}</span>`}
      ${contact !== null && html`<a href="${mail ?? contact.url}">${contact.name}</a>`}
    </nav>
    <p>${notice}</p>
  </footer>`
}
