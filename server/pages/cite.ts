import { pageAt, textFile, type PageService } from './service.ts'
import type { Resource } from '../http/resource.ts'
import { findDataset } from '../routes/find.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Dataset } from '../../core/catalog/catalog.ts'
import { writtenIn } from '../documents/words/number-formats.ts'
import type { PageContext } from './frame.ts'
import { codePart, html, type Html } from './html.ts'
import { wordsOf } from '../documents/words/all.ts'
import type { Words } from '../documents/words/en.ts'

/** A dataset, or rows of it, to be cited. */
export interface Cited {
  readonly dataset: Dataset
  /** Name of the dataset, or of the table and its filters. */
  readonly title: string
  /** Absolute address of the page. */
  readonly address: string
  /** Date of access, `YYYY-MM-DD`. */
  readonly today: string
}

/** Citation of a dataset, as BibTeX. */
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

/** Returns the current day in UTC, `YYYY-MM-DD`. */
export function dayOfAccess(): string {
  return new Date().toISOString().slice(0, 10)
}

/** Menu that says what a feed of changes is, with its address. */
export function subscribePart({ words }: PageContext, feed: string): Html {
  return html`<details class="menu end">
    <summary>${words.subscribe}</summary>
    <div>
      <p>${words.feedHow}</p>
      ${codePart(feed, words)}
    </div>
  </details>`
}

/** Shows a citation in words and by the styles of APA, ABNT and BibTeX, each to copy. */
export function citationsPart({ words }: PageContext, cited: Cited): Html {
  const styles = [
    ['APA', apa(cited)],
    ['ABNT', abnt(cited)],
    ['BibTeX', bibtex(cited)],
  ] as const
  return html`${codePart(inWords(cited, words), words)}
  ${styles.map(
    ([name, text]) =>
      html`<details>
        <summary>${name}</summary>
        ${codePart(text, words)}
      </details>`,
  )}`
}

interface Reference {
  /** Author or publisher; null if unknown. */
  readonly creator: string | null
  readonly year: string
  readonly license: string | null
}

function referenceOf({ dataset: { author, publisher, license, collectedAt } }: Cited): Reference {
  return {
    creator: (author ?? publisher)?.name ?? null,
    year: collectedAt.slice(0, 4),
    license: license?.name ?? null,
  }
}

function inWords(cited: Cited, words: Words): string {
  const { creator, year, license } = referenceOf(cited)
  const text = words.citation(creator, cited.title, year, cited.address, writtenIn(words).day(cited.today))
  return license === null ? text : `${text} ${license}.`
}

/** Formats a citation by the style of APA, seventh edition, for a data set that may change. */
function apa(cited: Cited): string {
  const { creator, year } = referenceOf(cited)
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(cited.today),
  )
  const work =
    creator === null
      ? `${cited.title} [Data set]. (${year}).`
      : `${creator}. (${year}). ${cited.title} [Data set].`
  return `${work} Retrieved ${day}, from ${cited.address}`
}

/** Formats a citation by NBR 6023 of ABNT, whose authors are in capitals. */
function abnt(cited: Cited): string {
  const { creator, year } = referenceOf(cited)
  const author = creator === null ? '' : `${creator.toUpperCase()}. `
  const day = writtenIn(wordsOf.pt).shortDay(cited.today)
  return `${author}${cited.title}. ${year}. Base de dados. Disponível em: ${cited.address}. Acesso em: ${day}.`
}

/** Formats a citation as BibTeX: `@misc`, with fields that all styles support. */
export function bibtex(cited: Cited): string {
  const { dataset, title, address, today } = cited
  const { author, license, source } = dataset
  const note = [license, source].flatMap((party) => party?.name ?? []).join('; ')
  const entries: readonly (readonly [name: string, text: string])[] = [
    ['title', `{${escaped(title)}}`],
    ...(author === null ? [] : [['author', `{${escaped(author.name)}}`] as const]),
    ['year', referenceOf(cited).year],
    ['howpublished', `\\url{${address}}`],
    ...(note === '' ? [] : [['note', escaped(note)] as const]),
    ['urldate', today],
  ]
  const lines = entries.map(([name, text]) => `  ${name} = {${text}},`)
  return `@misc{${dataset.slug},\n${lines.join('\n')}\n}\n`
}

/** Escapes special characters of TeX. */
function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\{}~^]/g, (found) => texts[found] ?? found)
    .replaceAll(/[&%$#_]/g, String.raw`\$&`)
}

const texts: Readonly<Record<string, string>> = {
  '\\': String.raw`\textbackslash `,
  '{': String.raw`\textbraceleft `,
  '}': String.raw`\textbraceright `,
  '~': String.raw`\textasciitilde `,
  '^': String.raw`\textasciicircum `,
}
