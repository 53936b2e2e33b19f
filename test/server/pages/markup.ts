/** Reads a page like a crawler without JavaScript. */

const entities: Readonly<Record<string, string>> = {
  '&quot;': '"',
  '&#39;': "'",
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
}

export function unescaped(text: string): string {
  return text.replaceAll(/&(?:quot|#39|lt|gt|amp);/g, (entity) => entities[entity] ?? entity)
}

/** The text of some markup, with its white space as it is. */
export function textIn(markup: string): string {
  return unescaped(markup.replaceAll(/<[^>]*>/g, ''))
}

/** Returns a cell as the API writes it: a day by its date, and a number without separators of thousands. */
export function cellIn(markup: string, attributes: string): string {
  const day = /<time datetime="([^"]*)"/.exec(markup)?.[1]
  const text = day ?? textIn(markup)
  return attributes.includes('class="n"') ? text.replaceAll(',', '') : text
}

/** Returns the number of rows that a page of a table states, as it is written; undefined if no row matches. */
export function rowCountOn(page: string): string | undefined {
  const [, text = ''] = /<p class="count" role="status">(.*?)<\/p>/s.exec(page) ?? []
  return /(\d[\d.,]*)(?: rows?| linhas?)?\s*$/.exec(text)?.[1]
}

export function linksIn(page: string): string[] {
  return [...page.matchAll(/<(?:a|link)\b[^>]*?\shref="([^"]*)"/g)].map(([, link = '']) => unescaped(link))
}

export interface Control {
  readonly name: string
  /** `choice`, or the type of an input. */
  readonly kind: string
  readonly value: string
  readonly isChecked: boolean
  /** Options of a choice. */
  readonly choices: readonly string[]
  readonly chosen: string
}

export interface Form {
  readonly action: string
  readonly controls: readonly Control[]
}

/** The forms that lead somewhere, except for the search of the service in the header. */
export function formsIn(page: string): Form[] {
  return [...page.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)]
    .filter(([, head = '']) => /\saction=/.test(head) && !head.includes('class="seek"'))
    .map(([, head = '', body = '']) => ({
      action: attribute(head, 'action') ?? '',
      controls: [...body.matchAll(/<(input|select)\b([^>]*)>/g)].flatMap((match) => {
        const [, element = '', attributes = ''] = match
        const name = attribute(attributes, 'name')
        if (name === null) return []
        const type = attribute(attributes, 'type')
        const rest = body.slice(match.index)
        const list = element === 'select' ? rest.slice(0, rest.indexOf('</select>')) : ''
        return {
          name,
          kind: element === 'select' ? 'choice' : (type ?? 'text'),
          value: attribute(attributes, 'value') ?? '',
          isChecked: /\schecked\b/.test(attributes),
          chosen: chosenOf(list),
          choices: [...list.matchAll(/<option\b([^>]*)>([^<]*)</g)].map(([, option = '', text = '']) =>
            unescaped(attribute(option, 'value') ?? text),
          ),
        } satisfies Control
      }),
    }))
}

/** Returns the selected option of a list, or else the first. */
function chosenOf(list: string): string {
  const options = [...list.matchAll(/<option\b([^>]*)>([^<]*)</g)]
  const [, attributes = '', text = ''] =
    options.find(([, head = '']) => /\sselected\b/.test(head)) ?? options[0] ?? []
  return unescaped(attribute(attributes, 'value') ?? text)
}

function attribute(text: string, name: string): string | null {
  const match = new RegExp(`\\s${name}="([^"]*)"`).exec(text)
  return match === null ? null : unescaped(match[1] ?? '')
}
