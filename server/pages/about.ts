import { listedDatasets, type Limit } from '../../core/catalog/catalog.ts'
import { limitClasses } from '../../core/catalog/names.ts'
import { csvExcelFormat } from '../formats/csv-excel.ts'
import { rowFormats } from '../formats/registry.ts'
import { addressesOf } from '../http/addresses.ts'
import { pageSizeMax, parseQuery } from '../query/parameters.ts'
import { framed, type PageContext } from './frame.ts'
import { html, markup, type Html } from './html.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import type { Resource } from '../http/resource.ts'
import { webPage, webPageOf, pageAt, type PageService } from './service.ts'

async function renderMarkdown(text: string | null): Promise<Html | null> {
  if (text === null) return null
  // Imported on demand, since only this page needs it.
  const { default: MarkdownIt } = await import('markdown-it')
  return markup(new MarkdownIt({ html: false }).render(text))
}

function aboutHtml(context: PageContext, publicUrl: URL, aboutText: Html | null): Html {
  const { catalog, addresses, language, words } = context
  const lists = catalog.families.map((family) => addressesOf(family, publicUrl).list)
  const main = html`
    <h1>${words.aboutTitle(catalog.title)}</h1>
    <p class="lead">${catalog.description}</p>
    ${aboutText}
    ${words.aboutParagraphs.map(
      ({ title, text }) =>
        html`<h2>${title}</h2>
          <p>${text}</p>`,
    )}
    <h2>API</h2>
    <p>${words.aboutApi(writtenIn(words).list(formatTitles, 'disjunction'))}</p>
    <ul>
      ${lists.map((list) => html`<li><a href="${list}">${list}</a></li>`)}
      <li><a href="${addresses.reference(language)}">${words.reference}</a></li>
    </ul>
  `
  return framed(context, {
    title: words.aboutPage,
    main,
    inLanguage: (target) => addresses.aboutPage(target),
    trail: [],
  })
}

function limitsHtml(context: PageContext, areEnforced: boolean): Html {
  const { catalog, addresses, language, words } = context
  const { count, list } = writtenIn(words)
  const { share } = catalog.limits
  const isShared = areEnforced && share.percent < 100
  const limitsText = (limits: readonly Limit[]): string =>
    limits.length === 0 || !areEnforced
      ? words.noLimit
      : list(limits.map(({ requests, per }) => words.limit(count(requests), writtenIn(words).span(per))))
  const main = html`
    <h1>${words.limits}</h1>
    <p class="lead">${catalog.notice}</p>
    <dl class="facts-list">
      ${limitClasses.map(
        (limitClass) =>
          html`<dt>${words.limitsOf[limitClass]}</dt>
            <dd>${limitsText(catalog.limits[limitClass])}</dd>`,
      )}
      <dt>${words.limitsOf.share}</dt>
      <dd>${isShared ? words.limitShare(share.percent, writtenIn(words).span(share.per)) : words.noLimit}</dd>
      <dt>${words.limitPage}</dt>
      <dd>${words.rows(count(pageSizeMax))}</dd>
    </dl>
    <h2>${words.limitsPast}</h2>
    <p>${words.limitsPastHow}</p>
    <h2>${words.limitsMore}</h2>
    <p>${words.limitsMoreHow}</p>
    <ul>
      ${listedDatasets(catalog).map(
        (dataset) =>
          html`<li><a href="${addresses.files(language, dataset)}">${words.files}: ${dataset.name}</a></li>`,
      )}
    </ul>
  `
  return framed(context, {
    title: words.limits,
    main,
    inLanguage: (target) => addresses.limits(target),
    trail: [],
  })
}

const formatTitles = rowFormats
  .filter((format) => format !== csvExcelFormat)
  .map(({ name }) => ({ xlsx: 'Excel', arrow: 'Arrow' })[name] ?? name.toUpperCase())

export function aboutPage(service: PageService): Resource {
  return {
    ...pageAt(service, '/about', 'About'),
    find: ({ target }) => {
      parseQuery(target, [])
      return webPageOf(
        service,
        ['about'],
        () => renderMarkdown(service.context.catalog.about),
        (text) => aboutHtml(service.context, service.publicUrl, text),
      )
    },
  }
}

export function limitsPage(service: PageService): Resource {
  return {
    ...pageAt(service, '/limits', 'Limits'),
    find: ({ target }) => {
      parseQuery(target, [])
      return webPage(service, ['limits'], () => limitsHtml(service.context, service.limiter !== null))
    },
  }
}
