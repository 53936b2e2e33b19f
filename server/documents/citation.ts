import type { Dataset } from '../../core/catalog/catalog.ts'
import type { Manifest } from '../../core/warehouse/manifest.ts'
import { wordsOf } from './words/all.ts'
import type { Words } from './words/en.ts'
import { writtenIn } from './words/number-formats.ts'

export interface Cited {
  readonly dataset: Dataset
  readonly title: string
  readonly address: string
  /** Date of access, `YYYY-MM-DD`. */
  readonly today: string
}

/** Text like `version of Jan 2, 2026`. */
export function citedVersion({ import_date: imported }: Pick<Manifest, 'import_date'>, words: Words): string {
  return words.citedVersion(writtenIn(words).shortDay(imported.slice(0, 'YYYY-MM-DD'.length)))
}

interface Reference {
  readonly creator: string | null
  readonly year: string
  readonly license: string | null
}

function referenceOf({ author, publisher, license, collectedAt }: Dataset): Reference {
  return {
    creator: (author ?? publisher)?.name ?? null,
    year: collectedAt.slice(0, 4),
    license: license?.name ?? null,
  }
}

/** @param cited has no date of access in files that stay the same every day */
export function citationText(
  { dataset, title, address, today }: Omit<Cited, 'today'> & { readonly today: string | null },
  words: Words,
): string {
  const { creator, year, license } = referenceOf(dataset)
  const day = today === null ? null : writtenIn(words).day(today)
  const text = words.citation(creator, title, year, address, day)
  return license === null ? text : `${text} ${license}.`
}

const apaDays = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' })

/** APA, seventh edition, for data that may change. */
export function apa(cited: Cited): string {
  const { creator, year, license } = referenceOf(cited.dataset)
  const day = apaDays.format(new Date(cited.today))
  const work =
    creator === null
      ? `${cited.title} [Data set]. (${year}).`
      : `${creator}. (${year}). ${cited.title} [Data set].`
  const terms = license === null ? '' : ` License: ${license}.`
  return `${work}${terms} Retrieved ${day}, from ${cited.address}`
}

/** NBR 6023 of ABNT, with authors in capitals. */
export function abnt(cited: Cited): string {
  const { creator, year, license } = referenceOf(cited.dataset)
  const terms = license === null ? '' : `Licença: ${license}. `
  const author = creator === null ? '' : `${creator.toUpperCase()}. `
  const day = writtenIn(wordsOf.pt).shortDay(cited.today)
  return `${author}${cited.title}. ${year}. Base de dados. ${terms}Disponível em: ${cited.address}. Acesso em: ${day}.`
}

/** `@misc`, with fields that all styles support. */
export function bibtex(cited: Cited): string {
  const { dataset, title, address, today } = cited
  const { author, license, source } = dataset
  const note = [license, source].flatMap((party) => party?.name ?? []).join('; ')
  const entries: readonly (readonly [name: string, text: string])[] = [
    ['title', `{${escaped(title)}}`],
    ...(author === null ? [] : [['author', `{${escaped(author.name)}}`] as const]),
    ['year', referenceOf(cited.dataset).year],
    ['howpublished', `\\url{${address}}`],
    ...(note === '' ? [] : [['note', escaped(note)] as const]),
    ['urldate', today],
  ]
  const lines = entries.map(([name, text]) => `  ${name} = {${text}},`)
  return `@misc{${dataset.slug},\n${lines.join('\n')}\n}\n`
}

function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\{}~^]/g, (character) => texts[character] ?? character)
    .replaceAll(/[&%$#_]/g, String.raw`\$&`)
}

const texts: Readonly<Record<string, string>> = {
  '\\': String.raw`\textbackslash `,
  '{': String.raw`\textbraceleft `,
  '}': String.raw`\textbraceright `,
  '~': String.raw`\textasciitilde `,
  '^': String.raw`\textasciicircum `,
}
