import { pageAt, textFile, type PageService } from './service.ts'
import type { Resource } from '../http/resource.ts'
import { findDataset } from '../routes/find.ts'
import { parseQuery } from '../query/parameters.ts'
import type { Dataset } from '../../core/catalog/catalog.ts'
import { writtenIn } from './number-formats.ts'
import type { Words } from './words/en.ts'

export interface CitedDataset {
  readonly dataset: Dataset
  /** Absolute address of the dataset's page. */
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
): CitedDataset {
  return {
    dataset,
    address: `${publicUrl.origin}${addresses.dataset(language, dataset)}`,
    today: new Date().toISOString().slice(0, 10),
  }
}

/** Formats a citation in words. */
export function citation({ dataset, address, today }: CitedDataset, words: Words): string {
  const { author, publisher, name, collectedAt } = dataset
  const creator = (author ?? publisher)?.name ?? null
  return words.citation(creator, name, collectedAt.slice(0, 4), address, writtenIn(words).day(today))
}

/** Formats a citation as BibTeX: `@misc`, with fields that all styles support. */
export function bibtex({ dataset, address, today }: CitedDataset): string {
  const { author, license, source } = dataset
  const note = [license, source].flatMap((party) => party?.name ?? []).join('; ')
  const entries: readonly (readonly [name: string, text: string])[] = [
    ['title', `{${escaped(dataset.name)}}`],
    ...(author === null ? [] : [['author', `{${escaped(author.name)}}`] as const]),
    ['year', dataset.collectedAt.slice(0, 4)],
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
