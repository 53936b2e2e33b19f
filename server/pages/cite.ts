import { pageAt, textFile, type PageService } from './service.ts'
import type { Resource } from '../http/resource.ts'
import { findDataset } from '../routes/find.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Dataset } from '../../core/catalog/catalog.ts'
import { abnt, apa, bibtex, citationText, type Cited } from '../documents/citation.ts'
import type { PageContext } from './frame.ts'
import { codePart, html, type Html } from './html.ts'

export function citationFile(service: PageService): Resource {
  return {
    ...pageAt(service, '/dataset/:dataset/cite.bib', 'Citation'),
    find: ({ params, target }) => {
      const cited = citedDataset(service, findDataset(service.catalog, params))
      parseQuery(target, [])
      const key = ['citation', cited.dataset.slug, cited.today]
      return textFile(service, key, 'application/x-bibtex; charset=utf-8', () => bibtex(cited))
    },
  }
}

export function citedDataset(
  { publicUrl, context: { addresses, language } }: PageService,
  dataset: Dataset,
): Cited {
  const address = `${publicUrl.origin}${addresses.dataset(language, dataset)}`
  return { dataset, title: dataset.name, address, today: dayOfAccess() }
}

export function dayOfAccess(): string {
  return new Date().toISOString().slice(0, 10)
}

export function subscribePart({ words }: PageContext, feed: string): Html {
  return html`<details class="menu end">
    <summary>${words.subscribe}</summary>
    <div>
      <p>${words.feedHow}</p>
      ${codePart(feed, words)}
    </div>
  </details>`
}

export function citationsPart({ words }: PageContext, cited: Cited): Html {
  const styles = [
    [words.asText, citationText(cited, words)],
    ['ABNT', abnt(cited)],
    ['APA', apa(cited)],
    ['BibTeX', bibtex(cited)],
  ] as const
  return html`${styles.map(
    ([name, text], index) =>
      html`<details ${index === 0 ? 'open' : ''}>
        <summary>${name}</summary>
        ${codePart(text, words)}
      </details>`,
  )}`
}
