import type { RowFormat } from '../../formats/format.ts'
import { json } from '../../formats/json.ts'

/** Where the pages of a query are. */
export interface PageLinks {
  readonly to: (page: number) => string
  /** The same page in other formats. */
  readonly alternates: (page: number) => readonly { readonly address: string; readonly mediaType: string }[]
  /** All rows as one file. */
  readonly wholeFile: string
}

interface PageOfCount {
  readonly count: number
  readonly page: number
  readonly lastPage: number
}

/** Whether the rows stand in the envelope of the specification (spec: Page envelope). */
export function isEnveloped(format: RowFormat): boolean {
  return format === json
}

/** The envelope up to the first row. */
export function envelopeHead({ count, page, lastPage }: PageOfCount, { to }: PageLinks): string {
  const link = (other: number): string => JSON.stringify(to(other))
  const next = page < lastPage ? link(page + 1) : 'null'
  const previous = page > 1 ? link(page - 1) : 'null'
  return `{"count":${count},"next":${next},"previous":${previous},"results":[`
}

export const envelopeTail = ']}'

/** Proxies take headers of 4 kB in all by default, of which the other headers have half. */
const linkLengthMax = 1200

/** What the envelope says, for all formats. */
export function pageHeaders(range: PageOfCount, links: PageLinks): Record<string, string> {
  return { 'Acervo-Count': String(range.count), Link: linkHeader(range, links) }
}

/** RFC 8288; the less needed links are left out where a query is so long that they would not fit. */
function linkHeader({ page, lastPage }: PageOfCount, { to, alternates, wholeFile }: PageLinks): string {
  const all = [
    `<${wholeFile}>; rel="alternate"; type="application/gzip"`,
    ...(page < lastPage ? [`<${to(page + 1)}>; rel="next"`] : []),
    ...(page > 1 ? [`<${to(page - 1)}>; rel="prev"`] : []),
    `<${to(1)}>; rel="first"`,
    `<${to(lastPage)}>; rel="last"`,
    ...alternates(page).map(({ address, mediaType }) => `<${address}>; rel="alternate"; type="${mediaType}"`),
  ]
  let length = 0
  // The next page is told whatever its length.
  const fits = (link: string, index: number): boolean => {
    length += link.length + 2
    return index <= 1 || length <= linkLengthMax
  }
  return all.filter(fits).join(', ')
}
